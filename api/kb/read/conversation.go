package read

import (
	"context"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/prose"
)

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
	n := min(len(prose.First(text, r.chars)), op.Within(text, r.tokens))
	r.chars -= utf8.RuneCountInString(text[:n])
	r.tokens -= op.Tokens(text[:n])
	return n
}

// Conversations are records of a kind with children of another, each with its row.
type Conversations[T, C any] struct {
	Kind     catalog.Kind
	Row      func(kb.Base, catalog.Record) (T, error)
	Children catalog.Kind
	Child    func(kb.Base, catalog.Record) (C, error)
	Most     int  // children in one answer; 0: as many as its text holds
	Opens    bool // the row has the record's own text, which comes before the children
}

// Read finds a record by its key or record id and returns its row and its
// children from the cursor on. A text that is longer than an answer is in several:
// the texts of all answers, joined, are whole.
func (t Conversations[T, C]) Read(
	ctx context.Context, b kb.Base, id string, cursor arg.Cursor,
) (row T, thread Thread[C], err error) {
	at, ok := op.ParsePlace(string(cursor))
	if !ok {
		return row, thread, badCursor
	}
	r, err := b.Keyed(ctx, t.Kind, id)
	if err != nil {
		return row, thread, err
	}
	parts, err := inThread(ctx, b, r.ID, []catalog.Kind{t.Children})
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
func (t Conversations[T, C]) Parts(
	ctx context.Context, b kb.Base, parent int64, cursor arg.Cursor,
) (thread Thread[C], err error) {
	at, ok := op.ParsePlace(string(cursor))
	if !ok || at.Item == op.OwnText && at.Offset > 0 {
		return thread, badCursor
	}
	parts, err := inThread(ctx, b, parent, []catalog.Kind{t.Children})
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
func (t Conversations[T, C]) children(
	ctx context.Context, b kb.Base, parts []catalog.Record, at op.Place, left room, thread *Thread[C],
) (next op.Place, err error) {
	thread.start = max(0, at.Item)
	if thread.start > 0 && thread.start >= len(parts) {
		return next, badCursor
	}
	parts = parts[thread.start:]
	if t.Most > 0 {
		parts = parts[:min(t.Most, len(parts))]
	}
	if err := addBodies(ctx, b, parts); err != nil {
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
