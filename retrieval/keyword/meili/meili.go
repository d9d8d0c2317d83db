// Package meili is a keyword engine on a Meilisearch server (1.18 or later;
// measured on 1.50).
//
// The server holds our terms, not the texts: it finds what the embedded
// engine finds, spelling and stemming are decided in one place, and a word
// that is found is one that the reranker and the highlighter know. What the
// server is asked, and how its answers are scored, is in plan.
//
// Index names an index of the server that is live, and is the base of names
// for those being built: generation 3 of "almanac" is built in "almanac-g3",
// and Promote makes it "almanac". A document beside the passages says whose
// the index is, which generation, and up to which change. An index without
// it, or with another owner's, is refused and never touched.
package meili

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/meilisearch/meilisearch-go"

	"almanac/retrieval/keyword"
)

// Config says where the engine is and what it is called there.
type Config struct {
	URL        string // http(s)://host[:port]
	Key        string // API key with the rights to search, documents.*, indexes.*, settings.* and tasks.get on Index*
	Index      string // name of the live index: letters, digits, - and _
	Generation int64  // of the index's content, see Format
	Owner      string // whose the index is: an id of the catalog that no other has
	ReadOnly   bool   // another process writes: Apply and Flush do nothing
	Synonyms   map[string][]string
	StopWords  []string
	// Lists is how many of a query's rarest terms head a list of their own;
	// default and most 10, six of which are also asked for where they stand
	// out. What a search finds and what it costs the server grow with it: where
	// another engine finds passages by all of their terms and their
	// frequencies, 4 are enough.
	Lists     int
	Timeout   time.Duration     // of one request; default 10 s
	Transport http.RoundTripper // default: one of its own
	Log       *slog.Logger      // default: none
}

// Engine implements keyword.Engine. Apply, Checkpoint and Promote are called
// from one goroutine.
type Engine struct {
	client   meilisearch.ServiceManager
	http     *http.Client
	host     string // for messages
	timeout  time.Duration
	index    string
	mark     mark // of the index, without checkpoint
	readOnly bool
	settings *meilisearch.Settings
	stop     map[string]bool // stop words in our spelling
	lists    int             // most of a search
	loud     int             // and so many beside them
	log      *slog.Logger

	state
}

var _ keyword.Engine = (*Engine)(nil)

var indexName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,380}$`)

// Open checks the configuration. It does not wait for the server: one that is
// down, or refuses, is an error of every call until it is there.
func Open(_ context.Context, cfg Config) (*Engine, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("meili: the URL of the server must be http://host:port or https://host:port")
	}
	if u.User != nil {
		return nil, errors.New("meili: the URL of the server must not hold a password: the key is configured by itself")
	}
	if !indexName.MatchString(cfg.Index) {
		return nil, fmt.Errorf("meili: index %q: a name is letters, digits, - and _", cfg.Index)
	}
	if cfg.Owner == "" || cfg.Generation < 1 {
		return nil, fmt.Errorf("meili: index %q needs an owner and a generation from 1", cfg.Index)
	}
	synonyms, err := synonymsOf(cfg.Synonyms)
	if err != nil {
		return nil, fmt.Errorf("meili: %w", err)
	}
	e := &Engine{host: u.Scheme + "://" + u.Host, timeout: cfg.Timeout, index: cfg.Index, readOnly: cfg.ReadOnly, log: cfg.Log,
		mark:     mark{ID: markID, Owner: cfg.Owner, Generation: cfg.Generation, Format: Format},
		settings: settingsOf(synonyms, stopWordsOf(cfg.StopWords)), stop: map[string]bool{}}
	for _, word := range e.settings.StopWords {
		e.stop[word] = true
	}
	if e.lists, e.loud = headLists, loudHeads; cfg.Lists > 0 {
		e.lists, e.loud = min(cfg.Lists, headLists), 0
	}
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
		own.DisableCompression = true // of an answer takes the server longer than the search
		transport = own
	}
	e.http = &http.Client{Transport: limited{transport}, Timeout: e.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a key is for one host
	e.client = meilisearch.New(strings.TrimSuffix(cfg.URL, "/"), meilisearch.WithAPIKey(cfg.Key),
		meilisearch.WithCustomClient(e.http), meilisearch.DisableRetries())
	return e, nil
}

// Flush does nothing: the server keeps what Apply has waited for.
func (e *Engine) Flush(context.Context) error { return nil }

// Close ends the connections. Other calls must have returned.
func (e *Engine) Close() error {
	e.http.CloseIdleConnections()
	return nil
}
