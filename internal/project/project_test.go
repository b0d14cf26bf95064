package project_test

import (
	"testing"

	"tas-service/internal/project"
)

func TestLocal(t *testing.T) {
	t.Parallel()
	for url, local := range map[string]bool{
		"": false, "https://git.example.com/a.git": false, "http://h/a": false, "ssh://git@h:22/a": false, "git@h:a/b.git": false, "h:a": false, "git@h:/srv/a.git": false,
		"file:///srv/a": true, "FILE:///srv/a": true, "/srv/a": true, "../a": true, "a": true, "./h:a": true, "ext::sh -c id": true, "ftp://h/a": true,
	} {
		if got := (project.Repository{URL: url}).Local(); got != local {
			t.Errorf("%q: %v", url, got)
		}
	}
}
