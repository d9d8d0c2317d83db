package kb

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval/passage"
)

// threadSection names a thread from its beginning, 1000632#thread; from a post
// on it is named by the post's record id, 1000632#1000634.
const threadSection = "thread"

// around is the maximum of parts of a thread that are looked at before and after
// one.
const around = 50

// readThread returns a part of a thread with those after it that are read at
// once, and with those before it if the thread ends there.
func (b Base) readThread(ctx context.Context, r catalog.Record, section string, cursor Cursor) (p Part, err error) {
	parts, err := b.threadOf(ctx, r)
	if err != nil {
		return p, err
	}
	at := 0
	if section != threadSection {
		at = slices.IndexFunc(parts, func(x catalog.Record) bool { return postSection(r, x) == section })
	}
	if at < 0 || len(parts) == 0 {
		return p, op.NotFound("record %d has no part %s: %s reads its own text", r.ID, section, ReadID(r.ID, ""))
	}
	first, last := max(0, at-around), min(len(parts), at+around)
	if err := b.addBodies(ctx, r, parts, first, last); err != nil {
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
	p.ThirdParty, p.Section = ThirdParty(r), ReadID(r.ID, section)
	if from > 0 {
		p.Before = ReadID(r.ID, postSection(r, parts[from-1]))
	}
	if to < len(parts) {
		p.After = ReadID(r.ID, postSection(r, parts[to]))
	}
	p.Text, err = Cut(strings.Join(texts[from:to], "\n\n"), cursor)
	return p, err
}

// threadParts are the children of a record that are parts of a thread.
func threadParts(r catalog.Record) catalog.ListQuery {
	return catalog.ListQuery{
		Kinds:  []catalog.Kind{catalog.KindPost, catalog.KindMailMessage, catalog.KindComment},
		Parent: r.ID, Order: catalog.ByKey,
	}
}

// opens reports whether a record is the first part of its thread; the text of a
// forum or mailing-list thread is that of its first post.
func opens(r catalog.Record) bool {
	return r.Kind != catalog.KindTopic && r.Kind != catalog.KindMailThread
}

// threadOf returns the parts of a thread, oldest first, without bodies.
func (b Base) threadOf(ctx context.Context, r catalog.Record) ([]catalog.Record, error) {
	parts, _, err := b.Catalog.List(ctx, threadParts(r))
	if opens(r) {
		parts = slices.Insert(parts, 0, r)
	}
	return parts, err
}

// addBodies reads the bodies of some parts of a thread.
func (b Base) addBodies(ctx context.Context, r catalog.Record, parts []catalog.Record, first, last int) error {
	q := threadParts(r)
	q.Offset, q.Limit, q.WithBody = first, last-first, true
	if opens(r) {
		q.Offset = max(0, first-1)
	}
	posts, _, err := b.Catalog.List(ctx, q)
	for _, x := range posts {
		if i := slices.IndexFunc(parts, func(p catalog.Record) bool { return p.ID == x.ID }); i >= 0 {
			parts[i].Body = x.Body
		}
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
