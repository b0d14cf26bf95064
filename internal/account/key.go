package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"sync"
	"time"

	"tas-service/internal/fault"
)

// KeyPrefix begins every API key, so that secret scanners can find a leaked one.
const KeyPrefix = "tas_"

const (
	keyAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"
	keyRandom   = 40 // characters, more than 225 bits
	keyCheck    = 6  // characters of checksum, so that a cut-off key is told apart from an unknown one
)

// Key is an API key as it is kept: never the key itself.
type Key struct {
	ID        string
	ProjectID string
	Hash      string // SHA-256 of the key, hex; the key's entropy makes a slow hash needless
	Hint      string // the last four characters, to tell keys apart
	CreatedAt time.Time
	RevokedAt *time.Time
}

// NewKey makes a fresh API key and answers it once in clear.
func NewKey() (plain string) {
	raw := make([]byte, keyRandom)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails
	for i, b := range raw {
		raw[i] = keyAlphabet[int(b)%len(keyAlphabet)]
	}
	return KeyPrefix + string(raw) + checksum(string(raw))
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, keyCheck)
	for i := range out {
		out[i] = keyAlphabet[sum%uint32(len(keyAlphabet))]
		sum /= uint32(len(keyAlphabet))
	}
	return string(out)
}

// HashKey answers the hash under which a key is kept and looked up.
func HashKey(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}

// Hint answers what may be shown of a key.
func Hint(plain string) string { return plain[max(0, len(plain)-4):] }

// Keys is what is kept of API keys. ActiveKey answers fault.NotFound for a hash that
// is unknown or revoked.
type Keys interface {
	ActiveKey(ctx context.Context, hash string) (Key, error)
}

// cacheFor bounds how long a key that was rotated elsewhere still works.
const cacheFor = 2 * time.Second

// Authenticator turns an Authorization header into an Actor. Safe for concurrent use.
type Authenticator struct {
	keys Keys
	now  func() time.Time

	mu    sync.Mutex
	cache map[string]cached
}

type cached struct {
	key   Key
	until time.Time
}

// NewAuthenticator looks keys up in keys.
func NewAuthenticator(keys Keys) *Authenticator {
	return &Authenticator{keys: keys, now: time.Now, cache: map[string]cached{}}
}

// Bearer authenticates the value of an Authorization header. Its errors are
// fault.Unauthenticated, tell the likely slip and never repeat the key.
func (a *Authenticator) Bearer(ctx context.Context, header string) (Actor, error) {
	plain, err := bearerToken(header)
	if err != nil {
		return Actor{}, err
	}
	hash := HashKey(plain)
	if key, ok := a.cached(hash); ok {
		return actorOf(key), nil
	}
	key, err := a.keys.ActiveKey(ctx, hash)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return Actor{}, fault.New(fault.Unauthenticated, "This API key is unknown, or it was rotated.").
			WithFix("Copy the current key from Settings, Project Settings, into SERVICE_API_KEY.")
	case err != nil:
		return Actor{}, err
	case subtle.ConstantTimeCompare([]byte(key.Hash), []byte(hash)) != 1:
		return Actor{}, fault.New(fault.Internal, "the key store answered another key than the one asked for")
	}
	a.remember(hash, key)
	return actorOf(key), nil
}

// Forget drops what is remembered, so that a rotated key stops working at once in this process.
func (a *Authenticator) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.cache)
}

func (a *Authenticator) cached(hash string) (Key, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.cache[hash]
	return c.key, ok && a.now().Before(c.until)
}

// maxCached bounds the memory of the cache; only keys that exist enter it.
const maxCached = 10_000

func (a *Authenticator) remember(hash string, key Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.cache) >= maxCached {
		clear(a.cache)
	}
	a.cache[hash] = cached{key: key, until: a.now().Add(cacheFor)}
}

func actorOf(key Key) Actor { return Actor{ProjectID: key.ProjectID, KeyID: key.ID, Via: ViaKey} }

const headerForm = "Send the header exactly as `Authorization: Bearer <API_KEY>`."

func bearerToken(header string) (string, error) {
	bad := func(message string) (string, error) {
		return "", fault.New(fault.Unauthenticated, "%s", message).WithFix("%s", headerForm)
	}
	if header == "" {
		return bad("The Authorization header is missing.")
	}
	scheme, token, found := strings.Cut(header, " ")
	switch {
	case strings.HasPrefix(header, KeyPrefix):
		return bad("The Authorization header holds a key without the scheme Bearer.")
	case strings.HasPrefix(header, " ") || strings.HasPrefix(header, "\t"):
		return bad("The Authorization header begins with stray blanks.")
	case strings.HasPrefix(header, `"`) || strings.HasPrefix(header, "'"):
		return bad("The Authorization header is wrapped in quotes.")
	case !strings.EqualFold(scheme, "Bearer"):
		return bad("The Authorization header uses another scheme than Bearer.")
	case scheme != "Bearer":
		return bad("The scheme must be spelt `Bearer`, with a capital B.")
	case !found || token == "":
		return bad("The Authorization header has no key after Bearer: the variable that should hold it may be empty.")
	case strings.ContainsAny(token, "\"'`"):
		return bad("The key is wrapped in quotes.")
	case strings.ContainsAny(token, " \t\r\n"):
		return bad("There are stray blanks around the key.")
	case !strings.HasPrefix(token, KeyPrefix):
		return bad("This is not an API key of this service: keys begin with " + KeyPrefix + ".")
	}
	body := token[len(KeyPrefix):]
	if len(body) != keyRandom+keyCheck || checksum(body[:keyRandom]) != body[keyRandom:] {
		return bad("The API key is malformed: it was cut off or changed while it was copied.")
	}
	return token, nil
}
