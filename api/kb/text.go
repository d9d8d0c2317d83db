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
	"almanac/text/nearest"
)

// textLimit is the maximum of characters of a text in one answer; in tools
// op.MaxTokens may end it earlier.
const textLimit = 50_000

// Text is a part of a long text.
type Text struct {
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`

	start int // where the part begins
}

// Cut returns the part of a text that begins at the cursor, a byte offset from
// an earlier answer.
func Cut(text string, cursor Cursor) (Text, error) { return CutAt(text, cursor, textLimit) }

// CutAt is Cut with another maximum of characters.
func CutAt(text string, cursor Cursor, most int) (Text, error) {
	t := Text{}
	if cursor != "" {
		n, err := strconv.Atoi(string(cursor))
		if err != nil || !begins(text, n) {
			return Text{}, badCursor
		}
		t.start = n
	}
	rest := text[t.start:]
	t.Content = First(rest, most)
	t.more(len(rest))
	return t, nil
}

// begins reports whether a part of a text can begin at an offset.
func begins(text string, offset int) bool {
	return offset >= 0 && offset < len(text) && utf8.RuneStart(text[offset])
}

// more says where the rest begins if the content is not all that there is.
func (t *Text) more(bytes int) {
	if t.Truncated = len(t.Content) < bytes; t.Truncated {
		t.NextCursor = strconv.Itoa(t.start + len(t.Content))
	}
}

// Shorten implements op.Shortener.
func (t *Text) Shorten(tokens int) {
	before := len(t.Content)
	_, least := utf8.DecodeRuneInString(t.Content)
	if t.Content = t.Content[:max(least, op.Without(t.Content, tokens))]; len(t.Content) < before {
		t.more(before)
	}
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
	if nearest.Of(value, keys) != "" {
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

	start int // index of the first item
	least int // items that must stay, so that there is something
}

// Shorten implements op.Shortener.
func (t *Thread[T]) Shorten(tokens int) {
	for n := len(t.Items) - 1; n >= t.least && tokens > 0; n-- {
		raw, err := op.EncodeTool(t.Items[n])
		if err != nil { // the whole answer says why
			return
		}
		tokens -= op.Tokens(string(raw))
		t.Items = t.Items[:n:n]
		t.Truncated, t.NextCursor = true, op.Place{Item: t.start + n}.String()
	}
}

// threadTokens is the maximum of the texts of a thread in one answer, besides
// textLimit: op.MaxTokens without what is around them.
const threadTokens = 20_000

// room is what texts may still take.
type room struct{ chars, tokens int }

// take returns the length of the part of a text that there is room for.
func (r *room) take(text string) int {
	n := min(len(First(text, r.chars)), op.Within(text, r.tokens))
	r.chars -= utf8.RuneCountInString(text[:n])
	r.tokens -= op.Tokens(text[:n])
	return n
}

// Threads are records of a kind with children of another, each with its row.
type Threads[T, C any] struct {
	Kind     catalog.Kind
	Row      func(Base, catalog.Record) (T, error)
	Children catalog.Kind
	Child    func(Base, catalog.Record) (C, error)
	Most     int  // children in one answer; 0: as many as its text holds
	Opens    bool // the row has the record's own text, which comes before the children
}

// Read finds a record by its key or record id and returns its row and its
// children from the cursor on. A text that is longer than an answer is in several:
// the texts of all answers, joined, are whole.
func (t Threads[T, C]) Read(
	ctx context.Context, b Base, id string, cursor Cursor,
) (row T, thread Thread[C], err error) {
	at, ok := op.ParsePlace(string(cursor))
	if !ok {
		return row, thread, badCursor
	}
	r, err := b.Keyed(ctx, t.Kind, id)
	if err != nil {
		return row, thread, err
	}
	parts, err := b.inThread(ctx, r.ID, []catalog.Kind{t.Children})
	if err != nil {
		return row, thread, err
	}
	left := room{textLimit, threadTokens}
	rest := "" // of the record's own text
	switch {
	case at.Item == op.OwnText && at.Offset > 0 && (!t.Opens || !begins(r.Body, at.Offset)):
		return row, thread, badCursor
	case at.Item == op.OwnText && t.Opens:
		rest = r.Body[at.Offset:]
		r.Body = rest[:left.take(rest)]
		rest = rest[len(r.Body):]
	case t.Opens:
		r.Body = ""
	}
	if row, err = t.Row(b, r); err != nil {
		return row, thread, err
	}
	if !t.Opens || r.Body == "" {
		thread.least = 1
	}
	next := op.Place{Item: op.OwnText, Offset: at.Offset + len(r.Body)}
	if rest == "" {
		next, err = t.children(ctx, b, parts, at, left, &thread)
	}
	thread.goOn(len(parts), next)
	return row, thread, err
}

// Parts returns the children of a record from the cursor on.
func (t Threads[T, C]) Parts(
	ctx context.Context, b Base, parent int64, cursor Cursor,
) (thread Thread[C], err error) {
	at, ok := op.ParsePlace(string(cursor))
	if !ok || at.Item == op.OwnText && at.Offset > 0 {
		return thread, badCursor
	}
	parts, err := b.inThread(ctx, parent, []catalog.Kind{t.Children})
	if err != nil {
		return thread, err
	}
	thread.least = 1
	next, err := t.children(ctx, b, parts, at, room{textLimit, threadTokens}, &thread)
	thread.goOn(len(parts), next)
	return thread, err
}

// goOn says where the next answer begins.
func (t *Thread[T]) goOn(total int, next op.Place) {
	if t.Total = total; next.Item < total {
		t.Truncated, t.NextCursor = true, next.String()
	}
}

// children adds the parts of a thread from a place on that there is room for, or the
// part of one if there is nothing else, and returns where the next begins.
func (t Threads[T, C]) children(
	ctx context.Context, b Base, parts []catalog.Record, at op.Place, left room, thread *Thread[C],
) (next op.Place, err error) {
	thread.start = max(0, at.Item)
	if thread.start > 0 && thread.start >= len(parts) {
		return next, badCursor
	}
	parts = parts[thread.start:]
	if t.Most > 0 {
		parts = parts[:min(t.Most, len(parts))]
	}
	if err := b.addBodies(ctx, parts); err != nil {
		return next, err
	}
	for i, r := range parts {
		next = op.Place{Item: thread.start + i}
		if i == 0 && at.Item != op.OwnText {
			next.Offset = at.Offset
		}
		if next.Offset > 0 && !begins(r.Body, next.Offset) {
			return next, badCursor
		}
		rest := r.Body[next.Offset:]
		r.Body = rest[:left.take(rest)]
		cut := len(r.Body) < len(rest)
		if cut && len(thread.Items) >= thread.least {
			return next, nil
		}
		item, err := t.Child(b, r)
		if err != nil {
			return next, err
		}
		thread.Items = append(thread.Items, item)
		if cut {
			next.Offset += len(r.Body)
			return next, nil
		}
	}
	return op.Place{Item: thread.start + len(thread.Items)}, nil
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
