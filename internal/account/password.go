package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"tas-service/internal/fault"
)

// Bounds of a password, in characters: length is what counts (NIST SP 800-63B).
const (
	MinPassword = 12
	MaxPassword = 200
)

// cost is what one hash takes. A stored hash names its own, so that it can grow later.
type cost struct {
	memory  uint32 // KiB
	time    uint32
	threads uint8
}

// ours is what OWASP names as the least for argon2id.
var ours = cost{memory: 19456, time: 2, threads: 1}

// Bounds of what a stored hash may ask for.
const (
	maxMemory = 256 << 10 // KiB
	maxTime   = 16
	saltSize  = 16
	hashSize  = 32
)

// Hasher makes and checks hashes of passwords with argon2id. Each takes 19 MiB, so no more
// than a few are at work at once; others wait, as long as their callers do. Safe for
// concurrent use.
type Hasher struct{ room chan struct{} }

// NewHasher lets so many hashes be at work at once.
func NewHasher(atOnce int) *Hasher { return &Hasher{room: make(chan struct{}, max(1, atOnce))} }

// nobody is a hash that no password has: it costs as much to check as any.
const nobody = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// Hash answers a new hash in the PHC string format.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltSize)
	rand.Read(salt) //nolint:errcheck // crypto/rand.Read never fails
	sum, err := h.sum(ctx, password, salt, ours)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, ours.memory, ours.time, ours.threads, b64(salt), b64(sum)), nil
}

// Fits reports whether a password has a hash. An empty hash fits nothing, and takes as
// long to say so.
func (h *Hasher) Fits(ctx context.Context, password, hash string) (bool, error) {
	known := hash != ""
	if !known {
		hash = nobody
	}
	c, salt, want, err := parseHash(hash)
	if err != nil {
		return false, err
	}
	got, err := h.sum(ctx, password, salt, c)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && known, nil
}

func (h *Hasher) sum(ctx context.Context, password string, salt []byte, c cost) ([]byte, error) {
	select {
	case h.room <- struct{}{}:
		defer func() { <-h.room }()
	case <-ctx.Done():
		return nil, fault.Wrap(ctx.Err(), fault.Unavailable, "The service is busy with other passwords.").WithFix("Try again in a moment.")
	}
	return argon2.IDKey([]byte(password), salt, c.time, c.memory, c.threads, hashSize), nil
}

func parseHash(hash string) (c cost, salt, sum []byte, err error) {
	bad := fault.New(fault.Internal, "a stored password cannot be read")
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, bad
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.time, &c.threads); err != nil || c.memory == 0 || c.memory > maxMemory || c.time == 0 || c.time > maxTime || c.threads == 0 {
		return c, nil, nil, bad
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return c, nil, nil, bad
	}
	if sum, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(sum) != hashSize {
		return c, nil, nil, bad
	}
	return c, salt, sum, nil
}

// CheckPassword says what is wrong with a password that somebody chose; nil when nothing is.
func CheckPassword(password, email string) error {
	n := utf8.RuneCountInString(password)
	switch lower := strings.ToLower(password); {
	case n < MinPassword:
		return fault.New(fault.Invalid, "The password has fewer than %d characters.", MinPassword).WithFix("Choose a longer one: a few words in a row do well.").At("password", "at least %d characters", MinPassword)
	case n > MaxPassword || !utf8.ValidString(password):
		return fault.New(fault.Invalid, "The password has more than %d characters.", MaxPassword).WithFix("Choose a shorter one.").At("password", "at most %d characters", MaxPassword)
	case email != "" && lower == strings.ToLower(email), strings.Count(password, string([]rune(password)[0])) == n:
		return fault.New(fault.Invalid, "The password is too easy to guess.").WithFix("Choose one that is not your e-mail address or one character again and again.").At("password", "too easy to guess")
	}
	return nil
}
