package embedded

import (
	"fmt"
	"slices"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// segment is an immutable part of the index: its records by ascending id, their
// terms, and for each unit the posting lists. The document numbers of unit
// Documents are those of the records.
type segment struct {
	ids      []int64  // of records, ascending
	dates    []int64  // of records: see passage.Attributes.UnixMicro
	first    []uint32 // of records: their first passage; and the number of passages
	ordinals []uint16 // of passages
	recordOf []uint32 // of passages
	attrs    attributes
	terms    vocabulary
	units    [2]postings // by keyword.Unit
}

func (s *segment) passageID(p int) passage.ID {
	return passage.NewID(s.ids[s.recordOf[p]], int(s.ordinals[p]))
}

// find returns the index of a record.
func (s *segment) find(id int64) (int, bool) { return slices.BinarySearch(s.ids, id) }

// size estimates the bytes of a segment, in memory and in its file.
func (s *segment) size() int {
	n := len(s.terms.text) + 4*s.terms.len() + 40*len(s.ids) + 6*len(s.ordinals)
	for u := range s.units {
		n += s.units[u].size()
	}
	return n
}

// derive fills in what is not stored.
func (s *segment) derive() {
	s.recordOf = make([]uint32, len(s.ordinals))
	for r := range s.ids {
		for p := s.first[r]; p < s.first[r+1]; p++ {
			s.recordOf[p] = uint32(r)
		}
	}
	s.terms.derive()
	for u := range s.units {
		s.units[u].derive()
	}
}

// maxRecord is the largest record id that leaves room for the ordinal of a
// passage.
const maxRecord = 1<<47 - 1

// validate checks a segment that was read from disk, so that no search of it can fail.
func (s *segment) validate() error {
	switch {
	case len(s.dates) != len(s.ids) || len(s.first) != len(s.ids)+1 || s.first[0] != 0 ||
		int(s.first[len(s.ids)]) != len(s.ordinals):
		return fmt.Errorf("columns of different lengths")
	case !ascending(s.first, false) || !ascending(s.ids, true):
		return fmt.Errorf("records out of order")
	case len(s.ids) > 0 && (s.ids[0] < 0 || s.ids[len(s.ids)-1] > maxRecord):
		return fmt.Errorf("record id out of range")
	}
	for r := range s.ids {
		if !ascending(s.ordinals[s.first[r]:s.first[r+1]], true) {
			return fmt.Errorf("passages out of order")
		}
	}
	if err := s.attrs.validate(len(s.ids)); err != nil {
		return err
	}
	if err := s.terms.validate(); err != nil {
		return err
	}
	for u, docs := range [...]int{keyword.Passages: len(s.ordinals), keyword.Documents: len(s.ids)} {
		if err := s.units[u].validate(s.terms.len(), docs); err != nil {
			return fmt.Errorf("lists of unit %d: %w", u, err)
		}
	}
	return nil
}

// ascending reports whether the numbers never decrease, or always increase.
func ascending[T uint16 | uint32 | int64](list []T, strictly bool) bool {
	for i := 1; i < len(list); i++ {
		if list[i] < list[i-1] || strictly && list[i] == list[i-1] {
			return false
		}
	}
	return true
}
