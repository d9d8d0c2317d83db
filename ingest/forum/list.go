package forum

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"strings"
	"time"
)

const (
	// overlap is how far a list is read beyond the latest activity of the previous
	// run: activity is set back when a last post is deleted.
	overlap = time.Hour
	// maxPages limits a list; a forum of a million topics has 10,000 pages.
	maxPages = 40_000
)

var (
	errEndless = errors.New("/latest.json: the list of topics does not end")
	errRepeats = errors.New("/latest.json: a page announces more topics but has no new one")
)

// listed is a topic of the list.
type listed struct {
	id   int64
	line uint64 // its fingerprint
}

// list reads the list of topics, latest activity first: all of it, or down to
// the start of the previous run.
func (s *syncRun) list(ctx context.Context, all bool) ([]listed, error) {
	var out []listed
	met := map[int64]bool{}
	for page := range maxPages {
		answer, err := s.api.topics(ctx, page)
		if err != nil {
			return nil, err
		}
		fresh, old := 0, len(answer.List.Topics) > 0
		for i, raw := range answer.List.Topics {
			var l line
			err := json.Unmarshal(raw, &l)
			if err == nil {
				err = l.check()
			}
			if err != nil {
				s.out.Skip(s.place(l, page, i), err)
				s.keepLine(l)
				continue
			}
			id := int64(*l.ID)
			if pinned := l.Pinned || l.Globally; !pinned && l.Bumped.After(s.known.Bumped.Add(-overlap)) {
				old = false
			}
			if met[id] {
				continue // it moved down meanwhile
			}
			met[id] = true
			fresh++
			if l.Bumped.After(s.now.Bumped) {
				s.now.Bumped = l.Bumped.Time
			}
			if s.wanted(l.about) {
				out = append(out, listed{id, s.fingerprint(l)})
			}
		}
		switch {
		case len(answer.List.Topics) == 0 || answer.List.More == "" || !all && old:
			return out, nil
		case fresh == 0:
			return nil, errRepeats
		}
	}
	return nil, errEndless
}

// place names a line of the list that cannot be read.
func (s *syncRun) place(l line, page, i int) string {
	if l.ID != nil && *l.ID > 0 {
		return topicKey(int64(*l.ID))
	}
	return fmt.Sprintf("/latest.json page %d topic %d", page, i+1)
}

// keepLine keeps a topic whose line in the list cannot be read.
func (s *syncRun) keepLine(l line) {
	if l.ID == nil {
		return
	}
	if old, ok := s.known.Topics[int64(*l.ID)]; ok {
		s.keep(int64(*l.ID), seen{0, old.Posts})
	}
}

// wanted reports whether readers of the forum see a topic and the options do not
// exclude its category.
func (s *syncRun) wanted(t about) bool {
	return (t.Visible == nil || *t.Visible) && t.Archetype != "private_message" && !s.where[int64(t.Category)].excluded
}

// fingerprint is a hash of a topic's line in the list: it changes when the topic
// has to be read again. Views count in steps of an eighth to a quarter, so that
// a topic is not read again for every view.
func (s *syncRun) fingerprint(l line) uint64 {
	h := fnv.New64a()
	where := s.where[int64(l.Category)]
	fmt.Fprintf(h, "%s\x1f%s\x1f%d\x1f%d\x1f%d\x1f%d\x1f%s\x1f%s\x1f%s\x1f%t%t%t%t\x1f%s\x1f%s",
		*l.Title, l.Slug, l.Posts, l.Highest, step(int64(l.Views)), l.Likes,
		l.Bumped.UTC().Format(time.RFC3339Nano), where.name, where.path,
		l.Closed, l.Archived, l.Pinned || l.Globally, l.Solved, strings.Join(l.Tags, "\x1e"), l.LastPoster)
	return max(h.Sum64(), 1) // 0 means: read again
}

// step keeps the three leading bits of a count and its magnitude.
func step(n int64) int64 {
	if n < 8 {
		return n
	}
	shift := bits.Len64(uint64(n)) - 3
	return int64(shift)<<3 | n>>shift
}
