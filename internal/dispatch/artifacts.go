package dispatch

import (
	"cmp"
	"context"
	"io"
	"mime"
	"strings"

	"github.com/google/uuid"

	"tas-service/internal/artifact"
	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// shardReports is where the reports of a run's shards lie until they are merged.
const shardReports = "shards/"

// StoreArtifact streams an artifact into the store and notes it, once for each ID that the
// worker gives it.
func (d *Dispatcher) StoreArtifact(ctx context.Context, a Attempt, up attempt.Upload, body io.Reader) (attempt.ArtifactAnswer, error) {
	if _, err := uuid.Parse(up.ID); err != nil && up.ID != "" {
		return attempt.ArtifactAnswer{}, fault.New(fault.Invalid, "%.40q is no upload.", up.ID)
	}
	art, most, err := d.describe(ctx, a, up)
	if err != nil {
		return attempt.ArtifactAnswer{}, err
	}
	m := &metered{r: body, meter: d.meter(a.ID), most: most}
	if art.Size, err = d.Blobs.Put(ctx, art.Key, art.ContentType, m); err != nil {
		m.refund()
		return attempt.ArtifactAnswer{}, err
	}
	return d.note(ctx, a, art)
}

// BeginUpload answers where a worker puts an artifact by itself. Nothing is noted until
// EndUpload says that it is there.
func (d *Dispatcher) BeginUpload(ctx context.Context, a Attempt, up attempt.Upload) (attempt.UploadTo, error) {
	if !d.Blobs.Direct() {
		return attempt.UploadTo{}, fault.New(fault.Conflict, "This service keeps artifacts itself: send it there.")
	}
	if up.Size < 0 {
		return attempt.UploadTo{}, fault.New(fault.Invalid, "An upload cannot have %d bytes.", up.Size)
	}
	up.ID = uuid.NewString()
	art, most, err := d.describe(ctx, a, up)
	if err != nil {
		return attempt.UploadTo{}, err
	}
	if m := d.meter(a.ID); m.Add(up.Size) > most {
		m.Add(-up.Size)
		return attempt.UploadTo{}, errQuota()
	}
	url, err := d.Blobs.UploadURL(ctx, art.Key, art.ContentType, up.Size)
	return attempt.UploadTo{ID: up.ID, URL: url, ContentType: art.ContentType}, err
}

// EndUpload notes an artifact that a worker has put in its place, if it is there as it
// was announced.
func (d *Dispatcher) EndUpload(ctx context.Context, a Attempt, up attempt.Upload) (attempt.ArtifactAnswer, error) {
	if _, err := uuid.Parse(up.ID); err != nil {
		return attempt.ArtifactAnswer{}, fault.New(fault.Invalid, "%.40q is no upload.", up.ID)
	}
	art, _, err := d.describe(ctx, a, up)
	if err != nil {
		return attempt.ArtifactAnswer{}, err
	}
	if art.Size, err = d.Blobs.Size(ctx, art.Key); err != nil {
		return attempt.ArtifactAnswer{}, err
	}
	if art.Size != up.Size {
		return attempt.ArtifactAnswer{}, fault.New(fault.Invalid, "The upload has %d bytes, not %d.", art.Size, up.Size)
	}
	return d.note(ctx, a, art)
}

// describe answers what an upload becomes, and how much its attempt may store in all.
func (d *Dispatcher) describe(ctx context.Context, a Attempt, up attempt.Upload) (artifact.Artifact, int64, error) {
	name, err := artifact.CleanName(up.Name)
	if err != nil {
		return artifact.Artifact{}, 0, err
	}
	p, err := d.Projects.Project(ctx, a.ProjectID)
	if err != nil {
		return artifact.Artifact{}, 0, err
	}
	art := artifact.Artifact{ID: cmp.Or(up.ID, uuid.NewString()), RunID: a.RunID, TestID: up.Test, Name: name, Retry: max(0, up.Retry), ContentType: up.ContentType, CreatedAt: d.Clock()}
	if _, _, err := mime.ParseMediaType(art.ContentType); err != nil {
		art.ContentType = artifact.ContentType(name)
	}
	switch {
	case up.Test == "" && name == attempt.ShardReport:
		art.Key = artifact.RunPrefix(a.RunID) + shardReports + a.ID + ".zip"
	case up.Test == "":
		art.Key = artifact.RunPrefix(a.RunID) + name
	default:
		art.Key = artifact.RunPrefix(a.RunID) + "tests/" + art.ID + "/" + strings.ReplaceAll(name, "/", "-")
		art.Kind = artifact.KindOf(art.Name, art.ContentType)
	}
	return art, cmp.Or(p.DiskQuota, project.DefaultDiskQuota), nil
}

func (d *Dispatcher) note(ctx context.Context, a Attempt, art artifact.Artifact) (attempt.ArtifactAnswer, error) {
	err := d.Store.AddArtifact(ctx, a.ID, art, func(a *Attempt, r *run.Run) error {
		switch {
		case art.TestID != "":
		case art.Name == run.ReportIndex:
			r.HasReport = true
		case art.Name == attempt.ShardReport:
			a.BlobKey = art.Key
		}
		return nil
	})
	return attempt.ArtifactAnswer{ID: art.ID, Size: art.Size}, err
}

// ReadArtifact opens an artifact of the attempt's own run.
func (d *Dispatcher) ReadArtifact(ctx context.Context, a Attempt, key string) (*artifact.Blob, error) {
	if !strings.HasPrefix(key, artifact.RunPrefix(a.RunID)) {
		return nil, fault.New(fault.NotFound, "There is no such artifact in this attempt's run.")
	}
	return d.Blobs.Open(ctx, key)
}
