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
	name       string // configured
	id         Identity
	size       int
	down       error
	identified int
	asked      []string
	answer     func(texts []string) ([][]float32, error) // in place of vectors
	wait       chan struct{}                             // closed or nil: documents wait for it
}

func (s *script) String() string { return "example at http://models.example.org" }

func (s *script) Name() string { return s.name }

func (s *script) Identify(context.Context) (Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identified++
	return s.id, s.down
}

func (s *script) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return nil, s.down
	}
	if s.wait != nil && !strings.HasPrefix(texts[0], "q:") {
		wait := s.wait
		s.mu.Unlock()
		defer s.mu.Lock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.asked = append(s.asked, texts...)
	if s.answer != nil {
		return s.answer(texts)
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, s.size)
		vectors[i][len(text)%s.size] = 3
	}
	return vectors, nil
}

// change alters the script while an embedder may use it.
func (s *script) change(f func(s *script)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *script) said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func newScript() *script {
	return &script{name: "model", id: Identity{Name: "model", Version: "1"}, size: 4}
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
	e := open(t, s, Config{Prefixes: &Prefixes{"q: ", "d: "}})
	if want := `model@1, 4 dimensions, query "q: ", document "d: "`; e.Model() != want || e.Dimensions() != 4 {
		t.Errorf("model %s, %d dimensions", e.Model(), e.Dimensions())
	}
	s.asked = nil
	got, err := e.Embed(t.Context(), []string{"", "one", " \n\t", "three"}, embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]float32{{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}}; !slices.EqualFunc(got, want,
		slices.Equal) {
		t.Errorf("vectors %v, want %v", got, want)
	}
	if _, err = e.Embed(t.Context(), []string{"one"}, embed.Query); err != nil {
		t.Fatal(err)
	}
	if want := []string{"d: one", "d: three", "q: one"}; !slices.Equal(s.said(), want) {
		t.Errorf("requested %q, want %q", s.said(), want)
	}
	if got, err = e.Embed(t.Context(), nil, embed.Document); err != nil || len(got) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
	s.asked = nil
	if _, err = e.Embed(t.Context(), []string{strings.Repeat("x", 10*maxText)}, embed.Query); err != nil ||
		len(s.said()[0]) != maxText+3 {
		t.Errorf("a huge text: error %v", err)
	}
}

func TestModelChangesWithWhatVectorsDependOn(t *testing.T) {
	models := map[string]bool{}
	for _, change := range []func(*script, *Config){
		func(*script, *Config) {},
		func(s *script, _ *Config) { s.id.Version = "2" },
		func(s *script, _ *Config) { s.size = 5 },
		func(_ *script, c *Config) { c.Prefixes = &Prefixes{Query: "q"} },
		func(_ *script, c *Config) { c.Prefixes = &Prefixes{Document: "q"} },
		func(s *script, _ *Config) { s.id.Name = "nomic-embed-text" },
	} {
		s, c := newScript(), Config{}
		change(s, &c)
		models[open(t, s, c).Model()] = true
	}
	if len(models) != 6 {
		t.Errorf("models %v", models)
	}
}

func TestServerThatIsDown(t *testing.T) {
	var log bytes.Buffer
	s := newScript()
	known := Known{open(t, s, Config{}).Model(), 4}
	s.down = fmt.Errorf("nothing listens: %w", embed.ErrUnavailable)

	for _, none := range []Known{
		{}, {Model: known.Model}, {Dimensions: 4}, {known.Model, 5}, // incomplete
		// of another configuration
		{"other@1, 4 dimensions", 4}, {"model-2@1, 4 dimensions", 4},
		{`model@1, 4 dimensions, query "q", document ""`, 4},
	} {
		if _, err := Open(t.Context(), s, Config{Known: none}); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("known %+v: error %v", none, err)
		}
	}
	if _, err := Open(t.Context(), s, Config{Known: known, Prefixes: &Prefixes{Query: "q"}}); !errors.Is(err,
		embed.ErrUnavailable) {
		t.Errorf("known without the prefixes that are configured now: error %v", err)
	}
	s.name = "" // any model of the server
	for _, some := range []Known{known, {"other, 5 dimensions", 5},
		{`nomic-embed-text@a, float16, 7 dimensions, query "search_query: ", document "search_document: "`, 7}} {
		if e := open(t, s, Config{Known: some}); e.Model() != some.Model || e.Dimensions() != some.Dimensions {
			t.Errorf("known %+v: model %s", some, e.Model())
		}
	}
	s.name = "Model"
	wrong := newScript()
	wrong.down = errors.New("wrong key")
	if _, err := Open(t.Context(), wrong, Config{Known: known}); !errors.Is(err, wrong.down) {
		t.Errorf("a wrong key is not a server that is down: error %v", err)
	}

	e := open(t, s, Config{Known: known, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if e.Model() != known.Model || e.Dimensions() != 4 || !strings.Contains(log.String(), "nothing listens") {
		t.Errorf("model %s, %d dimensions, log %s", e.Model(), e.Dimensions(), log.String())
	}
	if _, err := e.Embed(t.Context(), []string{"a"}, embed.Query); !errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("error %v while the server is down", err)
	}
	s.change(func(s *script) { s.down = nil })
	if v, err := e.Embed(t.Context(), []string{"a"}, embed.Query); err != nil || len(v[0]) != 4 {
		t.Errorf("%v, %v when the server is back", v, err)
	}
	s.change(func(s *script) { s.down = embed.ErrUnavailable })
	if _, err := e.Embed(t.Context(), []string{"a"}, embed.Query); !errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("error %v while the server is down again", err)
	}
	s.change(func(s *script) { s.down, s.id.Version = nil, "2" })
	_, err := e.Embed(t.Context(), []string{"a"}, embed.Query)
	if sentence(t, err, "now has another model (model@2, 4 dimensions) than the index was built with (model@1, 4 "+
		"dimensions): restart almanac"); errors.Is(err, embed.ErrUnavailable) {
		t.Error("another model is not a server that is down")
	}
	s.change(func(s *script) { s.id.Version = "1" })
	if _, err := e.Embed(t.Context(), []string{"a"}, embed.Query); err != nil {
		t.Errorf("the right model is back, but %v", err)
	}
}

