package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
)

//go:embed assets
var assetFiles embed.FS

// assets are what pages load beside themselves, each under a name that has its hash: a
// browser may keep it for ever, and a changed one has another name.
type assets struct {
	byName map[string]string // app.css → app-0123abcd.css
	bodies map[string][]byte // by the name with the hash
}

func loadAssets() (*assets, error) {
	a := &assets{byName: map[string]string{}, bodies: map[string][]byte{}}
	found, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		return nil, err
	}
	// Modules name others, whose names with their hashes must be known first.
	slices.SortStableFunc(found, func(x, y fs.DirEntry) int {
		return slices.Index(importers, x.Name()) - slices.Index(importers, y.Name())
	})
	for _, f := range found {
		body, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			return nil, err
		}
		for name, hashed := range a.byName {
			body = bytes.ReplaceAll(body, []byte("'./"+name+"'"), []byte("'./"+hashed+"'"))
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(f.Name())
		hashed := strings.TrimSuffix(f.Name(), ext) + "-" + hex.EncodeToString(sum[:6]) + ext
		a.byName[f.Name()], a.bodies[hashed] = hashed, body
	}
	return a, nil
}

// importers are modules that import others; what they import comes before them.
var importers = []string{"app.js"}

// url answers where an asset is.
func (a *assets) url(name string) string { return "/assets/" + a.byName[name] }

func (a *App) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	body, ok := a.assets.bodies[name]
	if !ok {
		a.fail(w, r, fault.New(fault.NotFound, "There is no such file.").WithFix("Load the page again: it names the files that it needs now."))
		return
	}
	h := w.Header()
	h.Set("Content-Type", artifact.ContentType(name))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
