package web

import (
	"cmp"
	"html/template"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"almanac/api/look"
	"almanac/api/op"
	"almanac/text/markdown"
)

// Sizes of a text on one page, in bytes.
const (
	textSize = 30_000 // of Markdown
	pageSize = 40_000 // of the HTML made of it
)

// sectionPrefix begins the ids of a text's headings: no text can name a part of
// the page itself.
const sectionPrefix = "s-"

// Text is the text of a record, or the part of it that one page holds.
type Text struct {
	HTML     template.HTML
	Markdown string
	Outline  []look.Heading
	Part     bool // it does not begin at the beginning
}

// prepareText renders the text of a record.
func prepareText(_ *Handler, v *view) error {
	for _, a := range v.answers[1:] {
		content, ok := field(a.answer, "Content").(string)
		if !ok {
			continue
		}
		shown, next := v.fit(content, text(a.answer, "NextCursor"))
		if next != "" {
			v.next = v.With("cursor", next)
		}
		v.Text = v.render(shown)
		return nil
	}
	return nil
}

// fit returns the part of a content that one page holds, and the cursor of the
// next; more is the cursor of what the content leaves out.
func (v *view) fit(content, more string) (shown, next string) {
	if shown = cutPage(content); len(shown) == len(content) {
		return shown, more
	}
	start, _ := strconv.Atoi(v.Param("cursor"))
	return shown, strconv.Itoa(start + len(shown))
}

// cutPage returns the beginning of a text, as much as one page holds.
func cutPage(content string) (shown string) {
	for n := textSize; ; n /= 2 {
		shown = cutBlock(content, n)
		if html, _ := look.Markdown(look.Text{Markdown: shown}); len(html) <= pageSize || n < 1000 {
			return shown
		}
	}
}

// cutBlock returns at most n bytes of Markdown: if it can, up to an empty line
// outside of code.
func cutBlock(s string, n int) string {
	if len(s) <= n {
		return s
	}
	var fence markdown.Fence
	best := 0
	for at := 0; at < n; {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 || at+end >= n {
			break
		}
		line := s[at : at+end]
		part := fence.Next(line)
		at += end + 1
		if part == markdown.Text && strings.TrimSpace(line) == "" {
			best = at
		}
	}
	if best < n/4 {
		for best = n; !utf8.RuneStart(s[best]); best-- {
		}
	}
	return s[:best]
}

func (v *view) render(source string) *Text {
	part := v.Param("cursor") != ""
	source = withoutFrontMatter(source)
	html, outline := look.Markdown(look.Text{
		Markdown: source, Base: text(v.Main, "URL"), Prefix: sectionPrefix, Title: text(v.Main, "Title"),
	})
	return &Text{HTML: html, Markdown: source, Outline: outline, Part: part}
}

// withoutFrontMatter cuts the block of fields that many files begin with: the
// page shows them as facts.
func withoutFrontMatter(s string) string {
	if front, body, ok := markdown.CutFront(s); ok && front.Closed {
		return body
	}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(s, "\n"), "<pre>"); ok {
		if fields, body, ok := strings.Cut(rest, "</pre>"); ok && strings.Contains(fields, ":") {
			return body
		}
	}
	return s
}

// Post is one text of a thread.
type Post struct {
	Mark     string // with the number the id of the post on its page: p3, of a comment c3
	Number   string
	Part     bool // it does not begin at the beginning
	Author   string
	Role     string
	Date     any
	URL      string
	Likes    int
	Accepted bool
	ReplyTo  int
	HTML     template.HTML
	Markdown string
}

// numbered is what somebody said, with its number in the thread.
type numbered struct {
	item   any
	number int
}

// size is how much is on a page, in bytes.
type size struct{ markdown, html int }

// posts renders the texts of a thread, as many as fit on the page beside what is
// there; the first begins at an offset of its text. It returns how many are shown
// whole, and if the one after them is begun: up to where.
func (v *view) posts(items []numbered, mark string, offset int, on size) (posts []Post, whole, begun int) {
	for i, x := range items {
		content := text(x.item, "Content")
		if i > 0 {
			offset = 0
		}
		shown := content
		if on.markdown == 0 {
			shown = cutPage(content)
		} else if on.markdown+len(content) > textSize {
			return posts, i, 0
		}
		p := v.post(x, shown, mark)
		if on.markdown > 0 && on.html+len(p.HTML) > pageSize {
			return posts, i, 0
		}
		p.Part = offset > 0
		posts = append(posts, p)
		if len(shown) < len(content) {
			return posts, i, offset + len(shown)
		}
		on = size{on.markdown + len(shown), on.html + len(p.HTML)}
	}
	return posts, len(items), 0
}

// itemsOf are the items of an answer, numbered from the first.
func itemsOf(answer any, first int) (out []numbered) {
	items := reflect.ValueOf(field(answer, "Items"))
	for i := range items.Len() {
		x := numbered{items.Index(i).Interface(), first + i}
		if n, ok := field(x.item, "Number").(int); ok {
			x.number = n
		}
		out = append(out, x)
	}
	return out
}

