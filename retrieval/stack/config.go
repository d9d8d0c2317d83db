package stack

import (
	"context"
	"log/slog"
	"time"

	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/retrieval"
	"almanac/retrieval/crossencoder"
)

// Config says which engines to open over which catalog. The catalog is the
// caller's, who closes it last.
type Config struct {
	Dir   string // data directory: lock, snapshots and, unless Kept says otherwise, the vectors of a transformer
	Kept  string // the file that keeps those; "": DIR/embeddings
	Store *sqlstore.Store

	Keyword Keyword
	Vector  Vector
	Embed   Embed
	Rerank  crossencoder.Config

	retrieval.Relevance
	Authority map[string]float64
	Deadline  time.Duration // of one search

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

// Keyword chooses the keyword engine. The tags of its fields, as those of the other
// sections, are their settings; see cmd/config.
type Keyword struct {
	URL   string `key:"url" doc:"Meilisearch server, such as http://localhost:7700; empty: the engine here"`
	Key   string `key:"key" secret:"true" doc:"its API key"`
	Index string `key:"index" default:"almanac" doc:"name of the index there"`
}

// Vector chooses the vector engine.
type Vector struct {
	URL        string `key:"url" doc:"Qdrant's gRPC, such as http://localhost:6334; of nodes with commas; or empty"`
	Key        string `key:"key" secret:"true" doc:"its API key"`
	Collection string `key:"collection" default:"almanac" doc:"name of the collection there"`
	Quantize   bool   `key:"quantize" default:"true" doc:"whether a new collection searches int8 vectors first"`
	OnDisk     bool   `key:"on_disk" default:"false" doc:"whether a new collection keeps the originals on disk"`
	Shards     int    `key:"shards" default:"0" doc:"shards of a new collection; 0: the server's default"`
	Replicas   int    `key:"replicas" default:"0" doc:"replicas of a new collection; 0: the server's default"`
}

// Embed chooses the embedding model. The catalog stores it of every generation, by the
// names of the fields, but for what is left out.
type Embed struct {
	URL       string        `key:"url" doc:"model server, such as http://localhost:11434; empty: a model in the program"`
	Kind      string        `key:"kind" default:"ollama" doc:"interface of the server: ollama, openai or tei"`
	Model     string        `key:"model" default:"auto" doc:"of the server; without one auto, table or bge-small-en-v1.5"`
	Key       string        `key:"key" secret:"true" doc:"bearer token of the server" json:"-"`
	Pull      bool          `key:"pull" default:"true" doc:"whether an Ollama server pulls a missing model" json:"-"`
	KeepAlive time.Duration `key:"keep_alive" default:"30m" doc:"how long Ollama keeps the model in memory"`
}

// Transformed reports whether the model is a transformer, be it on a server or here:
// it takes its time, and its cosines have a profile of their own.
func (e Embed) Transformed() bool { return e.URL != "" || e.inProgram() }

// inProgram reports whether the model is the transformer in the program, which takes the
// time of a core that searches need too.
func (e Embed) inProgram() bool { return e.URL == "" && e.Model == embed.Transformer }
