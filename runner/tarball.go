package runner

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"io"
	"time"
)

// Version answers the version in the package's package.json.
func Version() (string, error) {
	text, err := files.ReadFile("package.json")
	if err != nil {
		return "", err
	}
	var p struct {
		Version string `json:"version"`
	}
	return p.Version, json.Unmarshal(text, &p)
}

// WriteTarball writes the package as npm packs it: the same bytes for the same content,
// so that a lockfile's integrity holds.
func WriteTarball(w io.Writer) error {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	err := walk(func(name string, text []byte) error {
		// npm itself dates everything so.
		h := &tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text)), ModTime: time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC), Format: tar.FormatPAX}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		_, err := out.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return zip.Close()
}