func TestAModelReplacedUnderARunningServiceIsNoticed(t *testing.T) {
	s := newScript()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	e := open(t, s, Config{Now: func() time.Time { return now }})
	ask := func() error {
		_, err := e.Embed(t.Context(), []string{"a"}, embed.Document)
		return err
	}
	for range 5 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if s.identified != 1 {
		t.Errorf("the server was queried %d times for its model", s.identified)
	}
	s.id.Version = "2"
	now = now.Add(recheck)
	sentence(t, ask(), "now has another model")
	sentence(t, ask(), "now has another model")
}

func TestAnswersThatAreNoVectors(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		answer [][]float32
		want   string
	}{
		"too few":  {[][]float32{{1, 0, 0, 0}}, "returned 1 vectors for 2 texts"},
		"too many": {[][]float32{{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}, "returned 3 vectors for 2 texts"},
		"none":     {nil, "returned 0 vectors for 2 texts"},
		"other length": {[][]float32{{1, 0, 0, 0}, {1, 0, 0}},
			"vectors of 3 dimensions, but those in the index have 4: restart almanac"},
		"missing": {[][]float32{{1, 0, 0, 0}, nil}, "vectors of 0 dimensions, but"},
		"NaN":     {[][]float32{{1, 0, 0, 0}, {0, nan, 0, 0}}, "component 1 of a vector is NaN"},
		"infinity": {[][]float32{{0, 0, 0, 0}, {1, 0, 0, float32(math.Inf(-1))}},
			"component 3 of a vector is -Inf"},
		"zeros are one": {[][]float32{{1, 0, 0, 0}, {0, 0, 0, 0}}, ""},
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
			got, err := e.Embed(t.Context(), []string{"a", "b"}, embed.Document)
			if c.want == "" {
				if err != nil || len(got) != 2 {
					t.Errorf("%v, error %v", got, err)
				}
				return
			}
			sentence(t, err, c.want)
		})
	}
	s := newScript()
	s.answer = func([]string) ([][]float32, error) { return [][]float32{{}}, nil }
	_, err := Open(t.Context(), s, Config{})
	sentence(t, err, "returned vectors without components")
}

func TestTheFailingTextIsNamedInTheCallersNumbers(t *testing.T) {
	s := newScript()
	e := open(t, s, Config{})
	s.answer = func(texts []string) ([][]float32, error) {
		if slices.Contains(texts, "bad") {
			return nil, fails(toomuch)
		}
		return make([][]float32, len(texts)), nil
	}
	_, err := e.Embed(t.Context(), []string{"", " ", "bad", "good"}, embed.Document)
	sentence(t, err, "text 3: ")
}

func TestQueriesDoNotWaitForDocuments(t *testing.T) {
	s := newScript()
	e := open(t, s, Config{Prefixes: &Prefixes{Query: "q:"}, Concurrency: 1})
	wait := make(chan struct{})
	s.change(func(s *script) { s.wait = wait })
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := e.Embed(t.Context(), numbered(200), embed.Document); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := e.Embed(t.Context(), []string{"a"}, embed.Query); err != nil {
		t.Error(err)
	}
	close(wait)
	wg.Wait()
}

// TestTooSlowIsUnavailable is for callers with less patience than the server
// needs, whatever they wait for.
func TestTooSlowIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		known := Known{"model@1, 4 dimensions", 4}
		e := open(t, s, Config{})
		s.wait = make(chan struct{})
		for _, texts := range [][]string{numbered(1), numbered(100)} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := e.Embed(ctx, texts, embed.Query)
			sentence(t, err, "example at http://models.example.org is unavailable: no answer in time")
			if !errors.Is(err, embed.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
		}
		s.change(func(s *script) {
			s.wait, s.answer = nil, func([]string) ([][]float32, error) { return nil, fails(later) }
		}) // and again, after a pause
		e.batches.pause = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := e.Embed(ctx, numbered(1), embed.Query); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("error %v of a server that asks for more patience than there is", err)
		}
		s.change(func(s *script) { s.wait, s.answer = make(chan struct{}), nil })
		if _, err := Open(ctx, s, Config{}); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		if e, err := Open(ctx, s, Config{Known: known}); err != nil || e.Dimensions() != 4 {
			t.Errorf("error %v with a known model", err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := Open(stopped, s, Config{Known: known}); !errors.Is(err, context.Canceled) ||
			errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("error %v of a caller that stopped", err)
		}
	})
}
