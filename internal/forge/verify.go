package forge

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"tas-service/internal/fault"
)

// Signed reports, in constant time, whether mac is the HMAC-SHA-256 of a body in hex. An
// empty secret signs nothing.
func Signed(body []byte, secret, mac string) bool {
	got, err := hex.DecodeString(mac)
	if err != nil || secret == "" {
		return false
	}
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return hmac.Equal(h.Sum(nil), got)
}

// SameSecret compares secrets in constant time, whatever their lengths. Empty ones are not
// the same.
func SameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1 && a != ""
}

// Digest answers what Event.Digest is.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// CheckDelivery bounds a delivery before anything of it is read.
func CheckDelivery(d Delivery) error {
	if len(d.Body) > MaxDelivery {
		return fault.New(fault.TooLarge, "A webhook has at most %d bytes.", MaxDelivery)
	}
	if d.Header == nil || len(d.Body) == 0 {
		return fault.New(fault.Invalid, "The webhook is empty.")
	}
	return nil
}

// BranchOf answers the branch of a full ref, "" where it is none.
func BranchOf(ref string) string {
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		return ""
	}
	return branch
}

// PushedCommit answers a commit as webhooks tell it: zeros are one that is gone.
func PushedCommit(hash string) string {
	if !fullHash.MatchString(hash) || strings.Trim(hash, "0") == "" {
		return ""
	}
	return hash
}
