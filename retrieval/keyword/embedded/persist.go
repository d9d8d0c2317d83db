package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"golang.org/x/sync/errgroup"

	"almanac/retrieval/bitset"
	"almanac/retrieval/keyword"
	"almanac/retrieval/snapshot"
)

// format names what the files hold; another one is built again.
const format = "keyword 2"

// manifest is the state of a snapshot.
type manifest struct {
	Checkpoint int64
	Scoring    [2]Scoring // the lists are made with it
	Segments   []manifestSegment
}

type manifestSegment struct {
	File string
	Live string // file of the records that are not deleted; "": all
}

// written is what the snapshot has.
type written struct {
	searcher *searcher
	segments map[*segment]snapshot.File
	live     map[*segmentReader]snapshot.File
}

// Flush implements keyword.Engine: it writes the segments that are new and the
// deletions that changed.
func (e *Engine) Flush(ctx context.Context) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	s := e.searcher.Load()
	if s == nil {
		return errClosed
	}
	if e.store == nil || s == e.written.searcher {
		return nil
	}
	if err := e.write(ctx, s); err != nil {
		return fmt.Errorf("keyword: flush: %w", err)
	}
	return nil
}

func (e *Engine) write(ctx context.Context, s *searcher) error {
	next := written{s, map[*segment]snapshot.File{}, map[*segmentReader]snapshot.File{}}
	m := manifest{Checkpoint: s.checkpoint, Scoring: e.scoring}
	var files []snapshot.File
	for _, r := range s.readers {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, ok := e.written.segments[r.seg]
		if !ok {
			var err error
			if f, err = e.store.Create("segment", r.seg.write); err != nil {
				return err
			}
		}
		stored := manifestSegment{File: f.Name}
		next.segments[r.seg] = f
		files = append(files, f)
		if r.deadRecords > 0 {
			f, ok := e.written.live[r]
			if !ok {
				var err error
				f, err = e.store.Create("live", func(w *snapshot.Writer) { snapshot.Write(w, r.live[keyword.Documents]) })
				if err != nil {
					return err
				}
			}
			stored.Live = f.Name
			next.live[r] = f
			files = append(files, f)
		}
		m.Segments = append(m.Segments, stored)
	}
	if err := e.store.Commit(files, m); err != nil {
		return err
	}
	e.written = next
	return nil
}

// load reads the snapshot, if it can be used.
func (e *Engine) load(dir string) error {
	err := snapshot.Read(dir, format, func(s *snapshot.Snapshot) (err error) {
		e.written, err = read(s, &e.scoring)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.log.Info("no snapshot yet", "path", dir)
	case errors.Is(err, snapshot.ErrDamaged) || errors.Is(err, snapshot.ErrFormat):
		e.log.Warn("snapshot not used, the index starts empty", "path", dir, "error", err)
	case err != nil:
		return err
	}
	if err != nil {
		e.written = written{searcher: newSearcher(nil, 0)}
	}
	return nil
}

// read reads the segments of a snapshot at the same time.
func read(s *snapshot.Snapshot, scoring *[2]Scoring) (w written, err error) {
	var m manifest
	if err := s.State(&m); err != nil {
		return w, err
	}
	if m.Scoring != *scoring {
		return w, fmt.Errorf("%w: with another scoring", snapshot.ErrFormat)
	}
	readers := make([]*segmentReader, len(m.Segments))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, stored := range m.Segments {
		g.Go(func() (err error) {
			readers[i], err = readSegment(s, stored)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return w, err
	}
	w = written{newSearcher(readers, m.Checkpoint), map[*segment]snapshot.File{}, map[*segmentReader]snapshot.File{}}
	seen := map[int64]bool{}
	for i, r := range readers {
		w.segments[r.seg], _ = s.File(m.Segments[i].File)
		if f, ok := s.File(m.Segments[i].Live); ok {
			w.live[r] = f
		}
		for at, id := range r.seg.ids {
			if r.deadRecords > 0 && !r.live[keyword.Documents].Has(at) {
				continue
			}
			if seen[id] {
				return w, fmt.Errorf("%w: record %d is in two segments", snapshot.ErrDamaged, id)
			}
			seen[id] = true
		}
	}
	return w, nil
}

func readSegment(s *snapshot.Snapshot, stored manifestSegment) (*segmentReader, error) {
	seg := &segment{}
	if err := s.Read(stored.File, seg.read); err != nil {
		return nil, err
	}
	r := newReader(seg)
	if stored.Live == "" {
		return r, nil
	}
	err := s.Read(stored.Live, func(f *snapshot.Reader) error {
		live := bitset.Set(snapshot.Next[uint64](f))
		if len(live) != bitset.Words(len(seg.ids)) {
			return fmt.Errorf("%w: deletions of another segment", snapshot.ErrDamaged)
		}
		var dead []int64
		for at, id := range seg.ids {
			if !live.Has(at) {
				dead = append(dead, id)
			}
		}
		r = r.without(dead)
		return nil
	})
	return r, err
}

// write writes what read reads.
func (s *segment) write(w *snapshot.Writer) {
	snapshot.Write(w, s.ids)
	snapshot.Write(w, s.dates)
	snapshot.Write(w, s.first)
	snapshot.Write(w, s.ordinals)
	snapshot.Write(w, s.attrs.encode())
	snapshot.Write(w, s.attrs.of)
	snapshot.Write(w, []byte(s.terms.text))
	snapshot.Write(w, s.terms.offsets)
	for u := range s.units {
		p := &s.units[u]
		snapshot.Write(w, p.lengths)
		snapshot.Write(w, p.freqs)
		snapshot.Write(w, p.uses)
		snapshot.Write(w, p.df)
		snapshot.Write(w, p.blockLast)
		snapshot.Write(w, p.blockMax)
		snapshot.Write(w, p.blockStart)
		snapshot.Write(w, p.data)
	}
}

func (s *segment) read(r *snapshot.Reader) error {
	s.ids = snapshot.Next[int64](r)
	s.dates = snapshot.Next[int64](r)
	s.first = snapshot.Next[uint32](r)
	s.ordinals = snapshot.Next[uint16](r)
	words := snapshot.Next[byte](r)
	s.attrs.of = snapshot.Next[uint32](r)
	s.terms.text = string(snapshot.Next[byte](r))
	s.terms.offsets = snapshot.Next[uint32](r)
	for u := range s.units {
		p := &s.units[u]
		p.lengths = snapshot.Next[float32](r)
		p.freqs = snapshot.Next[float64](r)
		p.uses = snapshot.Next[uint32](r)
		p.df = snapshot.Next[uint32](r)
		p.blockLast = snapshot.Next[uint32](r)
		p.blockMax = snapshot.Next[float32](r)
		p.blockStart = snapshot.Next[uint32](r)
		p.data = snapshot.Next[byte](r)
	}
	err := s.attrs.decode(words)
	if err == nil {
		err = s.validate()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", snapshot.ErrDamaged, err)
	}
	s.derive()
	return nil
}
