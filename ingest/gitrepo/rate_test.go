package gitrepo_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"almanac/ingest/gitrepo"
	"almanac/ingest/outbound"
	"almanac/testing/gitrepotest"
)

// TestDrippingServersEndTheFetch: a server that sends a byte now and then does not
// hold its source up until the fetch's own deadline.
func TestDrippingServersEndTheFetch(t *testing.T) {
	gitrepo.SetSlow(t, time.Second)
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{"a.md": "a"})
	git := repo.Handler()
	t.Run("http", func(t *testing.T) {
		s := serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w = drippingResponse{w, drip{r.Context(), flushed{w}}}
			}
			git.ServeHTTP(w, r)
		}))
		_, err := head(t, allowing(t, "127.0.0.1/32"), filepath.Join(t.TempDir(), "m.git"),
			s.URL+"/harbour/handbook.git")
		if err == nil || !strings.Contains(err.Error(), "too slow") {
			t.Errorf("%v, want that it is too slow", err)
		}
	})
	t.Run("git", func(t *testing.T) {
		port := daemon(t, repo.Dir, func(w io.Writer) io.Writer { return drip{t.Context(), w} })
		_, err := head(t, allowing(t, "127.0.0.1/32"), filepath.Join(t.TempDir(), "m.git"),
			"git://127.0.0.1:"+port+"/.git")
		if !errors.Is(err, outbound.ErrTimeout) || !strings.Contains(err.Error(), "4096 bytes per second") {
			t.Errorf("%v, want that it is too slow", err)
		}
	})
}

// drip writes a byte now and then.
type drip struct {
	ctx context.Context
	w   io.Writer
}

func (d drip) Write(p []byte) (int, error) {
	for i := range p {
		select {
		case <-d.ctx.Done():
			return i, d.ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if _, err := d.w.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

type flushed struct{ http.ResponseWriter }

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	return n, errors.Join(err, http.NewResponseController(f.ResponseWriter).Flush())
}

type drippingResponse struct {
	http.ResponseWriter
	drip drip
}

func (d drippingResponse) Write(p []byte) (int, error) { return d.drip.Write(p) }
