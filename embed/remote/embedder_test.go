package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"almanac/embed"
)

// script is a Server that a test controls.
type script struct {
	mu         sync.Mutex
	id         Identity
	down       error
	identified int
	asked      []string
	answer     func(texts []string) ([][]float32, error)
	hangs      bool // until the caller gives up
}

func newScript() *script {
	return &script{id: Identity{Name: "model", Version: "1"},
		answer: func(texts []string) ([][]float32, error) { return vectorsOf(texts), nil }}
}

func (s *script) String() string { return "example at http://models.example.org" }

func (s *script) Identify(context.Context) (Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identified++
	return s.id, s.down
}

func (s *script) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.mu.Lock()
	s.asked = append(s.asked, texts...)
	down, answer, hangs := s.down, s.answer, s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if down != nil {
		return nil, down
	}
	return answer(texts)
}

// change alters the script while an embedder may use it.
func (s *script) change(f func(s *script)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func open(t *testing.T, s *script, c Config) *Embedder {
	t.Helper()
	e, err := Open(t.Context(), s, c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmbed(t *testing.T) {
	s := newScript()
	s.id.Name = "nomic-embed-text"
	e := open(t, s, Config{})
	if want := `nomic-embed-text@1, 4 dimensions, query "search_query: ", document "search_document: "`; e.Model() !=
		want || e.Dimensions() != 4 {
		t.Errorf("model %s, %d dimensions", e.Model(), e.Dimensions())
	}
	s.asked, s.answer = nil, func(texts []string) ([][]float32, error) {
		return [][]float32{{0, 3, 0, 0}, {0, 3, 0, 4}}[:len(texts)], nil
	}
	got, err := e.Embed(t.Context(), []string{"", "one", " \n\t", "three"}, embed.Document)
	if want := [][]float32{{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}, {0, 0.6, 0, 0.8}}; err != nil ||
		!slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("vectors %v, want %v, error %v", got, want, err)
	}
	if _, err = e.Embed(t.Context(), []string{"one"}, embed.Query); err != nil {
		t.Fatal(err)
	}
	if want := []string{"search_document: one", "search_document: three", "search_query: one"}; !slices.Equal(s.asked,
		want) {
		t.Errorf("requested %q, want %q", s.asked, want)
	}
	if got, err = e.Embed(t.Context(), nil, embed.Document); err != nil || len(got) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
	s.asked = nil
	if _, err = e.Embed(t.Context(), []string{strings.Repeat("x", 10*maxText)}, embed.Query); err != nil ||
		len(s.asked[0]) != maxText+len("search_query: ") {
		t.Errorf("a huge text: error %v", err)
	}
}

func TestServerThatIsDown(t *testing.T) {
	var log bytes.Buffer
	s := newScript()
	known := Known{open(t, s, Config{}).Model(), 4}
	s.down = fmt.Errorf("nothing listens: %w", embed.ErrUnavailable)
	for _, none := range []Known{{}, {Model: known.Model}, {Dimensions: 4}} {
		if _, err := Open(t.Context(), s, Config{Known: none}); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("known %+v: error %v", none, err)
		}
	}
	wrong := newScript()
	wrong.down = errors.New("wrong key")
	if _, err := Open(t.Context(), wrong, Config{Known: known}); !errors.Is(err, wrong.down) {
		t.Errorf("a wrong key is not a server that is down: error %v", err)
	}
	e := open(t, s, Config{Known: known, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if e.Model() != known.Model || e.Dimensions() != 4 || !strings.Contains(log.String(), "nothing listens") {
		t.Errorf("model %s, %d dimensions, log %s", e.Model(), e.Dimensions(), log.String())
	}
	for _, step := range []struct {
		name string
		do   func()
		want error
	}{
		{"still down", func() {}, embed.ErrUnavailable},
		{"back", func() { s.down = nil }, nil},
		{"down again", func() { s.down = embed.ErrUnavailable }, embed.ErrUnavailable},
		{"back again", func() { s.down = nil }, nil},
	} {
		step.do()
		if v, err := e.Embed(t.Context(), []string{"a"}, embed.Query); !errors.Is(err, step.want) ||
			err == nil && len(v[0]) != 4 {
			t.Errorf("%s: %v, error %v", step.name, v, err)
		}
	}
}

// TestAnotherModelIsNoticed: whatever vectors depend on changes, under a running
// service or while the server is away.
func TestAnotherModelIsNoticed(t *testing.T) {
	for name, change := range map[string]func(*script){
		"version":  func(s *script) { s.id.Version = "2" },
		"name":     func(s *script) { s.id.Name = "other" },
		"prefixes": func(s *script) { s.id.Name = "nomic-embed-text" },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript()
			e := open(t, s, Config{})
			ask := func() error {
				_, err := e.Embed(t.Context(), []string{"a"}, embed.Document)
				return err
			}
			before := s.id
			change(s)
			for range 5 {
				if err := ask(); err != nil {
					t.Fatal(err)
				}
			}
			if s.identified != 1 {
				t.Errorf("the server was queried %d times for its model", s.identified)
			}
			time.Sleep(recheck)
			sentence(t, ask(), "now has another model ("+s.id.Name+"@")
			if err := ask(); err == nil || !strings.HasSuffix(err.Error(), " than the index was built with (model@1, 4 "+
				"dimensions): restart almanac to build a new index") || errors.Is(err, embed.ErrUnavailable) {
				t.Errorf("%s: error %v", name, err)
			}
			s.id = before
			if err := ask(); err != nil {
				t.Errorf("%s: the right model is back, but %v", name, err)
			}
			s.down = embed.ErrUnavailable
			if err := ask(); err == nil {
				t.Error("no error of a server that is down")
			}
			s.down = nil
			change(s)
			sentence(t, ask(), "now has another model")
			if e := open(t, s, Config{}); e.Model() == "model@1, 4 dimensions" {
				t.Errorf("%s: still model %s", name, e.Model())
			}
		})
	}
}

func TestAnswersThatAreNoVectors(t *testing.T) {
	nan, infinite := float32(math.NaN()), float32(math.Inf(-1))
	for name, c := range map[string]struct {
		answer [][]float32
		want   string
	}{
		"too few":  {[][]float32{{1, 0, 0, 0}}, "returned 1 vectors for 2 texts"},
		"too many": {[][]float32{{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}, "returned 3 vectors for 2 texts"},
		"none":     {nil, "returned 0 vectors for 2 texts"},
		"other length": {[][]float32{{1, 0, 0, 0}, {1, 0, 0}},
			"vectors of 3 dimensions, but those in the index have 4: restart almanac"},
		"missing":  {[][]float32{{1, 0, 0, 0}, nil}, "vectors of 0 dimensions, but"},
		"NaN":      {[][]float32{{1, 0, 0, 0}, {0, nan, 0, 0}}, "component 1 of a vector is NaN"},
		"infinity": {[][]float32{{0, 0, 0, 0}, {1, 0, 0, infinite}}, "component 3 of a vector is -Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript()
			e := open(t, s, Config{})
			s.answer = func(texts []string) ([][]float32, error) {
				if len(texts) == 1 {
					return c.answer[len(c.answer)-1:], nil
				}
				return c.answer, nil
			}
			_, err := e.Embed(t.Context(), []string{"a", "b"}, embed.Document)
			sentence(t, err, c.want)
		})
	}
	s := newScript()
	s.answer = func([]string) ([][]float32, error) { return [][]float32{{}}, nil }
	_, err := Open(t.Context(), s, Config{})
	sentence(t, err, "returned vectors without components")
}

// TestCallersThatGiveUp is for callers that stop, and for those with less patience
// than the server needs: for them it is unavailable.
func TestCallersThatGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		known := Known{"model@1, 4 dimensions", 4}
		e := open(t, s, Config{})
		busyFor := func(texts []string) ([][]float32, error) { return nil, fails(busy) }
		for name, slow := range map[string]func(*script){
			"hangs": func(s *script) { s.hangs = true },
			"busy":  func(s *script) { s.hangs, s.answer = false, busyFor },
		} {
			s.change(slow)
			for _, texts := range [][]string{numbered(1), numbered(100)} {
				ctx, cancel := context.WithTimeout(t.Context(), firstPause/2)
				defer cancel()
				_, err := e.Embed(ctx, texts, embed.Query)
				sentence(t, err, "example at http://models.example.org is unavailable: no answer in time")
				if !errors.Is(err, embed.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: error %v", name, err)
				}
				if _, err := Open(ctx, s, Config{}); !errors.Is(err, embed.ErrUnavailable) {
					t.Errorf("%s: error %v", name, err)
				}
				if e, err := Open(ctx, s, Config{Known: known}); err != nil || e.Dimensions() != 4 {
					t.Errorf("%s: error %v with a known model", name, err)
				}
				stopped := errors.New("stopped")
				stopping, stop := context.WithCancelCause(t.Context())
				time.AfterFunc(firstPause/2, func() { stop(stopped) })
				for range 2 { // during the call, and before it
					if _, err := e.Embed(stopping, texts, embed.Document); !errors.Is(err, stopped) ||
						errors.Is(err, embed.ErrUnavailable) {
						t.Errorf("%s: error %v of a caller that stopped", name, err)
					}
				}
				if _, err := Open(stopping, s, Config{Known: known}); !errors.Is(err, stopped) ||
					errors.Is(err, embed.ErrUnavailable) {
					t.Errorf("%s: error %v of a caller that stopped", name, err)
				}
			}
		}
	})
}
