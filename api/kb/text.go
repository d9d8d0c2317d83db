package kb

import (
	"cmp"
	"context"
	"strconv"
	"unicode/utf8"

	"almanac/api/op"
	"almanac/catalog"
)

// textLimit is the most characters of one text in one answer.
const textLimit = 50_000

// Text is a part of a long text.
type Text struct {
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Cut returns the part of a text that begins at the cursor, which an earlier
// answer gave: the byte where that part ended.
func Cut(text string, cursor Cursor) (Text, error) {
	start := 0
	if cursor != "" {
		n, err := strconv.Atoi(string(cursor))
		if err != nil || n < 0 || n >= len(text) || !utf8.RuneStart(text[n]) {
			return Text{}, badCursor
		}
		start = n
	}
	rest := text[start:]
	chars := 0
	for i := range rest {
		if chars == textLimit {
			return Text{Content: rest[:i], Truncated: true, NextCursor: strconv.Itoa(start + i)}, nil
		}
		chars++
	}
	return Text{Content: rest}, nil
}

var badCursor = op.InvalidField("cursor", "must be a next_cursor of an earlier answer")

// Read returns a part of a record's text, or of its summary if it has no text.
func Read(r catalog.Record, cursor Cursor) (Text, error) {
	return Cut(cmp.Or(r.Body, r.Summary), cursor)
}

// Record finds the record that an id names: a record id, the id of an
// improvement proposal, or the path of a file.
func (b Base) Record(ctx context.Context, id RecordID) (catalog.Record, error) {
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil && n >= catalog.FirstID {
		r, err := b.Catalog.ByID(ctx, n)
		return r, NotFound(err, "there is no record %d: ids are those of search results", n)
	}
	// Only as search results write it: another number is rather a mistake.
	p := b.Network.Proposals
	if key, ok := p.ParseID(string(id)); ok && (string(id) == p.ID(key) || string(id) == key) {
		r, err := b.Catalog.Get(ctx, catalog.Ref{Kind: catalog.KindCIP, Key: key})
		return r, NotFound(err, "there is no %s", key)
	}
	if _, err := strconv.Atoi(string(id)); err == nil {
		return catalog.Record{}, op.NotFound("there is no record %s: ids are those of search results", id)
	}
	records, err := b.Catalog.ByPath(ctx, string(id))
	if err == nil && len(records) == 0 {
		err = op.NotFound("there is no document %q: use the id or the path of a search result", id)
	}
	if err != nil {
		return catalog.Record{}, err
	}
	return records[0], nil
}

// Numbered finds a record of a kind whose keys are numbers, by its number or
// its record id.
func (b Base) Numbered(ctx context.Context, kind catalog.Kind, id NumberID) (catalog.Record, error) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return catalog.Record{}, op.InvalidField("id", "must be a number")
	}
	if n < catalog.FirstID {
		return b.Catalog.Head(ctx, catalog.Ref{Kind: kind, Key: strconv.FormatInt(n, 10)})
	}
	r, err := b.Catalog.ByID(ctx, n)
	if err == nil && r.Kind != kind {
		err = catalog.ErrNotFound
	}
	return r, err
}

// Thread is a record with its children, oldest first, under one cursor.
type Thread[T any] struct {
	Items      []T    `json:"items"`
	Total      int    `json:"total" doc:"number of items in all"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Children answers the thread below a record: at most count of its children of
// a kind, fewer if their texts are longer than one answer holds.
func Children[T any](
	ctx context.Context, b Base, parent catalog.Record, kind catalog.Kind, count int, cursor Cursor,
	row func(Base, catalog.Record) (T, error),
) (Thread[T], error) {
	offset := 0
	if cursor != "" {
		n, err := strconv.Atoi(string(cursor))
		if err != nil || n < 0 {
			return Thread[T]{}, badCursor
		}
		offset = n
	}
	records, total, err := b.Catalog.List(ctx, catalog.ListQuery{
		Kinds: []catalog.Kind{kind}, Parent: parent.ID, Order: catalog.ByKey, Limit: count, Offset: offset, WithBody: true,
	})
	if err == nil && offset > 0 && offset >= total {
		err = badCursor
	}
	if err != nil {
		return Thread[T]{}, err
	}
	t := Thread[T]{Total: total}
	chars := 0
	for _, r := range records {
		if chars += utf8.RuneCountInString(r.Body); chars > textLimit && len(t.Items) > 0 {
			break
		}
		item, err := row(b, r)
		if err != nil {
			return Thread[T]{}, err
		}
		t.Items = append(t.Items, item)
	}
	if next := offset + len(t.Items); next < total {
		t.Truncated, t.NextCursor = true, strconv.Itoa(next)
	}
	return t, nil
}
