package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"time"
)

// overlap is how far before the newest item seen a feed starts the next time:
// changes of the same moment may become visible one after another, and a comment
// may have been seen before its issue was listed.
const overlap = 15 * time.Minute

// feed is a list that the forge can order by the time of an item's last
// change and begin at a time: issues, comments.
type feed[T any] struct {
	path  string
	query url.Values
	since time.Time // zero: from the beginning
	// stamp names an item and says when it last changed.
	stamp func(T) (id int64, updated time.Time)
	// bad reports an item that cannot be read.
	bad func(raw json.RawMessage, err error)
	// items receives the items of a page that were on no page before.
	items func([]T) error
	// reached receives the time up to which everything was read.
	reached func(time.Time)
}

// read reads the feed. Paging by number would lose items: one that changes
// meanwhile moves to the end, and all items after it move to the previous page.
// So each request begins at the last item's time instead, a second earlier, so
// that no item of the same second is lost.
//
// Pages are requested by number only if more items than fit on a page share a
// second. What moves between these is found by the next run from the beginning.
func (f feed[T]) read(ctx context.Context, c *client) error {
	p := &scan[T]{feed: f, client: c, seen: map[int64]time.Time{}, reported: map[string]bool{}}
	newest := f.since
	if !f.since.IsZero() {
		p.begin = f.since.Add(-overlap)
	}
	number := 1
	for range maxPages {
		at, err := p.page(ctx, number)
		if err != nil {
			return err
		}
		if at.size > 0 && at.last.IsZero() {
			return fmt.Errorf("%s: none of %d items %w", f.path, at.size, errNoStamp)
		}
		newest = later(newest, at.last)
		next := at.last.Add(-time.Second)
		switch {
		case !at.more:
			f.reached(p.upTo(newest))
			return nil
		case at.ordered && next.After(p.begin):
			f.reached(p.upTo(newest))
			p.begin, number = next, 1
		case at.fresh == 0 && number > 1:
			return fmt.Errorf("%s: %w", f.path, errEndless)
		default:
			number++
		}
	}
	return fmt.Errorf("%s: %w after %d of them", f.path, errEndless, maxPages)
}

// scan is one reading of a feed.
type scan[T any] struct {
	feed[T]
	client   *client
	begin    time.Time
	seen     map[int64]time.Time // last changes of the items passed on
	reported map[string]bool     // bad items that were reported
	again    time.Time           // the first change of an item after it was passed on; zero for none
}

// upTo returns the time up to which every change was seen. An item that changed
// again after it was passed on is left to the next run.
func (p *scan[T]) upTo(newest time.Time) time.Time {
	if !p.again.IsZero() && p.again.Before(newest) {
		return p.again
	}
	return newest
}

// sheet is the content of a page.
type sheet struct {
	size    int       // items
	fresh   int       // items that were on no page before
	last    time.Time // of the last item
	ordered bool
	more    bool
}

// page reads a page and passes on its new items.
func (p *scan[T]) page(ctx context.Context, number int) (sheet, error) {
	q := url.Values{"sort": {"updated"}, "direction": {"asc"}}
	maps.Copy(q, p.query)
	if !p.begin.IsZero() {
		q.Set("since", p.begin.UTC().Format(time.RFC3339))
	}
	raw, more, err := p.client.page(ctx, call{path: p.path, query: q, last: true}, number)
	if err != nil {
		return sheet{}, err
	}
	at, items := p.decode(raw)
	at.more = more
	return at, p.items(items)
}

// decode reads the items of a page and returns those that are new.
func (p *scan[T]) decode(raw []json.RawMessage) (at sheet, items []T) {
	at = sheet{size: len(raw), ordered: true}
	for _, r := range raw {
		var item T
		err := json.Unmarshal(r, &item)
		id, updated := p.stamp(item)
		if err == nil && (id == 0 || updated.IsZero()) {
			err = errNoStamp
		}
		if err != nil {
			if !p.reported[string(r)] {
				p.reported[string(r)] = true
				p.bad(r, err)
			}
			continue
		}
		if updated.Before(at.last) {
			at.ordered = false
		} else {
			at.last = updated
		}
		if before, ok := p.seen[id]; ok {
			if !before.Equal(updated) && (p.again.IsZero() || updated.Before(p.again)) {
				p.again = updated
			}
			continue
		}
		p.seen[id] = updated
		items = append(items, item)
	}
	at.fresh = len(items)
	return at, items
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
