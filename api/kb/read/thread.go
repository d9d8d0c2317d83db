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
