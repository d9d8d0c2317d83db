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

// cache stores responses of the REST API in files. One that is not complete, which its
// checksum tells, counts as absent.
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
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	_, _ = z.Write(append(append(head, '\n'), k.Body...)) // memory does not fail
	_ = z.Close()
	now := c.now()
	if err = os.WriteFile(file, packed.Bytes(), 0o600); err == nil {
		err = os.Chtimes(file, now, now)
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
