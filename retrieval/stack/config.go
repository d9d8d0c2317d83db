package stack

import (
	"context"
	"log/slog"
	"time"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval/profile"
)

// Config says which engines to open over which catalog. The catalog is the
// caller's, who closes it last.
type Config struct {
	Dir   string // data directory: lock, snapshots and, unless Kept says otherwise, the vectors of a transformer
	Kept  string // the file that keeps those; "": DIR/embeddings
	Store catalog.Store

	Keyword Keyword
	Vector  Vector
	Embed   Embed
	Rerank  Rerank

	Profiles    []profile.Profile // one of them is named profile.DefaultName
	Transformer *profile.Profile  // see retrieval.Relevance
	Authority   map[string]float64
	Aliases     map[string][]string
	Deadline    time.Duration // of one search

	// Vectors come with the program: their texts need not be embedded.
	Vectors embed.Vectors

	// Embedded is called for texts whose vectors are needed with how many there are,
	// and how many of them the cache did not have; may be nil.
	Embedded func(texts, unknown int)

	// Progress is called when CatchUp begins; set then says how many changes of how
	// many are indexed. nil: nobody watches.
	Progress func() (set func(done, total int), end func())

	Stored    bool  // documents stay in the catalog, see index.Config
	Temporary bool  // Close drops the indexes on servers
	Sealed    error // why directory and catalog can only be read; nil: they can be written
	Log       *slog.Logger

	looks bool                  // at what is there, and makes no generation
	yield func(context.Context) // see index.Config
	epoch int64                 // of the lock that its writer holds
}

// Keyword chooses the keyword engine.
type Keyword struct {
	URL   string // of a Meilisearch server; empty: the engine in this process
	Key   string
	Index string // its name on the server
}

// Vector chooses the vector engine.
type Vector struct {
	URL              string // of the gRPC interface of Qdrant, of its nodes with commas; empty: the engine here
	Key              string
	Collection       string // its name on the server
	Quantize, OnDisk bool
	Shards, Replicas int // 0: the server's setting
}

// Embed chooses the embedding model.
type Embed struct {
	URL       string // of a model server; empty: a model in this process
	Kind      string // ollama, openai or tei
	Model     string // of the server, or in this process: embed.Auto, embed.Transformer, else the table
	Key       string
	Pull      bool          // whether an Ollama server fetches a model that it lacks
	KeepAlive time.Duration // how long an Ollama server keeps the model in memory
}

// Transformed reports whether the model is a transformer, be it on a server or here:
// it takes its time, and its cosines have a profile of their own.
func (e Embed) Transformed() bool { return e.URL != "" || e.inProgram() }

// inProgram reports whether the model is the transformer in the program, which takes the
// time of a core that searches need too.
func (e Embed) inProgram() bool { return e.URL == "" && e.Model == embed.Transformer }

// Rerank chooses the cross-encoder.
type Rerank struct {
	URL      string // of its server; empty: none
	Kind     string // tei or llamacpp
	Model    string
	Key      string
	Deadline time.Duration
}
