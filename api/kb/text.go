package kb

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
)

// textLimit is the maximum of characters of a text in one answer.
const textLimit = 50_000

// Text is a part of a long text.
type Text struct {
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Cut returns the part of a text that begins at the cursor, a byte offset from
// an earlier answer.
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
	// Only as search results spell it: any other number is likely a mistake.
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
		err = op.NotFound("there is no document %s: use the id or the path of a search result", op.Quote(string(id)))
	}
	if err != nil {
		return catalog.Record{}, err
	}
	return records[0], nil
}

// Keyed finds a record of a kind by its natural key or its record id: a topic
// by its number, a video by its id on the platform. The record id of a child
// finds its parent; a section after the record id is ignored.
func (b Base) Keyed(ctx context.Context, kind catalog.Kind, id string) (r catalog.Record, err error) {
	if whole, _, _ := strings.Cut(id, sectionMark); isRecordID(whole) {
		id = whole
	}
	if n, bad := strconv.ParseInt(id, 10, 64); bad == nil && n >= catalog.FirstID {
		if r, err = b.Catalog.ByID(ctx, n); err == nil && r.Kind != kind && r.Parent != 0 { // a post: its topic
			r, err = b.Catalog.ByID(ctx, r.Parent)
		}
		if err == nil && r.Kind != kind {
			err = catalog.ErrNotFound
		}
	} else {
		r, err = b.Catalog.Get(ctx, catalog.Ref{Kind: kind, Key: id})
	}
	info, _ := catalog.InfoOf(kind)
	return r, NotFound(err, "there is no %.80q among the %s", id, info.Description)
}

// One finds a record as Keyed does and returns it with its row.
func One[T any](
	ctx context.Context, b Base, kind catalog.Kind, id string, row func(Base, catalog.Record) (T, error),
) (r catalog.Record, out T, err error) {
	if r, err = b.Keyed(ctx, kind, id); err == nil {
		out, err = row(b, r)
	}
	return r, out, err
}

// Titled finds a record of a kind by its key or its title, in any case. Its
// error names those that there are; the name is what clients call the kind.
func (b Base) Titled(ctx context.Context, kind catalog.Kind, name, value string) (catalog.Record, error) {
	records, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{kind}, WithBody: true})
	if err != nil {
		return catalog.Record{}, err
	}
	var known, keys []string
	for _, r := range records {
		if slug(r.Key) == slug(value) || slug(r.Title) == slug(value) {
			return r, nil
		}
		known, keys = append(known, r.Title), append(keys, r.Key)
	}
	if network.Nearest(value, keys) != "" {
		known = keys
	}
	return catalog.Record{}, op.NotFound("%s", NoSuch(name, value, known))
}

// slug folds a name for comparison: lower case, words joined by hyphens.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
}

// Thread are the children of a record, oldest first, under one cursor.
type Thread[T any] struct {
	Items      []T    `json:"items"`
	Total      int    `json:"total" doc:"number of items in all"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Threads are records of a kind with children of another, each with its row.
type Threads[T, C any] struct {
	Kind     catalog.Kind
	Row      func(Base, catalog.Record) (T, error)
	Children catalog.Kind
	Child    func(Base, catalog.Record) (C, error)
	Most     int // children in one answer; 0: as many as its text holds
}

// Read finds a record by its key or record id and returns its row and its
// children from the cursor on.
func (t Threads[T, C]) Read(
	ctx context.Context, b Base, id string, cursor Cursor,
) (row T, thread Thread[C], err error) {
	r, row, err := One(ctx, b, t.Kind, id, t.Row)
	if err == nil {
		thread, err = t.children(ctx, b, r.ID, cursor)
	}
	return row, thread, err
}

func (t Threads[T, C]) children(
	ctx context.Context, b Base, parent int64, cursor Cursor,
) (thread Thread[C], err error) {
	offset := 0
	if cursor != "" {
		if offset, err = strconv.Atoi(string(cursor)); err != nil || offset < 0 {
			return thread, badCursor
		}
	}
	records, total, err := b.Catalog.List(ctx, catalog.ListQuery{
		Kinds: []catalog.Kind{t.Children}, Parent: parent, Order: catalog.ByKey,
		Limit: t.Most, Offset: offset, WithBody: true,
	})
	if err == nil && offset > 0 && offset >= total {
		err = badCursor
	}
	if err != nil {
		return thread, err
	}
	thread.Total = total
	chars := 0
	for _, r := range records {
		if chars += utf8.RuneCountInString(r.Body); chars > textLimit && len(thread.Items) > 0 {
			break
		}
		item, err := t.Child(b, r)
		if err != nil {
			return thread, err
		}
		thread.Items = append(thread.Items, item)
	}
	if next := offset + len(thread.Items); next < total {
		thread.Truncated, thread.NextCursor = true, strconv.Itoa(next)
	}
	return thread, nil
}

// Locate finds the record that a person names: by anything that Record takes,
// by kind:key, or by the address of its page.
func (b Base) Locate(ctx context.Context, name string) (catalog.Record, error) {
	name = strings.TrimSpace(name)
	path := strings.TrimPrefix(name, b.PublicURL)
	if segment, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/"); ok && strings.HasPrefix(path, "/") {
		if plain, err := url.PathUnescape(rest); err == nil {
			rest = plain
		}
		for kind, of := range segments {
			if of == segment {
				return b.Keyed(ctx, kind, rest)
			}
		}
	}
	kind, key, ok := strings.Cut(name, ":")
	if _, known := catalog.InfoOf(catalog.Kind(kind)); ok && known {
		return b.Keyed(ctx, catalog.Kind(kind), key)
	}
	return b.Record(ctx, RecordID(name))
}
