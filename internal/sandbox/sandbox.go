// Package sandbox is where a stranger's program runs: what it may see, what it may
// write, and how strongly that holds on this machine.
package sandbox

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Level says how strongly a program is kept apart, strongest first in Levels.
type Level string

// The levels.
const (
	Bubblewrap Level = "bubblewrap" // own namespaces: sees only what it is given
	Landlock   Level = "landlock"   // the kernel refuses paths it was not given
	OtherUser  Level = "other-user" // the project's own user, without rights; sees what everybody may read
	None       Level = "none"       // a clean environment and its own process group, nothing more
)

// Levels lists all levels, strongest first.
func Levels() []Level { return []Level{Bubblewrap, Landlock, OtherUser, None} }

// AtLeast reports whether l is as strong as least. An empty least is always reached.
func (l Level) AtLeast(least Level) bool {
	if least == "" {
		return true
	}
	for _, at := range Levels() {
		if at == l {
			return true
		}
		if at == least {
			return false
		}
	}
	return false
}

// Bind gives the program a folder or file of the machine under a path.
type Bind struct {
	Host   string
	Inside string
}

// Spec is one program to run.
type Spec struct {
	Args     []string // program and arguments, with paths as seen inside
	Env      []string // the whole environment
	Dir      string   // working directory, as seen inside
	ReadOnly []Bind
	Writable []Bind
	Files    []*os.File // open from descriptor 3 on
	Stdout   io.Writer
	Stderr   io.Writer
	Limits   Limits
	User     int // whom the program becomes where the box changes users
}

// Limits of a program and what it starts.
type Limits struct {
	FileSize  int64 // bytes of one file
	OpenFiles int
}

// Box starts programs at one level. Implementations are safe for concurrent use.
type Box interface {
	Level() Level
	// Inside answers the path under which a program is to be given a host path; preferred is
	// what a box with its own view of the disk uses.
	Inside(host, preferred string) string
	// Command prepares a program. It is started by the caller with Start; its context ends
	// the program and everything that it started. Nothing outside of the sandbox is run
	// with the program's environment.
	Command(ctx context.Context, s Spec) (*exec.Cmd, error)
}

// HostPath answers where a path seen inside lies on the machine, by the binds; ok is
// false for a path that no writable bind covers.
func HostPath(binds []Bind, inside string) (bind Bind, rel string, ok bool) {
	inside = filepath.Clean(inside)
	for _, b := range binds {
		if inside == b.Inside {
			return b, ".", true
		}
		if rest, found := strings.CutPrefix(inside, b.Inside+"/"); found && len(b.Inside) > len(bind.Inside) {
			bind, rel, ok = b, rest, true
		}
	}
	return bind, rel, ok
}

// UserOf answers the user as whom one project's programs run: without rights, and another
// than other projects', so that they cannot reach into each other. It lies between the
// users that systems create and the end of what containers map.
func UserOf(projectID string) int {
	h := fnv.New32a()
	h.Write([]byte(projectID))
	return 30_000 + int(h.Sum32()%29_999)
}

// HandOver gives a folder with all that is in it to a user. Only root can. It follows no
// link: what lies outside of the folder stays whose it is, whoever changes it meanwhile.
func HandOver(dir string, uid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	return fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = root.Lchown(path, uid, uid)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another run of the project removed it
		}
		return err
	})
}

// FirstFile is the descriptor of a Spec's first file.
const FirstFile = 3

// CleanEnv is the environment of what runs outside of the sandbox to make it. The
// program's own must not steer that: it holds what callers of the API chose.
func CleanEnv() []string { return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C"} }

// Handed answers an open file without a name that holds text, to be read by a program
// that is started with it.
func Handed(text []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "tas-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Start starts a prepared program, which then has the files it was given to itself.
func Start(cmd *exec.Cmd) error {
	err := cmd.Start()
	for _, f := range cmd.ExtraFiles {
		f.Close() //nolint:errcheck // the program has its own
	}
	return err
}

// WithLimits answers args behind a shell that sets the limits first: the portable way to
// have them in force before the first instruction of the program.
func WithLimits(l Limits, args []string) []string {
	script := "ulimit -c 0"
	if l.FileSize > 0 {
		script += "; ulimit -f " + strconv.FormatInt(l.FileSize/512, 10)
	}
	if l.OpenFiles > 0 {
		script += "; ulimit -n " + strconv.Itoa(l.OpenFiles) + " 2>/dev/null || true"
	}
	return append([]string{"/bin/sh", "-c", script + `; exec "$@"`, "sh"}, args...)
}
