package corpus

import (
	"context"
	"slices"
	"sync"

	"github.com/golang/groupcache/lru"
)

// Store reads the documents of a corpus that are not in memory, and keeps those that were
// read last.
type Store struct {
	read Read
	most int // bytes that are kept

	mu      sync.Mutex // guards everything below
	edition int        // counts the changes
	kept    *lru.Cache // of encoded documents by record
	bytes   int        // of these
}

// Read calls fn for each of the documents of records that are stored. fn does not keep data.
type Read func(ctx context.Context, records []int64, fn func(record int64, data []byte) error) error

// NewStore returns a store that keeps some bytes of documents.
func NewStore(read Read, most int) *Store {
	s := &Store{read: read, most: most, kept: lru.New(0)}
	s.kept.OnEvicted = func(_ lru.Key, raw any) { s.bytes -= len(raw.(string)) }
	return s
}

// documents returns the encoded documents of records, by record.
func (s *Store) documents(ctx context.Context, records []int64) (map[int64]string, error) {
	found := make(map[int64]string, len(records))
	missing, edition := s.known(records, found)
	if len(missing) == 0 {
		return found, nil
	}
	var fresh []int64
	err := s.read(ctx, missing, func(record int64, data []byte) error {
		d, err := Decode(record, string(data))
		if err == nil {
			found[record], fresh = d.raw, append(fresh, record)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.keep(fresh, found, edition)
	return found, nil
}

// known puts what is kept into found, and returns the other records and the edition.
func (s *Store) known(records []int64, found map[int64]string) (missing []int64, edition int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		if raw, ok := s.kept.Get(r); ok {
			found[r] = raw.(string)
		} else {
			missing = append(missing, r)
		}
	}
	slices.Sort(missing) // as they are stored
	return slices.Compact(missing), s.edition
}

// keep keeps documents that were read since an edition, unless they may be older than the
// newest by now.
func (s *Store) keep(records []int64, found map[int64]string, edition int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if edition != s.edition {
		return
	}
	for _, r := range records {
		s.kept.Remove(r) // another search may have read it too
		s.kept.Add(r, found[r])
		s.bytes += len(found[r])
	}
	for s.bytes > s.most {
		s.kept.RemoveOldest()
	}
}

// forget drops the documents of which a change has others. s may be nil.
func (s *Store) forget(c Change) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edition++
	if c.Whole {
		s.kept.Clear()
	}
	for _, r := range c.records {
		s.kept.Remove(r)
	}
}
