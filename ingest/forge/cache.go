package forge

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// keepUnused is how long an unused response stays on disk.
const keepUnused = 30 * 24 * time.Hour

// cache stores responses of the REST API in files. Each is complete or absent;
// an unreadable one counts as absent.
type cache struct {
	dir string
	now func() time.Time
}

// kept is a cached response.
type kept struct {
	ETag string `json:"etag"`
	More bool   `json:"more"` // there is a further page
	Body []byte `json:"-"`
}

func (c cache) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:20]))
}

// get returns the response stored under a key.
func (c cache) get(key string, limit int64) (kept, bool) {
	file := c.file(key)
	f, err := os.Open(file)
	if err != nil {
		return kept{}, false
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return kept{}, false
	}
	data, err := io.ReadAll(io.LimitReader(z, limit))
	head, body, found := bytes.Cut(data, []byte("\n"))
	var k kept
	if err != nil || !found || json.Unmarshal(head, &k) != nil {
		return kept{}, false
	}
	k.Body = body
	now := c.now()
	_ = os.Chtimes(file, now, now) // used: prune must keep it
	return k, true
}

// put stores a response.
func (c cache) put(key string, k kept) error {
	head, err := json.Marshal(k)
	if err != nil {
		return err
	}
	file := c.file(key)
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	f, err := os.CreateTemp(c.dir, "new-")
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	defer os.Remove(f.Name()) // gone if it was renamed
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	_, err = z.Write(append(append(head, '\n'), k.Body...))
	for _, close := range []func() error{z.Close, f.Close} {
		if cerr := close(); err == nil {
			err = cerr
		}
	}
	now := c.now()
	if err == nil {
		err = os.Chtimes(f.Name(), now, now)
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	return nil
}

// prune removes responses that were not used for a while.
func (c cache) prune() {
	oldest := c.now().Add(-keepUnused)
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(oldest) {
			_ = os.Remove(filepath.Join(c.dir, e.Name())) // the next run tries again
		}
	}
}
