// Package archive writes a catalog as a portable corpus, and reads one into an
// empty catalog: ids, aliases, links, votes, events, snapshots and the state of
// its sources. Installation-specific state is left out: cursors,
// requests, the index and the salt of pseudonyms.
//
// The corpus is a directory. Its manifest.jsonl lists the files with content
// type and checksum, in the format that package ingest/snapshot reads;
// network.yaml describes the network; the other files are JSON lines:
//
//	records/SOURCE.jsonl    what a source owns, with what hangs on it
//	additions/SOURCE.jsonl  aliases, links and facts it adds to records of others
//	events/SOURCE.jsonl     dated changes, oldest first
//	snapshots.jsonl         captured states of the series
//	sources.jsonl           when each source was read last
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

const (
	manifestName = "manifest.jsonl"
	networkName  = "network.yaml"
	// format is the version of the files; a reader refuses others.
	format = 2
)

// Content types of the manifest's rows.
const (
	typeNetwork   = "catalog_network"
	typeRecords   = "catalog_records"
	typeAdditions = "catalog_additions"
	typeEvents    = "catalog_events"
	typeSnapshots = "catalog_snapshots"
	typeSources   = "catalog_sources"
)

var (
	// ErrNotEmpty: the directory to write to, or the catalog to read into, is
	// not empty.
	ErrNotEmpty = errors.New("not empty")
	// ErrDamaged: a file is missing, differs from the manifest or cannot be
	// understood.
	ErrDamaged = errors.New("the corpus is damaged")
)

// Summary counts what was written or read.
type Summary struct {
	Records, Additions, Events, Snapshots, Sources int
}

// row is a line of the manifest.
type row struct {
	Path   string `json:"path"`
	Type   string `json:"content_type"`
	Format int    `json:"format"`
	Source string `json:"source,omitempty"` // whose records, additions or events
	Lines  int    `json:"lines,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// meter counts and hashes the bytes written through it.
type meter struct {
	w    io.Writer
	hash hash.Hash
	n    int64
}

func newMeter(w io.Writer) *meter { return &meter{w: w, hash: sha256.New()} }

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.hash.Write(p[:n])
	m.n += int64(n)
	return n, err
}

func (m *meter) sum() string { return hex.EncodeToString(m.hash.Sum(nil)) }
