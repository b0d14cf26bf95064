package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"tas-service/internal/artifact/blobstore"
	"tas-service/internal/secret"
	"tas-service/internal/store"
)

// OpenStore opens the database that a configuration names, made when it is missing. It is
// what commands on the machine of the service use beside a running one.
func OpenStore(ctx context.Context, cfg Config) (*store.DB, *secret.Keyring, error) {
	if err := makeDataDir(cfg.DataDir); err != nil {
		return nil, nil, err
	}
	keys, err := masterKey(cmp.Or(cfg.MasterKey, filepath.Join(cfg.DataDir, "master.key")))
	if err != nil {
		return nil, nil, err
	}
	if cfg.DatabaseURL != "" {
		if !strings.HasPrefix(cfg.DatabaseURL, "postgres://") && !strings.HasPrefix(cfg.DatabaseURL, "postgresql://") {
			return nil, nil, errors.New("TAS_DATABASE_URL is no address of PostgreSQL: write postgres://user:password@host:5432/database, or leave it out for SQLite")
		}
		db, err := store.OpenPostgres(ctx, cfg.DatabaseURL, cfg.DatabaseConn, keys)
		if err != nil {
			return nil, nil, fmt.Errorf("TAS_DATABASE_URL: %w", err)
		}
		return db, keys, nil
	}
	path := filepath.Join(cfg.DataDir, "tas.db")
	if err := onlyOurs(path); err != nil {
		return nil, nil, err
	}
	db, err := store.OpenSQLite(ctx, path, keys)
	return db, keys, err
}

// makeDataDir makes the data folder. Others get through it, to the runs' own folders, and
// cannot list it.
func makeDataDir(dir string) error {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	return nil
}

// onlyOurs makes a file that no other user can read, or makes it so: others get through
// the data folder to the runs' own, and SQLite gives its other files the same rights.
func onlyOurs(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// masterKey reads the installation's key, made at the first start. Whoever has it can
// read the sealed secrets, so it is the one file to guard and to back up.
func masterKey(path string) (*secret.Keyring, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		raw := make([]byte, secret.KeySize)
		rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails
		f, cerr := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(cerr, os.ErrExist) { // another command was quicker
			return masterKey(path)
		}
		if cerr != nil {
			return nil, fmt.Errorf("make the master key: %w", cerr)
		}
		_, werr := f.WriteString(hex.EncodeToString(raw) + "\n")
		if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
			return nil, fmt.Errorf("write the master key: %w", err)
		}
		return secret.NewKeyring(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("read the master key: %w", err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("the master key in %s is damaged: restore it from a backup", path)
	}
	return secret.NewKeyring(raw)
}

// openArtifacts opens where artifacts are kept: a bucket, or a folder of the data folder.
func openArtifacts(ctx context.Context, cfg Config) (*blobstore.Store, error) {
	if cfg.ArtifactsURL == "" {
		return blobstore.OpenDir(filepath.Join(cfg.DataDir, "artifacts"))
	}
	store, err := blobstore.OpenS3(ctx, cfg.ArtifactsURL)
	if err != nil {
		return nil, fmt.Errorf("TAS_ARTIFACTS_URL: %w", err)
	}
	return store, nil
}

// place answers the name of this data folder's executor: of a number made at the first
// start, and of where the folder lies, since a copy of it is another place.
func place(dir string) (string, error) {
	path := filepath.Join(dir, "place")
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("ask for this machine's name: %w", err)
	}
	here := func(number string) string {
		return fmt.Sprintf("%.32x", sha256.Sum256([]byte(number+"\x00"+host+"\x00"+dir)))
	}
	text, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		return here(strings.TrimSpace(string(text))), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the name of the executor: %w", err)
	}
	number := uuid.NewString()
	if err := os.WriteFile(path, []byte(number+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the name of the executor: %w", err)
	}
	return here(number), nil
}
