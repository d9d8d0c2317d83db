package listing

import (
	"context"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
)

// Each reads a list of which all items are known beforehand: what changed of them,
// with read, which makes an item's record of its content. An item that cannot be
// read keeps its record, and so does one whose address is gone, for which gone is the
// reason to report. What is no longer in the list has no record.
func Each(ctx context.Context, c Config, items []Item, gone error,
	read func(i int, content []byte) (catalog.Entry, error)) (State, ingest.Outcome, error) {
	r := NewRun(c)
	for i, it := range items {
		answer, found, err := r.content(ctx, &it)
		if ctx.Err() != nil {
			return State{}, ingest.Outcome{}, ctx.Err()
		}
		var e catalog.Entry
		switch found {
		case Gone:
			err = gone
		case Fresh:
			e, err = read(i, answer.Body)
		}
		switch {
		case err != nil:
			r.Fail(it, err)
		case found == Fresh:
			if err := r.Put(ctx, it, e, answer); err != nil {
				return State{}, ingest.Outcome{}, err
			}
		}
		c.Out.Progress(i+1, len(items))
	}
	return r.Now, ingest.Outcome{Complete: r.Whole()}, r.Close()
}

// content reads an item, from its file or by a request. The stamp of a file is that
// of its content. A known item that is gone is known still.
func (r *Run) content(ctx context.Context, it *Item) (outbound.Response, Found, error) {
	old, known := r.Known.Items[it.Name]
	if it.Open == nil {
		answer, found, err := r.Ask(ctx, *it)
		if found == Gone && known {
			r.Known.Items[it.Name] = old
		}
		return answer, found, err
	}
	data, err := it.Open()
	if err != nil {
		return outbound.Response{}, Failed, err
	}
	if it.Stamp = Stamp(data); known && !old.Pending && old.Stamp == it.Stamp {
		r.Keep(it.Name)
		return outbound.Response{}, Kept, nil
	}
	return outbound.Response{Body: data}, Fresh, nil
}
