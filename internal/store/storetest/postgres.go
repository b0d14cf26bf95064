package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is a server of its own, on a free port of this machine, that ends with the
// test binary.
type Postgres struct {
	program string
	dir     string
	attr    *syscall.SysProcAttr
	port    int
	n       atomic.Int32
	cmd     *exec.Cmd
	hold    io.Closer
}

var (
	serverOnce sync.Once
	server     *Postgres
	serverErr  error
)

// Main runs a test binary's tests and ends the server, if one was started: for TestMain.
func Main(m *testing.M) int {
	defer func() {
		if server != nil {
			server.stop()
		}
	}()
	return m.Run()
}

// Database answers the address of a new, empty database. Without PostgreSQL's programs
// the test fails under CI, and is skipped elsewhere.
func Database(t testing.TB) string {
	t.Helper()
	serverOnce.Do(func() { server, serverErr = startServer() })
	if errors.Is(serverErr, errNoPrograms) && os.Getenv("CI") == "" {
		t.Skip("PostgreSQL is not installed: scripts/setup.sh --tests brings it")
	}
	if serverErr != nil {
		t.Fatal(serverErr)
	}
	name := fmt.Sprintf("case%d", server.n.Add(1))
	conn, err := pgx.Connect(context.Background(), server.address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return server.address(name)
}

func (p *Postgres) address(database string) string {
	return fmt.Sprintf("postgres://tas:secret-of-tests@127.0.0.1:%d/%s?sslmode=disable", p.port, database)
}

var errNoPrograms = errors.New("PostgreSQL's programs initdb and postgres are not on this machine")

// programs finds PostgreSQL's programs, which Debian keeps out of the PATH.
func programs() (initdb, postgres string, err error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	more, _ := filepath.Glob("/opt/homebrew/opt/postgresql*/bin")
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	find := func(name string) string {
		for _, dir := range append(dirs, more...) {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path
			}
		}
		path, _ := exec.LookPath(name)
		return path
	}
	if initdb, postgres = find("initdb"), find("postgres"); initdb == "" || postgres == "" {
		return "", "", errNoPrograms
	}
	return initdb, postgres, nil
}

func startServer() (_ *Postgres, err error) {
	initdb, postgres, err := programs()
	if err != nil {
		return nil, err
	}
	p := &Postgres{program: postgres}
	if p.dir, err = os.MkdirTemp("", "tas-postgres-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(p.dir) //nolint:errcheck // a temporary folder
		}
	}()
	if p.attr, err = ordinaryUser(p.dir); err != nil {
		return nil, err
	}
	password := filepath.Join(p.dir, "password")
	if err := os.WriteFile(password, []byte("secret-of-tests\n"), 0o644); err != nil {
		return nil, err
	}
	init := exec.Command(initdb, "-D", p.data(), "-U", "tas", "--auth=scram-sha-256", "--pwfile="+password, "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	init.SysProcAttr, init.Dir = p.attr, p.dir
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	return p, p.start()
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

// guard starts the server and ends it with the test binary, however that ends: its own
// standard input is a pipe that only the binary holds.
const guard = `"$@" & pid=$!; (cat >/dev/null; kill -QUIT $pid 2>/dev/null) & wait $pid`

func (p *Postgres) start() error {
	var log bytes.Buffer
	// Nothing of it need outlive the tests, so it never waits for the disk. What it has
	// committed outlives a restart all the same.
	p.cmd = exec.Command("/bin/sh", "-c", "exec 3<&0; "+strings.Replace(guard, "cat >", "cat <&3 >", 1), "sh", p.program, "-D", p.data(), "-p", strconv.Itoa(p.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+p.dir, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300")
	p.cmd.SysProcAttr, p.cmd.Dir, p.cmd.Stderr, p.cmd.Stdout = p.attr, p.dir, &log, &log
	p.cmd.WaitDelay = time.Second
	var err error
	if p.hold, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), p.address("postgres"))
		if err == nil {
			conn.Close(context.Background())
			return nil
		}
		if time.Now().After(deadline) {
			p.end()
			return fmt.Errorf("PostgreSQL does not start: %w\n%s", err, log.String())
		}
	}
}

// Restart breaks every connection off and starts the server again, as after a crash.
func Restart(t testing.TB) {
	t.Helper()
	server.end()
	if err := server.start(); err != nil {
		t.Fatal(err)
	}
}

// ordinaryUser answers how to run as somebody else than root, whom PostgreSQL refuses.
func ordinaryUser(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil //nolint:gosec // IDs of the system
}

func (p *Postgres) end() {
	p.hold.Close() // the guard ends it at once
	p.cmd.Wait()   //nolint:errcheck // it was told to
}

func (p *Postgres) stop() {
	p.end()
	os.RemoveAll(p.dir) //nolint:errcheck // a temporary folder
}
