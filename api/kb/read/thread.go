package read

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval/passage"
	"almanac/text/prose"
)

// threadSection names a thread from its beginning, 1000632#thread; from a post
// on it is named by the post's record id, 1000632#1000634.
const threadSection = "thread"

// around is the maximum of parts of a thread that are looked at before and after
// one.
const around = 50

// readThread returns a part of a thread with those after it that are read at
// once, and with those before it if the thread ends there.
func readThread(
	ctx context.Context, b kb.Base, r catalog.Record, section string, cursor arg.Cursor,
) (p Part, err error) {
	parts, err := threadOf(ctx, b, r)
	if err != nil {
		return p, err
	}
	at := 0
	if section != threadSection {
		at = slices.IndexFunc(parts, func(x catalog.Record) bool { return postSection(r, x) == section })
	}
	if at < 0 || len(parts) == 0 {
		return p, op.NotFound("record %d has no part %s: %s reads its own text", r.ID, section, ID(r.ID, ""))
	}
	first, last := max(0, at-around), min(len(parts), at+around)
	if err := addBodies(ctx, b, parts[first:last]); err != nil {
		return p, err
	}
	texts := make([]string, len(parts))
	room := passage.ReadingSize
	fits := func(i int) bool {
		texts[i] = postText(parts[i])
		room -= utf8.RuneCountInString(texts[i])
		return room >= 0
	}
	from, to := at, at
	for to < last && (fits(to) || to == at) {
		to++
	}
	for to == len(parts) && from > first && fits(from-1) {
		from--
	}
	p.Section = ID(r.ID, section)
	if from > 0 {
		p.Before = ID(r.ID, postSection(r, parts[from-1]))
	}
	if to < len(parts) {
		p.After = ID(r.ID, postSection(r, parts[to]))
	}
	p.Text, err = Cut(strings.Join(texts[from:to], "\n\n"), cursor)
	return p, err
}

// threadKinds are the kinds of the parts of a thread.
var threadKinds = catalog.KindsOf(catalog.RoleMessage)

// inThread returns the children of a record that are parts of its thread, oldest
// first, without their texts. Posts and messages count from the oldest, which
// holds where clocks differ, too; comments have no number and go by time. Keys
// decide nothing: those of comments are random, and so are those of messages that
// their archive gives no number.
func inThread(ctx context.Context, b kb.Base, parent int64, kinds []catalog.Kind) ([]catalog.Record, error) {
	parts, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: kinds, Parent: parent})
	if err != nil {
		return nil, err
	}
	numbers := map[int64]int{}
	for _, p := range parts {
		if numbers[p.ID], err = numberOf(p); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(parts, func(p, q catalog.Record) int {
		return cmp.Or(cmp.Compare(numbers[p.ID], numbers[q.ID]), byAge(p.CreatedAt, q.CreatedAt))
	})
	return parts, nil
}

// numberOf is the number of a part in its thread; 0 if its kind has none.
func numberOf(r catalog.Record) (int, error) {
	switch r.Kind {
	case catalog.KindPost:
		d, err := kb.Decode[catalog.Post](r)
		return d.Number, err
	case catalog.KindMailMessage:
		d, err := kb.Decode[catalog.MailMessage](r)
		return d.Number, err
	}
	return 0, nil
}

// byAge compares times, unknown ones last.
func byAge(s, t time.Time) int {
	if s.IsZero() != t.IsZero() {
		return t.Compare(s)
	}
	return s.Compare(t)
}

// opens reports whether a record is the first part of its thread; the text of a
// forum or mailing-list thread is that of its first post.
func opens(r catalog.Record) bool {
	return r.Kind != catalog.KindTopic && r.Kind != catalog.KindMailThread
}

// threadOf returns the parts of a thread, oldest first, without bodies.
func threadOf(ctx context.Context, b kb.Base, r catalog.Record) ([]catalog.Record, error) {
	parts, err := inThread(ctx, b, r.ID, threadKinds)
	if opens(r) {
		parts = slices.Insert(parts, 0, r)
	}
	return parts, err
}

// addBodies reads the texts of some parts of a thread.
func addBodies(ctx context.Context, b kb.Base, parts []catalog.Record) error {
	ids := make([]int64, len(parts))
	for i, p := range parts {
		ids[i] = p.ID
	}
	records, err := b.Bodies(ctx, ids)
	for i, p := range parts {
		parts[i].Body = records[p.ID].Body
	}
	return err
}

// postSection names a part of a thread.
func postSection(r, post catalog.Record) string {
	if post.ID == r.ID {
		return threadSection
	}
	return strconv.FormatInt(post.ID, 10)
}

// postText is the text of a part of a thread, with who wrote it when.
func postText(post catalog.Record) string {
	by := post.Author
	if !post.CreatedAt.IsZero() {
		by = strings.TrimPrefix(by+", "+post.CreatedAt.Format("2006-01-02"), ", ")
	}
	if by == "" {
		return post.Body
	}
	return "**" + by + "**\n\n" + post.Body
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
