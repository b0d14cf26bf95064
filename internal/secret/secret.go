// Package secret keeps what must not be read: it derives one key per purpose from
// the installation's master key, seals values at rest and signs short-lived claims.
//
// Keys are derived with HKDF-SHA-256 (RFC 5869). Sealing is AES-256-GCM with the
// owning record's ID as additional data, so that a sealed value copied into another
// record does not open there.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// KeySize is the size of a master key in bytes.
const KeySize = 32

// keyID names the master key that sealed a value, so that a later key can take over.
const keyID = "k1"

// Keyring derives keys from one master key. It is safe for concurrent use.
type Keyring struct{ master []byte }

// NewKeyring takes a master key of KeySize bytes.
func NewKeyring(master []byte) (*Keyring, error) {
	if len(master) != KeySize {
		return nil, fmt.Errorf("a master key has %d bytes, this one has %d", KeySize, len(master))
	}
	return &Keyring{master: append([]byte(nil), master...)}, nil
}

func (k *Keyring) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, k.master, nil, "tas/"+purpose, 32)
	if err != nil {
		panic("secret: HKDF of 32 bytes cannot fail: " + err.Error())
	}
	return key
}

func (k *Keyring) aead(purpose string) cipher.AEAD {
	block, err := aes.NewCipher(k.derive(purpose))
	if err != nil {
		panic("secret: AES takes 32-byte keys: " + err.Error())
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("secret: GCM over AES: " + err.Error())
	}
	return aead
}

// Seal encrypts plain for a purpose and an owner. An empty value stays empty.
func (k *Keyring) Seal(purpose, owner, plain string) string {
	if plain == "" {
		return ""
	}
	aead := k.aead(purpose)
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) //nolint:errcheck // crypto/rand.Read never fails
	out := aead.Seal(nonce, nonce, []byte(plain), []byte(owner))
	return keyID + "." + base64.RawURLEncoding.EncodeToString(out)
}

// Open decrypts what Seal made for the same purpose and owner.
func (k *Keyring) Open(purpose, owner, sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	id, body, ok := strings.Cut(sealed, ".")
	if !ok || id != keyID {
		return "", errors.New("sealed with a key that this installation does not have")
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return "", errors.New("not a sealed value")
	}
	aead := k.aead(purpose)
	if len(raw) < aead.NonceSize() {
		return "", errors.New("not a sealed value")
	}
	plain, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], []byte(owner))
	if err != nil {
		return "", errors.New("cannot be opened with this installation's key")
	}
	return string(plain), nil
}

// signatureSize is how much of the HMAC-SHA-256 a signed claim carries: 128 bits.
const signatureSize = 16

// Sign answers a token that vouches for claim until expires. The claim itself is not in the token.
func (k *Keyring) Sign(purpose, claim string, expires time.Time) string {
	buf := make([]byte, 8, 8+signatureSize)
	binary.BigEndian.PutUint64(buf, uint64(expires.Unix())) //nolint:gosec // times are after 1970
	buf = append(buf, k.mac(purpose, claim, buf[:8])...)
	return base64.RawURLEncoding.EncodeToString(buf)
}

// Errors of Verify.
var (
	ErrExpired   = errors.New("the link has expired")
	ErrSignature = errors.New("the link is not one of ours, or was changed")
)

// Verify checks a token of Sign: ErrSignature or ErrExpired when it does not hold.
func (k *Keyring) Verify(purpose, claim, token string, now time.Time) error {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != 8+signatureSize {
		return ErrSignature
	}
	if !hmac.Equal(raw[8:], k.mac(purpose, claim, raw[:8])) {
		return ErrSignature
	}
	if now.Unix() > int64(binary.BigEndian.Uint64(raw[:8])) { //nolint:gosec // we wrote it
		return ErrExpired
	}
	return nil
}

func (k *Keyring) mac(purpose, claim string, expires []byte) []byte {
	h := hmac.New(sha256.New, k.derive("sign/"+purpose))
	h.Write(expires)
	h.Write([]byte(claim))
	return h.Sum(nil)[:signatureSize]
}
