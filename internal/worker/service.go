package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
)

// service is the worker's end of the exchange with the service.
type service struct {
	base    string
	token   string
	http    *http.Client
	direct  bool          // artifacts go into their store without the service
	patient time.Duration // how long the service may be out of reach before the worker gives up
}

// errSuperseded says that the service wants nothing more from this attempt.
var errSuperseded = errors.New("this attempt was superseded")

func newService(base, token string, patient time.Duration) *service {
	return &service{base: strings.TrimSuffix(base, "/") + attempt.Prefix, token: token, patient: patient,
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Longest times of one call: the service holds an answer back for half a minute at most,
// while a report of some gigabytes is on its way for a while.
const (
	callWithin = 5 * time.Minute
	fileWithin = 2 * time.Hour
)

// call posts in and reads the answer into out, trying again while the service is out of reach.
func (s *service) call(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return s.retry(ctx, func() error {
		return s.send(ctx, callWithin, http.MethodPost, path, "application/json", bytes.NewReader(body), out)
	})
}

// beat is a call that is given up soon and tried again: an answer that never comes, as when
// the service's machine died, must not keep the next heartbeat from being sent.
func (s *service) beat(ctx context.Context, every time.Duration, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return s.retry(ctx, func() error {
		return s.send(ctx, max(2*every, time.Second), http.MethodPost, attempt.Heartbeat, "application/json", bytes.NewReader(body), out)
	})
}

// ask is a call that is made once: whoever waits for its answer does not wait long.
func (s *service) ask(ctx context.Context, in attempt.Ask, out *attempt.Found) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return s.send(ctx, answerWithin, http.MethodPost, attempt.Recover, "application/json", bytes.NewReader(body), out)
}

// upload streams a file: to the service, or to where it says; open is called again for
// each try.
func (s *service) upload(ctx context.Context, up attempt.Upload, open func() (io.ReadCloser, error)) error {
	if s.direct {
		return s.put(ctx, up, open)
	}
	q := url.Values{"name": {up.Name}, "id": {uuid.NewString()}} // so that one sent twice is one
	if up.Test != "" {
		q.Set("test", up.Test)
		q.Set("retry", strconv.Itoa(up.Retry))
	}
	return s.retry(ctx, func() error {
		f, err := open()
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // read only
		return s.send(ctx, fileWithin, http.MethodPut, attempt.Artifact+"?"+q.Encode(), up.ContentType, f, nil)
	})
}

// put uploads a file to the store of artifacts by itself.
func (s *service) put(ctx context.Context, up attempt.Upload, open func() (io.ReadCloser, error)) error {
	f, err := open()
	if err != nil {
		return err
	}
	up.Size, err = io.Copy(io.Discard, f) // a file that is still written to has this size now
	f.Close()                             //nolint:errcheck // read only
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "a file cannot be read")
	}
	var to attempt.UploadTo
	if err := s.call(ctx, attempt.Begin, up, &to); err != nil {
		return err
	}
	up.ID = to.ID
	err = s.retry(ctx, func() error {
		f, err := open()
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // read only
		within, cancel := context.WithTimeout(ctx, fileWithin)
		defer cancel()
		req, err := http.NewRequestWithContext(within, http.MethodPut, to.URL, io.LimitReader(f, up.Size))
		if err != nil {
			return errors.New("the address for an upload cannot be read")
		}
		req.ContentLength = up.Size
		if up.Size == 0 {
			req.Body = http.NoBody
		}
		req.Header.Set("Content-Type", to.ContentType)
		resp, err := s.http.Do(req)
		if err != nil {
			// Not the error itself: it has the address, which opens the store.
			return fault.New(fault.Unavailable, "the store of artifacts cannot be reached, or a file became shorter")
		}
		defer resp.Body.Close() //nolint:errcheck // read below
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
		switch {
		case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
			return fault.New(fault.Unavailable, "the store of artifacts answered %s: %s", resp.Status, text)
		case resp.StatusCode >= 300:
			return fault.New(fault.External, "The store of artifacts refused an upload (%s): %s", resp.Status, text).WithCode("artifacts-refused").
				WithFix("Check the service's access to the bucket, and the clocks of both machines.")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.call(ctx, attempt.End, up, nil)
}

func (s *service) send(ctx context.Context, within time.Duration, method, path, contentType string, body io.Reader, out any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", contentType)
	resp, err := s.http.Do(req)
	if err != nil {
		if errors.As(err, new(*os.PathError)) {
			return fault.Wrap(err, fault.Invalid, "a file cannot be read")
		}
		return fault.Wrap(err, fault.Unavailable, "the service cannot be reached")
	}
	defer resp.Body.Close() //nolint:errcheck // read below
	text, err := io.ReadAll(io.LimitReader(resp.Body, 256<<20))
	switch {
	case err != nil:
		return fault.Wrap(err, fault.Unavailable, "the service's answer was cut off")
	case resp.StatusCode == http.StatusGone:
		return errSuperseded
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return fault.New(fault.Unavailable, "the service answered %s: %.300s", resp.Status, text)
	case resp.StatusCode == http.StatusRequestEntityTooLarge:
		return fault.New(fault.TooLarge, "the service answered %s: %.300s", resp.Status, text)
	case resp.StatusCode >= 300:
		return fault.New(fault.Invalid, "the service answered %s: %.300s", resp.Status, text)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	return nil
}

// download reads what lies at a path into a file, anew for each try.
func (s *service) download(ctx context.Context, path, to string) error {
	return s.retry(ctx, func() error {
		within, cancel := context.WithTimeout(ctx, fileWithin)
		defer cancel()
		req, err := http.NewRequestWithContext(within, http.MethodGet, s.base+path, http.NoBody)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+s.token)
		resp, err := s.http.Do(req)
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "the service cannot be reached")
		}
		defer resp.Body.Close() //nolint:errcheck // read below
		switch {
		case resp.StatusCode == http.StatusGone:
			return errSuperseded
		case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
			return fault.New(fault.Unavailable, "the service answered %s", resp.Status)
		case resp.StatusCode != http.StatusOK:
			return fault.New(fault.Invalid, "the service answered %s", resp.Status)
		}
		f, err := os.Create(to)
		if err != nil {
			return diskTrouble(err)
		}
		_, err = io.Copy(f, resp.Body)
		if cerr := f.Close(); cerr != nil {
			return diskTrouble(cerr)
		}
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "the service's answer was cut off")
		}
		return nil
	})
}

// retry tries again with growing pauses while the service is out of reach.
func (s *service) retry(ctx context.Context, try func() error) error {
	var deadline time.Time
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := try()
		if err == nil || fault.KindOf(err) != fault.Unavailable {
			return err
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(s.patient) // since it was missed, however long that try took
		}
		if time.Now().Add(pause).After(deadline) {
			return fmt.Errorf("given up after %s: %w", s.patient, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
