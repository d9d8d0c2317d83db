package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"almanac/api/cips"
	"almanac/api/community"
	"almanac/api/ecosystem"
	"almanac/api/kb"
	"almanac/api/kb/read"
	"almanac/api/library"
	"almanac/api/look"
	"almanac/api/onboarding"
	"almanac/api/op"
	"almanac/catalog"
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
		var text read.Text
		switch full := a.answer.(type) {
		case library.Full:
			text = full.Text
		case library.FullPaper:
			text = full.Text
		case cips.Full:
			text = full.Text
		default:
			continue
		}
		next := ""
		if v.Text, next = v.fit(text.Content, text.NextCursor); next != "" {
			v.next = v.With("cursor", next)
		}
		return nil
	}
	return nil
}

// fit renders the part of a content that one page holds, and returns the cursor of the
// next; more is the cursor of what the content leaves out.
func (v *view) fit(content, more string) (text *Text, next string) {
	text, shown := cutPage(content, v.render)
	if shown == len(content) {
		return text, more
	}
	start, _ := strconv.Atoi(v.Param("cursor"))
	return text, strconv.Itoa(start + shown)
}

// cutPage renders the beginning of a text, as much as one page holds, and returns how
// much that is.
func cutPage(content string, render func(string) *Text) (text *Text, shown int) {
	for n := textSize; ; n /= 2 {
		begin := cutBlock(content, n)
		if text = render(begin); len(text.HTML) <= pageSize || n < 1000 {
			return text, len(begin)
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
	if format, _ := v.Record.Data["format"].(string); slices.Contains(ruled, format) {
		source = withRules(source)
	}
	left := ""
	if !part && slices.Contains(fielded, v.Kind.Kind) {
		source, left = withoutHeader(source, v.Record.Key, v.Record.Title)
	}
	html, outline := v.markdown(look.Text{
		Markdown: source, Base: v.Record.URL, Prefix: sectionPrefix, Title: v.Record.Title,
	})
	if left != "" {
		id := template.HTMLEscapeString(sectionPrefix + markdown.Anchors{}.Add("", left))
		html = template.HTML(`<span id="`+id+`"></span>`) + html //nolint:gosec // escaped above
	}
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
	Number   int
	Part     bool // it does not begin at the beginning
	Author   string
	Role     string
	Date     *time.Time
	URL      string
	Likes    int64
	Accepted bool
	ReplyTo  int
	HTML     template.HTML
	Markdown string
}

// containers are the parameters of the lists that can be narrowed to what is in one
// repository, group or channel, of kinds whose list has an operation of its own.
var containers = map[catalog.Kind]string{
	catalog.KindDoc: "source", catalog.KindIssue: "repo", catalog.KindPull: "repo", catalog.KindMailThread: "group",
	catalog.KindVideo: "channel", catalog.KindDiscussion: "container",
}

// Around is the address of the list of what is in the same repository, group or channel;
// "" if there is none.
func (v *view) Around() string {
	name, ok := containers[v.Kind.Kind]
	if _, own := listOf[v.Kind.Kind]; !ok && own {
		return ""
	}
	return "/" + v.Kind.Segment + "?" + url.Values{cmp.Or(name, "container"): {v.Record.Container}}.Encode()
}

// Solved says whether the page is of a thread that has an accepted answer.
func (v *view) Solved() bool {
	accepted, _ := v.Record.Data["accepted"].(float64) // of a topic: the number of the post
	answered, _ := v.Record.Data["answered"].(bool)
	return catalog.Kind(v.Record.Kind).Role() == catalog.RoleThread && (accepted > 0 || answered)
}

// thread are the texts of a thread that an answer has, without their HTML.
type thread struct {
	posts []Post
	total int
	next  string // cursor of the next answer
}

// threadOf reads an answer; what has no number of its own is counted from the first.
func threadOf(answer any, first int) thread {
	switch a := answer.(type) {
	case community.Discussion:
		return posted(a.Thread, first, func(x community.Post, _ int) Post {
			return Post{Number: x.Number, Author: x.Author, Role: x.Role, Date: x.Date, URL: x.URL, Likes: x.Likes,
				Accepted: x.Accepted, ReplyTo: x.ReplyTo, Markdown: x.Content}
		})
	case library.FullMailThread:
		return posted(a.Thread, first, func(x library.Message, _ int) Post {
			return Post{Number: x.Number, Author: x.Author, Date: x.Date, URL: x.URL, Markdown: x.Content}
		})
	case ecosystem.FullDiscussion:
		return posted(a.Thread, first, comment)
	case ecosystem.Comments:
		return posted(a.Thread, first, comment)
	}
	return thread{}
}

func posted[T any](t read.Thread[T], first int, post func(x T, number int) Post) thread {
	out := thread{total: t.Total, next: t.NextCursor}
	for i, x := range t.Items {
		out.posts = append(out.posts, post(x, first+i))
	}
	return out
}

func comment(x ecosystem.Comment, number int) Post {
	return Post{Number: number, Author: x.Author, Date: x.Date, URL: x.URL, Likes: x.Upvotes, Accepted: x.Answer,
		Markdown: x.Content}
}

// size is how much is on a page, in bytes.
type size struct{ markdown, html int }

// posts renders the texts of a thread, as many as fit on the page beside what is
// there; the first begins at an offset of its text. It returns how many are shown
// whole, and if the one after them is begun: up to where.
func (v *view) posts(all []Post, mark string, offset int, on size) (posts []Post, whole, begun int) {
	v.resolveAll(all)
	for i, p := range all {
		content := p.Markdown
		if i > 0 {
			offset = 0
		}
		render := func(source string) *Text {
			html, _ := v.markdown(look.Text{Markdown: source, Base: cmp.Or(p.URL, v.Record.URL),
				Prefix: mark + strconv.Itoa(p.Number) + "-"})
			return &Text{HTML: html, Markdown: source}
		}
		var text *Text
		if on.markdown == 0 {
			text, _ = cutPage(content, render)
		} else if on.markdown+len(content) > textSize {
			return posts, i, 0
		} else {
			text = render(content)
		}
		p.Mark, p.Part, p.HTML, p.Markdown = mark, offset > 0, text.HTML, text.Markdown
		if on.markdown > 0 && on.html+len(p.HTML) > pageSize {
			return posts, i, 0
		}
		posts = append(posts, p)
		if len(p.Markdown) < len(content) {
			return posts, i, offset + len(p.Markdown)
		}
		on = size{on.markdown + len(content), on.html + len(p.HTML)}
	}
	return posts, len(all), 0
}

// prepareThread renders the texts of a thread, as many as a page holds.
func prepareThread(_ *Handler, v *view) error {
	at, _ := op.ParsePlace(v.Param("cursor")) // the operation has accepted it
	start := max(0, at.Item)
	first, own := start+1, 0
	opened, opens := answerOf[ecosystem.FullDiscussion](v) // which begins with its own text
	if opens {
		first++
	}
	t := threadOf(v.answers[1].answer, first)
	if opens && at.Item == op.OwnText {
		t.posts, own = slices.Insert(t.posts, 0, Post{Number: 1, Author: opened.Author, Date: opened.CreatedAt,
			URL: opened.URL, Likes: opened.Upvotes, Markdown: opened.Content}), 1
	}
	posts, whole, begun := v.posts(t.posts, "p", at.Offset, size{})
	for i := range posts[min(1, len(posts)):] {
		posts[i+1].HTML = foldQuotes(posts[i+1].HTML, posts[0].HTML)
	}
	v.Extra = posts
	switch {
	case whole < len(t.posts):
		// Before the first item, at 0, is the own text: op.OwnText.
		v.next = v.With("cursor", op.Place{Item: start + whole - own, Offset: begun}.String())
	case t.next != "":
		v.next = v.With("cursor", t.next)
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
	on, c := size{}, comments{Later: v.Param("comments") != ""}
	if !c.Later {
		if err := prepareText(h, v); err != nil || v.next != "" {
			return err
		}
		on = size{len(v.Text.Markdown), len(v.Text.HTML)}
	}
	at, _ := op.ParsePlace(v.Param("comments")) // the operation has accepted it
	start := max(0, at.Item)
	answer, _ := answerOf[ecosystem.Comments](v)
	t := threadOf(answer, start+1)
	var whole, begun int
	c.Posts, whole, begun = v.posts(t.posts, "c", at.Offset, on)
	c.Total = t.total
	v.Extra = c
	switch {
	case whole < len(t.posts):
		v.next = v.With("comments", op.Place{Item: start + whole, Offset: begun}.String())
	case t.next != "":
		v.next = v.With("comments", t.next)
	}
	return nil
}

// guide is a path for newcomers.
type guide struct {
	onboarding.Guide
	Minutes int // of all steps
}

// prepareGuide renders the introduction of a guide; its steps are told in the
// template. Where they are not known, the text has their titles.
func prepareGuide(h *Handler, v *view) error {
	answer, ok := answerOf[onboarding.Guide](v)
	if !ok {
		return prepareText(h, v)
	}
	g := guide{Guide: answer}
	for _, s := range g.Steps {
		g.Minutes += s.Minutes
	}
	introduction := g.Introduction
	if at := strings.LastIndex(introduction, stepsHeading); at >= 0 {
		introduction = introduction[:at]
	}
	v.Extra = g
	v.Text, _ = cutPage(introduction, v.render)
	return nil
}

// stepsHeading is that of the titles of the steps behind a guide's introduction,
// by which searches find it.
const stepsHeading = "## Steps\n"

// untallied is the reason of a vote without the votes behind it, by which searches find
// it: the page has all of them in a table.
func untallied(reason string) string {
	before, _, _ := strings.Cut(reason, "\n## Votes\n")
	return before
}

// Tab is a further page of a proposal.
type Tab struct {
	Name, Path string
	Count      int
	Current    bool
}

// tabsOf lists the pages of a proposal.
func tabsOf(v *view) []Tab {
	current := tabOf(v.row.template)
	base := strings.TrimSuffix(v.Path, "/"+current)
	all := []Tab{{"Text", base, 0, current == ""}}
	for _, r := range tabs {
		name := tabOf(r.template)
		all = append(all, Tab{tabName(r), base + "/" + name, v.count(name), current == name})
	}
	return all
}

// tabName is what people call a further page of a proposal, "" for other pages.
func tabName(r row) string {
	name := tabOf(r.template)
	return cmp.Or(map[string]string{"mentions": "Mentioned in"}[name], look.Words(name))
}

// count is how much a further page of a proposal has.
func (v *view) count(tab string) (n int) {
	switch tab {
	case "mentions":
		return v.Record.References
	case "history":
		answer, _ := answerOf[cips.History](v)
		return len(answer.Items)
	case "votes":
		mail, _ := answerOf[cips.Tally](v)
		ledger, _ := answerOf[kb.List[cips.VoteRequest]](v)
		return len(mail.Votes) + ledger.Total
	case "implementation":
		answer, _ := answerOf[cips.Implementation](v)
		return len(answer.Evidence)
	case "attachments":
		answer, _ := answerOf[cips.Attachments](v)
		return len(answer.Items)
	}
	return 0
}

// prepareRadar orders the alerts by urgency, if all of them are on the page.
func prepareRadar(h *Handler, v *view) error {
	list, _ := answerOf[kb.List[onboarding.Alert]](v)
	if len(list.Items) == list.Total {
		v.Lede = "Breaking changes and deadlines, the most urgent first."
		now := h.cfg.Now()
		slices.SortStableFunc(list.Items, func(a, b onboarding.Alert) int { return byUrgency(a, b, now) })
	}
	return prepareList(h, v)
}

// levels are those of alerts, the most urgent first.
var levels = []string{catalog.RadarCritical, catalog.RadarImportant, catalog.RadarEcosystem}

// byUrgency orders alerts by level, then the next deadline first, then those without
// one and those whose deadline is over.
func byUrgency(a, b onboarding.Alert, now time.Time) int {
	ahead := func(x onboarding.Alert) time.Time {
		if x.Deadline == nil || x.Deadline.Before(now) {
			return time.Unix(1<<40, 0)
		}
		return *x.Deadline
	}
	return cmp.Or(cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)), ahead(a).Compare(ahead(b)))
}

// until says in how many days a day is, "" if it is past.
func (h *Handler) until(at *time.Time) string {
	if at == nil {
		return ""
	}
	switch days := int(at.Truncate(24*time.Hour).Sub(h.cfg.Now().Truncate(24*time.Hour)) / (24 * time.Hour)); {
	case days < 0:
		return ""
	case days == 0:
		return "today"
	case days == 1:
		return "tomorrow"
	default:
		return fmt.Sprintf("in %d days", days)
	}
}

// prepareChanges has a page that nothing narrows show what is newest where nothing is new.
func prepareChanges(h *Handler, v *view) error {
	if len(v.Params) > 0 {
		return nil
	}
	return latest(h, v, 30)
}

// latest puts the newest changes, however old, in place of a stream of none.
func latest(h *Handler, v *view, limit int) error {
	for i, a := range v.answers {
		stream, ok := a.answer.(community.ActivityStream)
		if !ok || stream.Total > 0 {
			continue
		}
		_, got, err := h.ask.ever.ask(v.ctx, map[string]string{"limit": strconv.Itoa(limit)}, nil)
		if err != nil {
			return err
		}
		if v.answers[i] = got; i == 0 {
			v.Main = got.answer
		}
	}
	return nil
}

// prepareList finds the address of a list's next part.
func prepareList(h *Handler, v *view) error {
	a := v.answers[0]
	if _, more := a.op.Next(a.in, a.answer); more {
		offset, _ := a.answer.(op.Paged).Next()
		v.next = v.With("offset", strconv.Itoa(offset))
	}
	return nil
}
