// Package meili is a keyword engine on a Meilisearch server (1.18 or later;
// measured on 1.50).
//
// The server stores our terms, not the texts: it finds what the embedded engine
// finds, spelling and stemming are decided in one place, and the reranker and
// the highlighter recognise every word that is found. Queries and scoring are
// in plan.go.
//
// Index names an index of the server that is live, and is the base of names for
// those being built: generation 3 of "almanac" is built in "almanac-g3", and
// Promote makes it "almanac". A document next to the passages has the owner of
// the index, its generation, and its checkpoint. An index with another owner's, or
// without it, is refused and never touched, unless it has our settings to the letter:
// then it has lost it, and is built again.
package meili

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/meilisearch/meilisearch-go"

	"almanac/retrieval/keyword"
	"almanac/text/webaddress"
)

// Config says where the engine is and the name of its index.
type Config struct {
	URL string // http(s)://host[:port]
	// Key is an API key with the rights to search, documents.*, indexes.*, settings.* and tasks.get on Index*.
	Key        string
	Index      string            // name of the live index: letters, digits, - and _
	Generation int64             // of the index's content; see Format
	Owner      string            // of the index: a unique id of the catalog
	Epoch      int64             // of the writer: one below that of the index is refused
	ReadOnly   bool              // another process writes: Apply and Flush do nothing
	Timeout    time.Duration     // of one request; default 10 s
	Transport  http.RoundTripper // default: its own
	Log        *slog.Logger      // default: none
}

// Engine implements keyword.Engine. Apply, Checkpoint and Promote are called
// from one goroutine.
type Engine struct {
	client   meilisearch.ServiceManager
	http     *http.Client
	host     string // for messages
	timeout  time.Duration
	index    string
	manifest manifest // of the index, without checkpoint
	readOnly bool
	log      *slog.Logger

	state
}

var _ keyword.Engine = (*Engine)(nil)

var indexName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,380}$`)

// Open checks the configuration. It does not wait for the server: while that is
// down, or refuses, every call fails.
func Open(_ context.Context, cfg Config) (*Engine, error) {
	u, err := webaddress.Parse(cfg.URL)
	switch {
	case errors.Is(err, webaddress.ErrUser):
		return nil, errors.New("meili: the URL of the server must not hold a password: the key is configured " +
			"separately")
	case err != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("meili: the URL of the server must be http://host:port or https://host:port")
	}
	if !indexName.MatchString(cfg.Index) {
		return nil, fmt.Errorf("meili: index %q: a name is letters, digits, - and _", cfg.Index)
	}
	if cfg.Owner == "" || cfg.Generation < 1 {
		return nil, fmt.Errorf("meili: index %q needs an owner and a generation from 1", cfg.Index)
	}
	e := &Engine{host: u.Scheme + "://" + u.Host, timeout: cfg.Timeout, index: cfg.Index,
		readOnly: cfg.ReadOnly, log: cfg.Log,
		manifest: manifest{ID: manifestID, Owner: cfg.Owner, Generation: cfg.Generation, Format: Format,
			Epoch: cfg.Epoch}}
	if e.timeout == 0 {
		e.timeout = 10 * time.Second
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	transport := cfg.Transport
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.MaxIdleConnsPerHost = 16
		own.DisableCompression = true // compressing a response takes the server longer than the search
		transport = own
	}
	e.http = &http.Client{Transport: limited{transport}, Timeout: e.timeout,
		// the key is for one host
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	e.client = meilisearch.New(strings.TrimSuffix(cfg.URL, "/"), meilisearch.WithAPIKey(cfg.Key),
		meilisearch.WithCustomClient(e.http), meilisearch.DisableRetries())
	return e, nil
}

// Flush does nothing: the server has stored what Apply waited for.
func (e *Engine) Flush(context.Context) error { return nil }

// Close closes the connections. Other calls must have returned.
func (e *Engine) Close() error {
	e.http.CloseIdleConnections()
	return nil
}
