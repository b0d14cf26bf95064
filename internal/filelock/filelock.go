// Package filelock lets one process at a time work on something that lies on disk.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// retryEvery is how often a taken lock is asked for again.
const retryEvery = 20 * time.Millisecond

// Lock takes the advisory lock of a file, made when it is missing, and waits while
// another process (or another Lock in this one) holds it. The answered function gives
// it back; a process that dies gives it back too.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil //nolint:errcheck // closing is what unlocks
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close() //nolint:errcheck // the lock's error matters
			return nil, err
		}
		select {
		case <-ctx.Done():
			f.Close() //nolint:errcheck // the context's error matters
			return nil, ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}

// TryLock takes the lock of a file if nobody holds it.
func TryLock(path string) (unlock func(), ok bool) {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		f.Close() //nolint:errcheck // not ours
		return nil, false
	}
	return func() { f.Close() }, true //nolint:errcheck // closing is what unlocks
}
