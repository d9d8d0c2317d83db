// Package read reads the text of a record in parts: the whole behind its outline, a section, a thread around a post.
package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/text/prose"
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
func Cut(text string, cursor arg.Cursor) (Text, error) { return CutAt(text, cursor, textLimit) }

// CutAt is Cut with another maximum of characters.
func CutAt(text string, cursor arg.Cursor, most int) (Text, error) {
	t := Text{}
	if cursor != "" {
		n, err := strconv.Atoi(string(cursor))
		if err != nil || !begins(text, n) {
			return Text{}, badCursor
		}
		t.start = n
	}
	rest := text[t.start:]
	t.Content = prose.First(rest, most)
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

// Record returns a part of a record's text, or of its summary if it has no text.
func Record(r catalog.Record, cursor arg.Cursor) (Text, error) {
	return Cut(cmp.Or(r.Body, r.Summary), cursor)
}

// ID returns what get_doc reads a section by; no section is the whole
// record.
func ID(record int64, section string) string {
	id := strconv.FormatInt(record, 10)
	if section == "" {
		return id
	}
	return id + kb.SectionMark + section
}

// Around names what to read around a search result: the section of its best
// passage with further ones, or of a post or what begins a thread, which are
// short, the thread around it.
func Around(r catalog.Record, x retrieval.Result) string {
	switch {
	case x.Section != "":
		return ID(r.ID, passage.ReadingName(x.Section, x.Further))
	case r.Kind.InThread() && r.Parent != 0:
		return ID(r.Parent, strconv.FormatInt(r.ID, 10))
	case r.Kind.IsThread() && r.Replies > 0:
		return ID(r.ID, threadSection)
	}
	return ID(r.ID, "")
}

// Section finds the record that an id names, and the section or the lines in it, "" for
// all of it.
func Section(ctx context.Context, b kb.Base, id arg.RecordID) (r catalog.Record, section string, err error) {
	whole, section, cut := strings.Cut(string(id), kb.SectionMark)
	r, err = b.Record(ctx, id)
	if err == nil || !errors.Is(err, op.ErrNotFound) {
		return r, "", err
	}
	if record, lines, ok := cutLines(string(id)); ok {
		if r, wrong := b.Record(ctx, arg.RecordID(record)); wrong == nil || !errors.Is(wrong, op.ErrNotFound) {
			return r, lines, wrong
		}
	}
	if !cut {
		return r, "", err
	}
	r, err = b.Record(ctx, arg.RecordID(whole))
	return r, section, err
}

// Part is a text, a part of it or a section, with what else there is to read.
type Part struct {
	Section string    `json:"section,omitempty" doc:"reads this section again; none: the whole text"`
	Heading string    `json:"heading,omitempty" doc:"heading path of the section"`
	Before  string    `json:"before,omitempty" doc:"id that reads what is before a section or a post"`
	After   string    `json:"after,omitempty" doc:"id that reads what is after a section or a post, or the thread"`
	Lines   int       `json:"lines,omitempty" doc:"lines of the whole text, if lines are read"`
	Outline []Heading `json:"outline,omitempty" doc:"headings of the text, or in the section if content lacks them"`
	Text
	Cites []Cite `json:"cites,omitempty" doc:"what the content refers to, eight records at most"`
}

// Heading is a section in an outline.
type Heading struct {
	Read    string `json:"read" doc:"id that reads it"`
	Heading string `json:"heading"`
	Level   int    `json:"level" doc:"from 1"`
	Chars   int    `json:"chars" doc:"characters, with the sections in it"`
}

// outlined is the maximum of headings in an outline: of more, the deepest are
// left out.
const outlined = 60

// PartOf returns a section of a record's text, of a thread the posts around
// one, or, without a section, the part of the text that begins at the cursor,
// the first behind the outline; with what it cites.
func PartOf(ctx context.Context, b kb.Base, r catalog.Record, section string, cursor arg.Cursor) (Part, error) {
	p, err := partOf(ctx, b, r, section, cursor)
	if err != nil {
		return p, err
	}
	cites, err := Cites(ctx, b, []Passage{{Record: r.ID, Parent: r.Parent, Container: r.Container, Text: p.Content}})
	if err == nil {
		p.Cites = cites[0]
	}
	return p, err
}

func partOf(
	ctx context.Context, b kb.Base, r catalog.Record, section string, cursor arg.Cursor,
) (p Part, err error) {
	if kb.IsRecordID(section) || section == threadSection && r.Kind.IsThread() {
		return readThread(ctx, b, r, section, cursor)
	}
	body := cmp.Or(r.Body, r.Summary)
	if from, to, ok := lineRange(section); ok {
		if cursor == "" {
			return readLines(r.ID, body, from, to)
		}
		section = "" // a line that is longer than an answer goes on in the text
	}
	if section == "" {
		if cursor == "" {
			p.Outline = headings(r.ID, passage.NewOutline(r.Title, body).Headings())
		}
		if p.Text, err = Cut(body, cursor); err != nil {
			return p, err
		}
		if r.Kind.IsThread() && r.Replies > 0 {
			p.After = ID(r.ID, threadSection)
			return p, nil
		}
		p.Before, p.After, err = Siblings(ctx, b, r)
		return p, err
	}
	outline := passage.NewOutline(r.Title, body)
	read, ok := outline.Read(section)
	if !ok {
		return p, noSection(r, section, outline.Headings())
	}
	name := func(section string) string {
		if section == "" {
			return ""
		}
		return ID(r.ID, section)
	}
	p.Section, p.Heading, p.Before, p.After = name(section), read.Heading, name(read.Before), name(read.After)
	p.Outline = headings(r.ID, read.Inside)
	p.Text, err = Cut(beside(read), cursor)
	return p, err
}

// beside returns a section with the further passages that are read with it.
func beside(read passage.Reading) string {
	var text strings.Builder
	text.WriteString(read.Text)
	for _, x := range read.Further {
		text.WriteString(gap)
		if x.Heading != "" {
			text.WriteString(x.Heading + "\n\n")
		}
		text.WriteString(x.Text)
	}
	return text.String()
}

// gap marks that something is left out of a text.
const gap = "\n\n[…]\n\n"

// Siblings names what is before and after a post, message or comment in its
// thread; "" for nothing, and for a record that is in none.
func Siblings(ctx context.Context, b kb.Base, r catalog.Record) (before, after string, err error) {
	if r.Parent == 0 || !r.Kind.InThread() {
		return "", "", nil
	}
	all, err := inThread(ctx, b, r.Parent, []catalog.Kind{r.Kind})
	i := slices.IndexFunc(all, func(x catalog.Record) bool { return x.ID == r.ID })
	if i > 0 {
		before = ID(all[i-1].ID, "")
	}
	if i >= 0 && i+1 < len(all) {
		after = ID(all[i+1].ID, "")
	}
	return before, after, err
}

func headings(record int64, all []passage.Heading) []Heading {
	for deepest := 6; deepest > 1 && len(all) > outlined; deepest-- {
		all = slices.DeleteFunc(all, func(h passage.Heading) bool { return h.Level >= deepest })
	}
	var out []Heading
	for _, h := range all[:min(len(all), outlined)] {
		out = append(out, Heading{ID(record, h.Name), h.Text, h.Level, h.Size})
	}
	return out
}

// nearSections is the maximum of sections that an error names.
const nearSections = 5

// noSection names the sections whose names are most like one.
func noSection(r catalog.Record, name string, all []passage.Heading) error {
	id := ID(r.ID, "")
	if len(all) == 0 {
		return op.NotFound("there is no section %.80q: the text has none, read it by %s", name, id)
	}
	slices.SortStableFunc(all, func(a, b passage.Heading) int {
		return cmp.Compare(alike(name, b.Name), alike(name, a.Name))
	})
	var near []string
	for _, h := range all[:min(len(all), nearSections)] {
		near = append(near, ID(r.ID, h.Name))
	}
	return op.NotFound("there is no section %.80q: nearest are %s; %s reads the whole text with its outline",
		name, strings.Join(near, ", "), id)
}

// alike is the Dice coefficient of the pairs of neighbouring bytes in two names.
func alike(a, b string) float64 {
	pairs := map[string]int{}
	for i := range len(a) - 1 {
		pairs[a[i:i+2]]++
	}
	shared := 0
	for i := range len(b) - 1 {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(max(len(a)+len(b)-2, 1))
}

// linesMark ends an id that reads lines: 1000054:120-160, 1000054:120 or 1000054:120-.
var linesMark = regexp.MustCompile(`:([1-9]\d{0,8})(-(\d{0,9}))?$`)

// cutLines splits an id into that of the record and the lines in it, with their mark.
func cutLines(id string) (record, lines string, ok bool) {
	at := linesMark.FindStringIndex(id)
	if at == nil || at[0] == 0 {
		return id, "", false
	}
	return id[:at[0]], id[at[0]:], true
}

// lineRange reads what cutLines returns: to is beyond every line if the last is not said.
func lineRange(lines string) (from, to int, ok bool) {
	m := linesMark.FindStringSubmatch(lines)
	if m == nil || m[0] != lines {
		return 0, 0, false
	}
	from, _ = strconv.Atoi(m[1]) // the pattern has digits
	switch to = from; {
	case m[2] == "-":
		to = 1 << 30
	case m[3] != "":
		to, _ = strconv.Atoi(m[3])
	}
	return from, to, true
}

// lineID is what reads lines of a record.
func lineID(record int64, from, to int) string { return fmt.Sprintf("%d:%d-%d", record, from, to) }

// readLines returns lines of a text, each behind its number, as many as an answer holds.
// Of one that is longer than that it returns the beginning, with the cursor that goes on
// in the text.
func readLines(record int64, body string, from, to int) (p Part, err error) {
	if to < from {
		return p, op.InvalidField("id", "must have the first line before the last, as in %s", lineID(record, to, from))
	}
	all := strings.SplitAfter(strings.TrimSuffix(body, "\n"), "\n")
	if from > len(all) {
		return p, op.NotFound("there is no line %d: the text has %d", from, len(all))
	}
	p.Lines, to = len(all), min(to, len(all))
	var rows strings.Builder
	start := 0 // of the first line, in the text
	for i, line := range all[:to] {
		if i+1 < from {
			start += len(line)
		} else if rows.Len() < 4*textLimit {
			fmt.Fprintf(&rows, "%d\t%s\n", i+1, strings.TrimSuffix(line, "\n"))
		}
	}
	p.Content = rows.String()
	p.Content = p.Content[:min(len(prose.First(p.Content, textLimit)), op.Within(p.Content, threadTokens))]
	whole := strings.LastIndex(p.Content, "\n") + 1
	last := from + strings.Count(p.Content, "\n") - 1
	if whole == 0 { // one line is more than an answer holds
		last = from
		p.Truncated, p.NextCursor = true, strconv.Itoa(start+len(p.Content)-len(strconv.Itoa(from)+"\t"))
	} else {
		p.Content = p.Content[:whole]
	}
	count := last - from + 1
	p.Section = lineID(record, from, last)
	if from > 1 {
		p.Before = lineID(record, max(1, from-count), from-1)
	}
	if last < p.Lines {
		p.After = lineID(record, last+1, min(p.Lines, max(to, last+count)))
	}
	return p, nil
}

// Markdown writes answers of a type as Markdown documents; a heading that begins the text replaces the title.
func Markdown[T any](parts func(T) (title, url, text string)) op.Form {
	return op.Form{Type: "text/markdown; charset=utf-8", Write: func(answer any) ([]byte, error) {
		title, url, text := parts(answer.(T))
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "# ") {
			text = "# " + title + "\n\n" + text
		}
		return fmt.Appendf(nil, "%s\n\nSource: <%s>\n", text, url), nil
	}}
}
