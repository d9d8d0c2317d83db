package api_test

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// mole is a knowledge base in which keys say nothing about time: what is said on
// an issue, a pull request, a discussion and a mailing list without numbers; and
// votes.
func mole(t *testing.T) *library {
	t.Helper()
	return serve(t, network.Network{Name: "mole", Proposals: tidewater}, func() time.Time { return now },
		func(store *sqlstore.Store) {
			batch := catalog.Batch{Source: "talk"}
			put := func(r catalog.Record, parent catalog.Ref, data any) {
				t.Helper()
				encoded, err := catalog.Encode(data)
				if err != nil {
					t.Fatal(err)
				}
				r.Data = encoded
				batch.Entries = append(batch.Entries, catalog.Entry{Record: r, Parent: parent})
			}
			said := func(kind catalog.Kind, parent catalog.Ref, key, author, body string, days int, data any) {
				put(catalog.Record{Kind: kind, Key: key, Title: "Re: " + parent.Key, Author: author, Body: body,
					Container: containerOf(parent.Key), CreatedAt: ago(days)}, parent, data)
			}
			thread := func(kind catalog.Kind, key, title, body string, data any) catalog.Ref {
				r := catalog.Record{Kind: kind, Key: key, Title: title, Author: "ada", Body: body, CreatedAt: ago(9),
					Container: containerOf(key), LastActivityAt: ago(1), Replies: 2}
				put(r, catalog.Ref{}, data)
				return r.Ref()
			}
			issue := thread(catalog.KindIssue, "mole/light#7", "The lamp is dim", "It was bright.", catalog.Issue{Number: 7})
			said(catalog.KindComment, issue, "mole/light#issuecomment-2", "cy", "Then **replace** it.", 3, catalog.Comment{})
			said(catalog.KindComment, issue, "mole/light#issuecomment-9", "bo",
				"Is the wick trimmed?\n\n```\ntrim --wick\n```\n\n<script>alert(1)</script>", 5, catalog.Comment{})
			pull := thread(catalog.KindPull, "mole/light#8", "Trim the wick", "Fixes the lamp.", catalog.Pull{Number: 8})
			said(catalog.KindComment, pull, "mole/light#discussion_r1", "di", "Cut shorter.", 2, catalog.Comment{Review: true})
			long := thread(catalog.KindIssue, "mole/light#9", "A log", strings.Repeat("The log follows.\n\n", 1000),
				catalog.Issue{Number: 9})
			said(catalog.KindComment, long, "mole/light#issuecomment-5", "ed", lines(1, 4000), 4, catalog.Comment{})
			said(catalog.KindComment, long, "mole/light#issuecomment-4", "ed", lines(4001, 4100), 3, catalog.Comment{})
			done := thread(catalog.KindPull, "mole/light#10", "Oil the hinge",
				"After #7 and mole/light#8, as CIP-3 and `CIP-3` say.\n\n    CIP-3\n\nNot #99, not CIP-88.", catalog.Pull{
					Number: 10, MergedAt: "2030-05-12T10:00:00Z", MergeCommit: "0123456789abcdef0123", Additions: 1200,
					Files: []string{"hinge.go", "hinge_test.go"}})
			batch.Entries[len(batch.Entries)-1].Links = []catalog.Link{{Relation: catalog.Mentions,
				To: catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0003"}, Snippet: "as CIP-3 and"}}
			said(catalog.KindComment, done, "mole/light#issuecomment-11", "bo", "It closes #7.", 2, catalog.Comment{})
			put(catalog.Record{Kind: catalog.KindRadar, Key: "new", Title: "A new lamp", Category: "ecosystem",
				Summary: "It is *brighter*.", CreatedAt: ago(1)}, catalog.Ref{}, catalog.Radar{})
			put(catalog.Record{Kind: catalog.KindProject, Key: "lamps", Title: "Lamps", Body: "They shine."}, catalog.Ref{},
				catalog.Project{Apps: []string{"lamp-1"}, Repos: []string{"mole/light"}})
			put(catalog.Record{Kind: catalog.KindRepo, Key: "mole/light", Title: "mole/light", Body: "The light."},
				catalog.Ref{}, catalog.Repo{})
			chat := thread(catalog.KindDiscussion, "D_1", "Which oil?", "Whale or olive?", catalog.Discussion{Number: 30})
			said(catalog.KindComment, chat, "DC_b", "bo", "Olive.", 5, catalog.Comment{})
			said(catalog.KindComment, chat, "DC_a", "cy", "Neither.", 2, catalog.Comment{})
			saga := thread(catalog.KindDiscussion, "D_2", "A saga", lines(1, 3000), catalog.Discussion{Number: 31})
			said(catalog.KindComment, saga, "DC_d", "bo", lines(3001, 6000), 5, catalog.Comment{})
			said(catalog.KindComment, saga, "DC_c", "cy", lines(6001, 6100), 2, catalog.Comment{})
			mail := thread(catalog.KindMailThread, "talk-500", "Rota", "Who keeps watch?", catalog.MailThread{Messages: 2})
			said(catalog.KindMailMessage, mail, "talk-500", "ada", "Who keeps watch?", 9, catalog.MailMessage{Number: 1})
			said(catalog.KindMailMessage, mail, "talk-100", "bo", "I do.", 8, catalog.MailMessage{Number: 2})
			put(catalog.Record{Kind: catalog.KindCIP, Key: "CIP-0003", Title: "Light the mole", Body: "At night."},
				catalog.Ref{}, catalog.CIP{})
			vote := func(key, state, outcome string) {
				put(catalog.Record{Kind: catalog.KindVoteRequest, Key: key, Title: "Vote " + key, State: state, CreatedAt: ago(3)},
					catalog.Ref{}, catalog.VoteRequest{Outcome: outcome, Votes: []catalog.Ballot{
						{Voter: "Reef", Choice: "in_favour"}, {Voter: "Quay", Choice: "abstain"}},
						Abstained: []string{"Buoy", "Shoal"}})
			}
			vote("vote-open", "open", "")
			vote("vote-closed", "closed", "accepted")
			if _, err := store.Apply(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}).ready(t)
}

// containerOf is the repository of an issue, "" for what has none.
func containerOf(key string) string {
	repo, _, _ := strings.Cut(key, "#")
	if !strings.Contains(repo, "/") {
		return ""
	}
	return repo
}

// lines are lines of a log with these numbers, an empty one after each tenth.
func lines(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "line %d ends\n", i)
		if i%10 == 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// inOrder reports the first of parts that a text lacks behind those before it.
func inOrder(text string, parts ...string) string {
	for _, p := range parts {
		at := strings.Index(text, p)
		if at < 0 {
			return p
		}
		text = text[at+len(p):]
	}
	return ""
}

// page is the page of a record of mole, and its Markdown.
func (l *library) page(t *testing.T, kind catalog.Kind, key string) (page, markdown string) {
	t.Helper()
	address := strings.TrimPrefix(l.base.PageURL(l.record(t, kind, key)), publicURL)
	for _, suffix := range []string{"", ".md"} {
		w := visit(l.public, address+suffix)
		if w.Code != 200 {
			t.Fatalf("%s: %d %s", address+suffix, w.Code, w.Body)
		}
		if suffix == "" {
			checkPage(t, address, w)
			page = w.Body.String()
		} else {
			markdown = w.Body.String()
		}
	}
	return page, markdown
}

// TestCommentsAreOnTheirPage holds that issues and pull requests show what is said
// on them: whole, safe, oldest first, each with an address of its own.
func TestCommentsAreOnTheirPage(t *testing.T) {
	l := mole(t)
	page, markdown := l.page(t, catalog.KindIssue, "mole/light#7")
	if p := inOrder(page, "It was bright.", "2 comments", `id="c1"`, ">bo<", `datetime="2030-05-10`, `href="#c1"`,
		"Is the wick trimmed?", "trim --wick", `id="c2"`, ">cy<", `href="#c2"`, "<strong>replace</strong>"); p != "" {
		t.Errorf("no %s in its place:\n%s", p, page)
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("a script of a comment is one of the page")
	}
	if p := inOrder(markdown, "It was bright.", "## 2 comments", "**bo**", "Is the wick trimmed?", "trim --wick", "**cy**",
		"**replace**"); p != "" {
		t.Errorf("no %s in its place:\n%s", p, markdown)
	}
	page, markdown = l.page(t, catalog.KindPull, "mole/light#8")
	if p := inOrder(page, "Fixes the lamp.", "1 comment", `id="c1"`, ">di<", "Cut shorter."); p != "" {
		t.Errorf("no %s in its place:\n%s", p, page)
	}
	if p := inOrder(markdown, "Fixes the lamp.", "## 1 comment", "**di**", "Cut shorter."); p != "" {
		t.Errorf("no %s in its place:\n%s", p, markdown)
	}
}

// TestTextsLeadToWhatTheyName holds which names in texts and facts are links, and what
// these say of the record.
func TestTextsLeadToWhatTheyName(t *testing.T) {
	l := mole(t)
	page, _ := l.page(t, catalog.KindPull, "mole/light#10")
	to := func(prefix string, kind catalog.Kind, key, title, name string) string {
		id, at := "", strings.TrimPrefix(l.base.PageURL(l.record(t, kind, key)), publicURL)
		if prefix != "" {
			id = ` id="` + prefix + "to:" + at + `"`
		}
		return "<a" + id + ` href="` + at + `" title="` + title + `">` + name + "</a>"
	}
	if p := inOrder(page, "After "+to("s-", catalog.KindIssue, "mole/light#7", "The lamp is dim", "#7"),
		to("s-", catalog.KindPull, "mole/light#8", "Trim the wick", "mole/light#8"),
		to("s-", catalog.KindCIP, "CIP-0003", "Light the mole", "CIP-3"), "<code>CIP-3</code>", "<code>CIP-3\n",
		"Not #99, not CIP-88.", "It closes "+to("c1-", catalog.KindIssue, "mole/light#7", "The lamp is dim", "#7")); p != "" {
		t.Errorf("no %s in its place:\n%s", p, page)
	}
	for _, at := range []string{"/cips/0003", "/cips/0003/mentions"} {
		if page := visit(l.public, at).Body.String(); !strings.Contains(page, `href="/pulls/mole/light/10#s-to:/cips/0003"`) {
			t.Errorf("%s does not lead to where it is named:\n%s", at, page)
		}
	}
	page, _ = l.page(t, catalog.KindProject, "lamps")
	if p := inOrder(page, to("", catalog.KindRepo, "mole/light", "mole/light", "mole/light"), "lamp-1"); p != "" {
		t.Errorf("no %s in its place:\n%s", p, page)
	}
}

// TestTheFeedSaysWhatIsNew holds that its entries have the summaries of what is new.
func TestTheFeedSaysWhatIsNew(t *testing.T) {
	feed := visit(mole(t).public, "/feed.atom").Body.String()
	if p := inOrder(feed, "New alert: A new lamp</title>", "<summary>It is brighter.</summary>"); p != "" {
		t.Errorf("no %s in its place:\n%s", p, feed)
	}
}

// TestLongThreadsGoOn follows the pages of texts that no page holds: nothing is
// left out and nothing shown twice.
func TestLongThreadsGoOn(t *testing.T) {
	l := mole(t)
	for _, thread := range []struct {
		kind catalog.Kind
		key  string
		last int
	}{{catalog.KindIssue, "mole/light#9", 4100}, {catalog.KindDiscussion, "D_2", 6100}} {
		next := strings.TrimPrefix(l.base.PageURL(l.record(t, thread.kind, thread.key)), publicURL)
		var read strings.Builder
		pages := 0
		for ; next != "" && pages < 20; pages++ {
			w := visit(l.public, next)
			if w.Code != 200 {
				t.Fatalf("%s: %d %s", next, w.Code, w.Body)
			}
			checkPage(t, next, w)
			_, text, _ := strings.Cut(w.Body.String(), "<main") // the description before it quotes the text
			read.WriteString(text)
			_, rest, _ := strings.Cut(w.Body.String(), `rel="next" data-continues`)
			_, rest, _ = strings.Cut(rest, `href="`)
			next, _, _ = strings.Cut(rest, `"`)
			next = html.UnescapeString(next)
		}
		var got, want []string
		for _, m := range regexp.MustCompile(`line (\d+) ends`).FindAllStringSubmatch(read.String(), -1) {
			got = append(got, m[1])
		}
		for i := range thread.last {
			want = append(want, fmt.Sprint(i+1))
		}
		if !slices.Equal(got, want) || pages < 3 {
			t.Errorf("%s: %d pages have %d lines of %d, or not in order", thread.key, pages, len(got), len(want))
		}
	}
}

// TestThreadsAreOldestFirst holds the order, the numbers and the dates of threads,
// on pages and wherever else they are read.
func TestThreadsAreOldestFirst(t *testing.T) {
	l := mole(t)
	page, markdown := l.page(t, catalog.KindDiscussion, "D_1")
	if p := inOrder(page, `id="p1"`, ">ada<", `datetime="2030-05-06`, "Whale or olive?", `id="p2"`, ">bo<", "Olive.",
		`id="p3"`, ">cy<", "Neither."); p != "" {
		t.Errorf("no %s in its place:\n%s", p, page)
	}
	if p := inOrder(markdown, "**ada** · 6 May 2030", "Whale or olive?", "**bo**", "**cy**"); p != "" {
		t.Errorf("no %s in its place:\n%s", p, markdown)
	}
	page, _ = l.page(t, catalog.KindMailThread, "talk-500")
	if p := inOrder(page, `id="p1"`, "Who keeps watch?", `id="p2"`, "I do."); p != "" {
		t.Errorf("no %s in its place:\n%s", p, page)
	}
	issue := l.id(t, catalog.KindIssue, "mole/light#7")
	second := l.id(t, catalog.KindComment, "mole/light#issuecomment-2")
	first := l.id(t, catalog.KindComment, "mole/light#issuecomment-9")
	for _, q := range []question{
		{target: "/api/v1/forge-discussions/D_1", tool: "get_forge_discussion", args: `{"id":"D_1"}`,
			want: fields{"items.*.id": "DC_b,DC_a"}},
		{tool: "get_mailing_thread", args: `{"id":"talk-500"}`, want: fields{"items.*.content": "Who keeps watch?,I do."}},
		{target: "/api/v1/code/" + issue + "/comments", want: fields{"items.*.author": "bo,cy", "total": 2}},
		{target: "/api/v1/code/" + issue + "/comments?cursor=1", want: fields{"items.*.author": "cy", "total": 2}},
		{target: "/api/v1/code/" + issue + "/comments?cursor=2", status: 400, message: "cursor must be"},
		{target: "/api/v1/code/mole%2Flight%238/comments", want: fields{"items.*.author": "di"}},
		{target: "/api/v1/code/D_1/comments", status: 404, message: "no issue and no pull request"},
		{tool: "get_doc", args: fmt.Sprintf(`{"id":%s}`, first), want: fields{"after": second}},
		{tool: "get_doc", args: fmt.Sprintf(`{"id":%q}`, issue+"#thread"),
			check: func(t *testing.T, answer any) {
				text, _ := at(answer, "content")
				if p := inOrder(text.(string), "It was bright.", "Is the wick trimmed?", "Then **replace** it."); p != "" {
					t.Errorf("no %s in its place: %s", p, text)
				}
			}},
	} {
		l.ask(t, q, coverage{})
	}
}

// TestWhoHasNotVotedDoesNotAbstain holds what pages and operations say of members
// who cast no vote.
func TestWhoHasNotVotedDoesNotAbstain(t *testing.T) {
	l := mole(t)
	votes := visit(l.public, "/votes").Body.String()
	for _, want := range []string{
		"1 for, 0 against, 1 abstained, 2\nnot yet", "1 for, 0 against, 1 abstained, 2\ndid not vote",
	} {
		if !strings.Contains(votes, want) {
			t.Errorf("no %q:\n%s", want, votes)
		}
	}
	for key, word := range map[string]string{"vote-open": "Not yet", "vote-closed": "Did not vote"} {
		page, _ := l.page(t, catalog.KindVoteRequest, key)
		if p := inOrder(page, "<dt>Abstained</dt><dd>1</dd>", word+"</dt><dd>2</dd>", word+": Buoy, Shoal"); p != "" {
			t.Errorf("%s: no %s in its place:\n%s", key, p, page)
		}
		l.ask(t, question{tool: "get_governance_vote", args: fmt.Sprintf(`{"tracking_cid":%q}`, key),
			want: fields{"for": 1, "against": 0, "abstained": 1, "not_voted": 2, "absent.0": "Buoy", "absent.#": 2}}, coverage{})
	}
}
