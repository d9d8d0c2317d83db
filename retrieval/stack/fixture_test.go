package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

// newConfig is the configuration of a directory with so many documents.
func newConfig(t *testing.T, documents int) Config {
	t.Helper()
	dir := t.TempDir()
	cfg := Config{Dir: dir, Store: openStore(t, dir), Log: slog.New(slog.DiscardHandler)}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Profiles = []ranking.Profile{p}
	put(t, cfg.Store, 0, documents)
	return cfg
}

func openStore(t *testing.T, dir string) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// put writes documents from one number to another.
func put(t *testing.T, store *sqlstore.Store, from, to int) {
	t.Helper()
	var entries []catalog.Entry
	for n := from; n < to; n++ {
		entries = append(entries, catalog.Entry{Record: catalog.Record{
			Kind: catalog.KindDoc, Key: fmt.Sprintf("page-%03d", n), Title: fmt.Sprintf("Page %d", n),
			Data: []byte("{}"),
			Body: fmt.Sprintf("The harbour has a beacon, number%d, which the tugs pass at every tide.", n),
		}})
	}
	if _, err := store.Apply(t.Context(), catalog.Batch{Source: "site", Entries: entries}); err != nil {
		t.Fatal(err)
	}
}

// found is how many documents a search finds; 0 while it is not ready.
func found(t *testing.T, s retrieval.Searcher) int {
	t.Helper()
	res, err := s.Search(t.Context(), retrieval.Request{Query: "harbour beacon", Limit: 100})
	if err != nil && !errors.Is(err, retrieval.ErrNotReady) {
		t.Fatal(err)
	}
	return res.Total
}

// messages keeps what is logged.
type messages struct {
	slog.Handler
	mu          sync.Mutex
	all, errors []string
}

func newMessages() *messages { return &messages{Handler: slog.DiscardHandler} }

func (m *messages) Enabled(context.Context, slog.Level) bool { return true }
func (m *messages) Handle(_ context.Context, r slog.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, r.Message)
	if r.Level >= slog.LevelError {
		m.errors = append(m.errors, r.Message)
	}
	return nil
}

func (m *messages) hold(message string) bool { return m.count(message) > 0 }

func (m *messages) count(message string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, said := range m.all {
		if said == message {
			n++
		}
	}
	return n
}

// running is a keeper at work.
type running struct {
	*Keeper
	log  *messages
	stop func() // and wait
}

// keep runs a keeper until it is stopped or the test ends.
func keep(t *testing.T, cfg KeeperConfig, work func(*Keeper, context.Context) error) running {
	t.Helper()
	log := newMessages()
	cfg.Log = slog.New(log)
	k := NewKeeper(cfg)
	k.look, k.retry, k.patience = 10*time.Millisecond, 10*time.Millisecond, 50*time.Millisecond
	k.outage = time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- work(k, ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ended, k.Close()); err != nil {
			t.Errorf("keeper: %v", err)
		}
	})
	t.Cleanup(stop)
	return running{k, log, stop}
}

// modelServer speaks OpenAI's interface for embeddings; a vector counts the
// words of a text by their hash.
type modelServer struct {
	*httptest.Server
	down atomic.Bool
	held sync.RWMutex // passages wait while it is locked, queries do not
	shut sync.RWMutex // everything waits while it is locked
	asks atomic.Int64

	refused atomic.Int64 // requests while it was down
}

func newModelServer(t *testing.T) *modelServer {
	t.Helper()
	s := &modelServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.shut.RLock()
		defer s.shut.RUnlock()
		var request struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if s.down.Load() {
			s.refused.Add(1)
			http.Error(w, "restarting", http.StatusServiceUnavailable)
			return
		}
		if len(request.Input) > 1 {
			s.asks.Add(1)
			s.held.RLock()
			defer s.held.RUnlock()
		}
		type embedding struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var answer struct {
			Data []embedding `json:"data"`
		}
		for i, text := range request.Input {
			v := make([]float32, 32)
			for word := range strings.FieldsSeq(text) {
				h := fnv.New32()
				h.Write([]byte(word))
				v[h.Sum32()%32]++
			}
			answer.Data = append(answer.Data, embedding{i, v})
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *modelServer) embed() Embed { return Embed{URL: s.URL, Kind: "openai", Model: "buoy-talk"} }
