package embed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/golang/groupcache/lru"
)

// CacheConfig configures a Cache.
type CacheConfig struct {
	// Path is the file that keeps the vectors of documents; "" keeps none.
	// Several processes may share it.
	Path string
	// Known has vectors of documents that need not be embedded.
	Known Vectors
	// Queries is how many vectors of queries are kept in memory; default 1000.
	Queries int
	// Observe is called for each call with how many texts it had and how many of
	// them went to the model; may be nil.
	Observe func(texts, unknown int)
	Log     *slog.Logger // default: none
}

const defaultQueries = 1000

// Cache wraps an embedder and calls it only for texts it has not seen. Vectors
// of documents are kept in a file, so that rebuilding an index does not embed
// again; those of queries in memory, evicted least recently used first. Keys
// are hashes of model, purpose and text.
//
// The cache never fails a call: a file that cannot be used is logged and
// ignored, a damaged one is set aside and replaced by a new one. Callers must
// not modify the vectors.
type Cache struct {
	inner   Embedder
	file    *cacheFile // nil: not kept in a file
	vectors Vectors    // that came with the program
	observe func(texts, unknown int)
	log     *slog.Logger

	mu      sync.Mutex // guards queries
	queries *lru.Cache // of vectors by cacheKey
}

var _ Embedder = (*Cache)(nil)

// NewCache returns a cache around inner. Close it after use.
func NewCache(inner Embedder, c CacheConfig) *Cache {
	if c.Queries == 0 {
		c.Queries = defaultQueries
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	cache := &Cache{inner: inner, vectors: c.Known, queries: lru.New(c.Queries), observe: c.Observe, log: c.Log}
	if c.Path == "" {
		return cache
	}
	file, err := openCacheFile(c.Path, inner.Dimensions(), c.Log)
	if err != nil {
		c.Log.Warn("embedding cache is not used", "path", c.Path, "error", err)
		return cache
	}
	cache.file = file
	return cache
}

// Dimensions is that of the wrapped embedder.
func (c *Cache) Dimensions() int { return c.inner.Dimensions() }

// Model is that of the wrapped embedder.
func (c *Cache) Model() string { return c.inner.Model() }

// Close closes the file but not the wrapped embedder, which is the caller's.
func (c *Cache) Close() error {
	if c.file == nil {
		return nil
	}
	return c.file.close()
}

// cacheKey identifies a text under a model and purpose.
type cacheKey [sha256.Size]byte

func keyOf(model, text string, p Purpose) cacheKey {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s:%d:", len(model), model, p)
	h.Write([]byte(text))
	return cacheKey(h.Sum(nil))
}

// Embed returns the vectors of texts. The wrapped embedder gets each unknown
// text once, and never an empty one, whose vector is zero. The only errors are those
// of the embedder.
func (c *Cache) Embed(ctx context.Context, texts []string, p Purpose) ([][]float32, error) {
	keys := make([]cacheKey, len(texts))
	for i, text := range texts {
		keys[i] = keyOf(c.inner.Model(), text, p)
	}
	known := c.read(ctx, keys, p)
	known[keyOf(c.inner.Model(), "", p)] = make([]float32, c.Dimensions())
	var missing []string
	var missingKeys []cacheKey
	asked := make(map[cacheKey]bool)
	for i, k := range keys {
		if known[k] == nil && !asked[k] {
			asked[k] = true
			missing, missingKeys = append(missing, texts[i]), append(missingKeys, k)
		}
	}
	if c.observe != nil {
		c.observe(len(texts), len(missing))
	}
	if len(missing) > 0 {
		fresh, err := c.inner.Embed(ctx, missing, p)
		if err != nil {
			c.keep(ctx, missingKeys, fresh, p)
			return nil, err
		}
		if err := c.check(fresh, len(missing)); err != nil {
			return nil, err
		}
		for i, k := range missingKeys {
			known[k] = fresh[i]
		}
		c.write(ctx, missingKeys, fresh, p)
	}
	vectors := make([][]float32, len(texts))
	for i, k := range keys {
		vectors[i] = known[k]
	}
	return vectors, nil
}

// keep writes what a failed call has made, also while the caller stops.
func (c *Cache) keep(ctx context.Context, keys []cacheKey, vectors [][]float32, p Purpose) {
	var made [][]float32
	var of []cacheKey
	for i, v := range vectors[:min(len(vectors), len(keys))] {
		if v != nil && len(v) == c.inner.Dimensions() {
			made, of = append(made, v), append(of, keys[i])
		}
	}
	if len(made) > 0 {
		c.write(context.WithoutCancel(ctx), of, made, p)
	}
}

// check keeps a response of the wrong shape out of the cache.
func (c *Cache) check(vectors [][]float32, texts int) error {
	if len(vectors) != texts {
		return fmt.Errorf("embed: %s answered %d vectors for %d texts", c.inner.Model(), len(vectors), texts)
	}
	if i := slices.IndexFunc(vectors, func(v []float32) bool { return len(v) != c.inner.Dimensions() }); i >= 0 {
		return fmt.Errorf("embed: %s answered %d dimensions, not %d", c.inner.Model(), len(vectors[i]),
			c.inner.Dimensions())
	}
	return nil
}

func (c *Cache) read(ctx context.Context, keys []cacheKey, p Purpose) map[cacheKey][]float32 {
	known := make(map[cacheKey][]float32, len(keys))
	if p == Document {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k cacheKey) bool {
			if v := c.vectors.find(k, c.inner.Dimensions()); v != nil {
				known[k] = v
			}
			return known[k] != nil
		})
	}
	switch {
	case p == Query:
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, k := range keys {
			if v, ok := c.queries.Get(k); ok {
				known[k] = v.([]float32)
			}
		}
	case c.file != nil && len(keys) > 0:
		c.file.read(ctx, keys, known)
	}
	return known
}

