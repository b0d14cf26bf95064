package secret

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

func ring(t *testing.T, b byte) *Keyring {
	t.Helper()
	k, err := NewKeyring(bytes.Repeat([]byte{b}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSeal(t *testing.T) {
	k := ring(t, 1)
	for _, plain := range []string{"", "x", "s3cret", strings.Repeat("ä", 5000), "\x00"} {
		sealed := k.Seal("token", "owner", plain)
		// One character may stand in the sealed text by chance.
		if plain != "" && (len(plain) > 5 && strings.Contains(sealed, plain) || sealed == k.Seal("token", "owner", plain)) {
			t.Errorf("%q is sealed as %q, twice", plain, sealed)
		}
		if got, err := k.Open("token", "owner", sealed); err != nil || got != plain {
			t.Errorf("opened as %q, %v", got, err)
		}
	}
	sealed := k.Seal("token", "owner", "s3cret")
	for name, open := range map[string]func() (string, error){
		"another owner":   func() (string, error) { return k.Open("token", "other", sealed) },
		"another purpose": func() (string, error) { return k.Open("other", "owner", sealed) },
		"another key":     func() (string, error) { return ring(t, 2).Open("token", "owner", sealed) },
		"not sealed":      func() (string, error) { return k.Open("token", "owner", "s3cret") },
		"another ring":    func() (string, error) { return k.Open("token", "owner", "k9"+sealed[2:]) },
		"cut off":         func() (string, error) { return k.Open("token", "owner", sealed[:len(sealed)-2]) },
		"too short":       func() (string, error) { return k.Open("token", "owner", "k1.AAAA") },
		"no base64":       func() (string, error) { return k.Open("token", "owner", "k1.!!!!") },
	} {
		if got, err := open(); err == nil || got != "" || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for i := range len(sealed) - 3 { // one bit changed anywhere behind the key's name
		b := []byte(sealed)
		b[i+3] ^= 1
		if got, err := k.Open("token", "owner", string(b)); err == nil && got == "s3cret" && i+3 < len(sealed)-1 {
			t.Errorf("changed at %d it still opens", i+3)
		}
	}
	for _, n := range []int{0, 16, KeySize - 1, KeySize + 1} {
		if _, err := NewKeyring(make([]byte, n)); err == nil {
			t.Errorf("a key of %d bytes is taken", n)
		}
	}
}

func TestSign(t *testing.T) {
	k, now := ring(t, 1), time.Unix(1_800_000_000, 0)
	token := k.Sign("content", "run-1", now.Add(time.Minute))
	for _, c := range []struct {
		name, purpose, claim, token string
		at                          time.Time
		want                        error
	}{
		{"in time", "content", "run-1", token, now, nil},
		{"at its last second", "content", "run-1", token, now.Add(time.Minute), nil},
		{"too late", "content", "run-1", token, now.Add(time.Minute + time.Second), ErrExpired},
		{"another claim", "content", "run-2", token, now, ErrSignature},
		{"another purpose", "page", "run-1", token, now, ErrSignature},
		{"empty", "content", "run-1", "", now, ErrSignature},
		{"nonsense", "content", "run-1", "!!", now, ErrSignature},
		{"cut off", "content", "run-1", token[:len(token)-4], now, ErrSignature},
		{"longer life", "content", "run-1", k.Sign("content", "run-1", now.Add(time.Hour))[:10] + token[10:], now, ErrSignature},
		{"too late and changed", "content", "run-2", token, now.Add(time.Hour), ErrSignature},
	} {
		if err := k.Verify(c.purpose, c.claim, c.token, c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if ring(t, 2).Verify("content", "run-1", token, now) == nil {
		t.Error("another installation takes it")
	}
}
