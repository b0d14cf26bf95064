package account

import (
	"crypto/rand"
	"encoding/base64"
)

// tokenSize is the size of a session's and a link's token in bytes: 256 bits.
const tokenSize = 32

// NewToken makes a token that nobody can guess, and the hash under which it is kept.
func NewToken() (plain, hash string) {
	raw := make([]byte, tokenSize)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails
	plain = base64.RawURLEncoding.EncodeToString(raw)
	return plain, HashKey(plain)
}

// tokenHash answers the hash of a token that somebody sent, "" for what is none.
func tokenHash(plain string) string {
	if raw, err := base64.RawURLEncoding.DecodeString(plain); err != nil || len(raw) != tokenSize {
		return ""
	}
	return HashKey(plain)
}