func (c *Cache) write(ctx context.Context, keys []cacheKey, vectors [][]float32, p Purpose) {
	switch {
	case p == Query:
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, k := range keys {
			c.queries.Add(k, vectors[i])
		}
	case c.file != nil:
		c.file.write(ctx, keys, vectors)
	}
}

// Vectors are those of documents that were embedded before, by model and text, as
// numbers of 8 bits with a scale for each vector: what comes with the program need not
// be embedded where it runs.
type Vectors struct {
	dimensions int
	rows       []byte // in the order of their keys
}

// vectorsHeader begins the file; the number of dimensions follows in four bytes, then
// rows: eight bytes of the key, the scale as float32, the numbers.
const vectorsHeader = "almanac vectors 1\n"

const rowHead = 8 + 4

var errVectors = errors.New("embed: this is no file of vectors")

// ReadVectors reads a file in place.
func ReadVectors(file []byte) (v Vectors, err error) {
	rest, ok := bytes.CutPrefix(file, []byte(vectorsHeader))
	if !ok || len(rest) < 4 {
		return v, errVectors
	}
	v = Vectors{int(binary.LittleEndian.Uint32(rest)), rest[4:]}
	if v.dimensions == 0 || len(v.rows)%v.row() != 0 {
		return Vectors{}, errVectors
	}
	return v, nil
}

// EncodeVectors makes a file of the vectors of texts under a model.
func EncodeVectors(model string, texts []string, vectors [][]float32) []byte {
	rows := make([][]byte, len(texts))
	for i, v := range vectors {
		key := keyOf(model, texts[i], Document)
		var most float32
		for _, x := range v {
			most = max(most, x, -x)
		}
		scale := max(most, math.SmallestNonzeroFloat32) / math.MaxInt8
		row := binary.LittleEndian.AppendUint32(slices.Clone(key[:8]), math.Float32bits(scale))
		for _, x := range v {
			row = append(row, byte(int8(math.RoundToEven(float64(x/scale)))))
		}
		rows[i] = row
	}
	slices.SortFunc(rows, bytes.Compare)
	file := binary.LittleEndian.AppendUint32([]byte(vectorsHeader), uint32(len(vectors[0])))
	return append(file, bytes.Join(rows, nil)...)
}

func (v Vectors) row() int { return rowHead + v.dimensions }

// find returns the vector of a key; nil if it is not there.
func (v Vectors) find(k cacheKey, dimensions int) []float32 {
	if v.dimensions != dimensions {
		return nil
	}
	at := func(i int) []byte { return v.rows[i*v.row() : (i+1)*v.row()] }
	i, ok := sort.Find(len(v.rows)/v.row(), func(i int) int { return bytes.Compare(k[:8], at(i)[:8]) })
	if !ok {
		return nil
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(at(i)[8:]))
	vector := make([]float32, dimensions)
	for j, b := range at(i)[rowHead:] {
		vector[j] = float32(int8(b)) * scale
	}
	return vector
}
