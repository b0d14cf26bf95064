package account

import "time"

// Session is a browser in which a person signed in.
type Session struct {
	ID        string
	PersonID  string
	TokenHash string // the token itself is in the browser's cookie only
	UserAgent string
	Address   string
	CreatedAt time.Time
	SeenAt    time.Time // to half a day
	ExpiresAt time.Time
}

// How long sessions last. Each use makes one last longer, which is noted twice a day.
const (
	SessionFor  = 30 * 24 * time.Hour
	sessionNote = 12 * time.Hour
)

// maxUserAgent bounds what is kept of a browser's own description, in bytes.
const maxUserAgent = 300