// prepareThread renders the texts of a thread, as many as a page holds.
func prepareThread(_ *Handler, v *view) error {
	thread := v.answers[1].answer
	at, _ := op.ParsePlace(v.Param("cursor")) // the operation has accepted it
	start := max(0, at.Item)
	first, own := start+1, 0
	_, opens := field(thread, "Content").(string) // a forge discussion begins with its own text
	if opens {
		first++
	}
	items := itemsOf(thread, first)
	if opens && at.Item == op.OwnText {
		items, own = slices.Insert(items, 0, numbered{thread, 1}), 1
	}
	posts, whole, begun := v.posts(items, "p", at.Offset, size{})
	v.Extra = posts
	switch next := text(thread, "NextCursor"); {
	case whole < len(items):
		// Before the first item, at 0, is the own text: op.OwnText.
		v.next = v.With("cursor", op.Place{Item: start + whole - own, Offset: begun}.String())
	case next != "":
		v.next = v.With("cursor", next)
	}
	v.Text = &Text{Part: v.Param("cursor") != ""}
	return nil
}

// comments are those on an issue or a pull request that a page shows.
type comments struct {
	Posts []Post
	Total int
	Later bool // the text and the first of them are on earlier pages
}

// prepareIssue renders the text of an issue and, behind its end, the comments. The
// parameter comments leaves out the text and those before.
func prepareIssue(h *Handler, v *view) error {
	answer, on := v.Answer("list_comments"), size{}
	c := comments{Later: v.Param("comments") != ""}
	if !c.Later {
		if err := prepareText(h, v); err != nil || v.next != "" {
			return err
		}
		on = size{len(v.Text.Markdown), len(v.Text.HTML)}
	}
	at, _ := op.ParsePlace(v.Param("comments")) // the operation has accepted it
	start := max(0, at.Item)
	items := itemsOf(answer, start+1)
	var whole, begun int
	c.Posts, whole, begun = v.posts(items, "c", at.Offset, on)
	c.Total, _ = field(answer, "Total").(int)
	v.Extra = c
	switch next := text(answer, "NextCursor"); {
	case whole < len(items):
		v.next = v.With("comments", op.Place{Item: start + whole, Offset: begun}.String())
	case next != "":
		v.next = v.With("comments", next)
	}
	return nil
}

func (v *view) post(x numbered, content, mark string) Post {
	p := Post{
		Mark: mark, Number: strconv.Itoa(x.number), Author: text(x.item, "Author"), Role: text(x.item, "Role"),
		Date: field(x.item, "Date"), URL: text(x.item, "URL"), Markdown: content,
	}
	if created, ok := field(x.item, "CreatedAt").(*time.Time); ok { // its date is that of the last activity
		p.Date = created
	}
	p.HTML, _ = look.Markdown(look.Text{
		Markdown: content, Base: cmp.Or(p.URL, text(v.Main, "URL")), Prefix: mark + p.Number + "-",
	})
	p.Likes, _ = field(x.item, "Likes").(int)
	if up, ok := field(x.item, "Upvotes").(int64); ok {
		p.Likes = int(up)
	}
	p.ReplyTo, _ = field(x.item, "ReplyTo").(int)
	accepted, _ := field(x.item, "Accepted").(bool)
	answer, _ := field(x.item, "Answer").(bool)
	p.Accepted = accepted || answer
	return p
}

// guide is a path for newcomers.
type guide struct {
	Introduction string `json:"introduction"`
	Steps        []struct {
		Title, Text, URL string
		Minutes          int
		Read             *struct{ Title, Page string }
	} `json:"steps"`
	Minutes int // of all steps
}

// prepareGuide renders the introduction of a guide; its steps are told in the
// template. Where they are not known, the text has their titles.
func prepareGuide(h *Handler, v *view) error {
	answer := v.Answer("get_started_guide")
	if answer == nil {
		return prepareText(h, v)
	}
	g, err := into[guide](answer)
	for _, s := range g.Steps {
		g.Minutes += s.Minutes
	}
	introduction := g.Introduction
	if at := strings.LastIndex(introduction, stepsHeading); at >= 0 {
		introduction = introduction[:at]
	}
	v.Extra, v.Text = g, v.render(cutPage(introduction))
	return err
}

// stepsHeading is that of the titles of the steps behind a guide's introduction,
// by which searches find it.
const stepsHeading = "## Steps\n"

// prepareTalk renders the transcript of a talk; its headings are its times.
func prepareTalk(_ *Handler, v *view) error {
	transcript := text(v.answers[1].answer, "Transcript")
	if transcript != "" {
		v.Text = v.render(cutBlock(transcript, textSize))
	}
	return nil
}

// prepareCIP renders the text of a proposal.
func prepareCIP(h *Handler, v *view) error { return prepareText(h, v) }

// Tab is a further page of a proposal.
type Tab struct {
	Name, Path string
	Current    bool
}

// tabsOf lists the pages of a proposal.
func tabsOf(v *view) []Tab {
	base := strings.TrimSuffix(v.Path, "/"+tabOf(v.row.template))
	tabs := []Tab{{"Text", base, tabOf(v.row.template) == ""}}
	for _, name := range []string{"history", "votes", "mentions", "implementation", "attachments"} {
		label := map[string]string{"mentions": "Mentioned in"}[name]
		if label == "" {
			label = strings.ToUpper(name[:1]) + name[1:]
		}
		tabs = append(tabs, Tab{label, base + "/" + name, tabOf(v.row.template) == name})
	}
	return tabs
}

// prepareList finds the address of a list's next part.
func prepareList(h *Handler, v *view) error {
	a := v.answers[0]
	next, ok := a.op.Next(a.in, a.answer)
	if !ok {
		return nil
	}
	target, _ := a.op.Target(next)
	if a.op.Path == "" {
		for _, word := range a.op.Line(next) {
			if offset, ok := strings.CutPrefix(word, "offset="); ok {
				target = "?" + url.Values{"offset": {offset}}.Encode()
			}
		}
	}
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	v.next = v.With("offset", u.Query().Get("offset"))
	return nil
}
