package artifact

import (
	"strings"
	"testing"
)

func TestCleanName(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "report/data/a.png": true, "ä ›.txt": true, "..a": true, "a..b/c": true,
		"": false, ".": false, "..": false, "../a": false, "a/../b": false, "/a": false, "a/": false, "a//b": false, "./a": false, "a/.": false,
		`a\b`: false, `..\a`: false, "a\x00": false, "a\nb": false, strings.Repeat("a", 513): false,
	} {
		if got, err := CleanName(name); (err == nil) != ok || ok && got != name {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		name, contentType string
		want              Kind
	}{
		{"trace", "application/zip", Trace}, {"trace.zip", "", Trace}, {"screenshot", "image/png", Screenshot}, {"video", "video/webm", Video},
		{"net.har", "application/json", HAR}, {"stdout", "", Log}, {"x.log", "", Log}, {"note", "text/plain", Log}, {"x.bin", "application/octet-stream", Other}, {"", "", Other},
	} {
		if got := KindOf(c.name, c.contentType); got != c.want {
			t.Errorf("%q %q: %s", c.name, c.contentType, got)
		}
	}
}
