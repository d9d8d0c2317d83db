package embedded

import (
	"context"

	"almanac/retrieval/keyword"
	"almanac/retrieval/snapshot"
)

// Compact merges all segments into one.
func (e *Engine) Compact() {
	e.writing.Lock()
	defer e.writing.Unlock()
	s := e.searcher.Load()
	e.searcher.Store(newSearcher([]*segmentReader{newReader(merge(s.readers, &e.scoring))}, s.checkpoint))
}

// Segments is the number of segments, Dead that of their deleted records.
func (e *Engine) Segments() int { return len(e.searcher.Load().readers) }

func (e *Engine) Dead() (n int) {
	for _, r := range e.searcher.Load().readers {
		n += r.deadRecords
	}
	return n
}

// Size is what the segments themselves take, in bytes.
func (e *Engine) Size() (n int) {
	for _, r := range e.searcher.Load().readers {
		n += r.seg.size()
	}
	return n
}

// At is the checkpoint.
func (e *Engine) At() int64 {
	at, _ := e.Checkpoint(context.Background())
	return at
}

// Format is that of snapshots, Sections the number of sections of a segment.
const (
	Format   = format
	Sections = 8 + 2*8
)

// ManifestOf returns the state of a snapshot that has one segment.
func ManifestOf(f snapshot.File) any {
	return manifest{Checkpoint: 1, Segments: []manifestSegment{{File: f.Name}},
		Scoring: [2]Scoring{DefaultScoring(keyword.Passages), DefaultScoring(keyword.Documents)}}
}
