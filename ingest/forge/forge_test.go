package forge_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/forge"
	"almanac/testing/connectortest"
)

// config configures a source for the hub's repositories, with a token.
func config(t testing.TB, api string, more map[string]any) connectortest.Config {
	t.Helper()
	options := map[string]any{"api": api, "token_env": "CAUSEWAY_FORGE_TOKEN",
		"repositories": []string{"causeway/node"}, "bots": []string{"causeway-ci"}}
	maps.Copy(options, more)
	return connectortest.Config{Kind: forge.Kind, Options: options}
}

func date(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// problems are the problems of a run as text.
func problems(r connectortest.Result) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s: %s\n", p.Locator, p.Message)
	}
	return b.String()
}

func TestReadsARepository(t *testing.T) {
	t.Parallel()
	server := serve(t, newHub(t))
	s := connectortest.NewSource(t, config(t, server.URL, map[string]any{"grants": "causeway/grants"}))
	got := s.Sync()
	want := []string{
		"comment DC_1", "comment DC_2",
		"comment causeway/node#discussion_r801", "comment causeway/node#discussion_r802",
		"comment causeway/node#issuecomment-901", "comment causeway/node#issuecomment-906",
		"discussion D_kwDO0001", "discussion D_kwDO0002",
		"issue causeway/node#1", "issue causeway/node#4", "issue causeway/node#5",
		"pull causeway/node#2", "pull causeway/node#3", "pull causeway/node#6",
		"release causeway/node@@causeway/gauge@0.9.0", "release causeway/node@nightly", "release causeway/node@v2.3.1",
		"release causeway/node@v2.4.0-rc.1",
		"repo causeway/node",
	}
	if diff := cmp.Diff(want, got.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if got.Skipped+got.Warned != 0 || !got.Complete {
		t.Errorf("complete %t, problems:\n%s", got.Complete, problems(got))
	}
	issue := got.Get(t, catalog.KindIssue, "causeway/node#1")
	for what, pair := range map[string][2]any{
		"title": {issue.Title, "Relay stops after a tide change"},
		"url":   {issue.URL, "https://forge.example.org/causeway/node/issues/1"},
		"body": {
			issue.Body, "### What happened\n\nThe relay stops with `E_TIDE_07` when the tide turns.\n\n```\nrelay: " +
				"E_TIDE_07: <!-- not a comment --> gauge is below zero\n```\n\nSee CWP-0007, and write to [email " +
				"hidden] if you need logs."},
		"state":    {issue.State, "open"},
		"category": {issue.Category, "Bug"},
		"author":   {issue.Author, "jonas-reef"},
		"replies":  {issue.Replies, int64(3)},
		"votes":    {issue.Votes, int64(5)},
		"tags":     {strings.Join(issue.Tags, ","), "label:bug,label:tides"},
		"created":  {issue.CreatedAt, date("2031-03-01T08:00:00Z")},
		"updated":  {issue.UpdatedAt, date("2031-05-01T10:00:00Z")},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s of the issue (-want +got)\n%s", what, diff)
		}
	}
	if diff := cmp.Diff(catalog.Issue{Number: 1, Labels: []string{"bug", "tides"}, Milestone: "2.4",
		Assignees: []string{"mira-holt"}, Association: "contributor"},
		connectortest.Data[catalog.Issue](t, issue)); diff != "" {
		t.Errorf("issue (-want +got)\n%s", diff)
	}
	ghost := got.Get(t, catalog.KindIssue, "causeway/node#4")
	if ghost.Author != "ghost" || ghost.Title != "causeway/node#4" ||
		connectortest.Data[catalog.Issue](t, ghost).StateReason != "not_planned" {
		t.Errorf("issue of a deleted account: %+v", ghost)
	}
	bot := got.Get(t, catalog.KindPull, "causeway/node#2")
	if bot.Author != "dependabot[bot]" || bot.State != "merged" {
		t.Errorf("a bot's pull request: author %q, state %q", bot.Author, bot.State)
	}
	pull := got.Get(t, catalog.KindPull, "causeway/node#3")
	wantPull := catalog.Pull{Number: 3, Head: "read-twice", Base: "main", Draft: true, Labels: []string{},
		Assignees: []string{}, Association: "member",
		Files: []string{"relay/gauge.go", "relay/gauge_test.go"}, Additions: 40, Deletions: 2}
	if diff := cmp.Diff(wantPull, connectortest.Data[catalog.Pull](t, pull)); diff != "" || pull.State != "open" {
		t.Errorf("pull request, %s (-want +got)\n%s", pull.State, diff)
	}
	if closed := got.Get(t, catalog.KindPull, "causeway/node#6"); closed.State != "closed" {
		t.Errorf("a pull request that was not merged is %s", closed.State)
	}
	answer := connectortest.Data[catalog.Comment](t, got.Get(t, catalog.KindComment, "causeway/node#discussion_r802"))
	if diff := cmp.Diff(catalog.Comment{ReplyTo: "causeway/node#discussion_r801", Association: "member", Review: true,
		File: "relay/gauge.go"}, answer); diff != "" {
		t.Errorf("review (-want +got)\n%s", diff)
	}
	discussion := got.Get(t, catalog.KindDiscussion, "D_kwDO0001")
	wantDiscussion := catalog.Discussion{Number: 7, Labels: []string{"gauge"}, Answered: true,
		AnswerURL: "https://forge.example.org/causeway/node/discussions/7#DC_1", AnsweredBy: "mira-holt"}
	if diff := cmp.Diff(wantDiscussion, connectortest.Data[catalog.Discussion](t, discussion)); diff != "" ||
		discussion.Category != "Q&A" || discussion.Votes != 9 {
		t.Errorf("discussion %+v (-want +got)\n%s", discussion, diff)
	}
	reply := got.Get(t, catalog.KindComment, "DC_2")
	if reply.Parent != discussion.ID || connectortest.Data[catalog.Comment](t, reply).ReplyTo != "DC_1" {
		t.Errorf("reply %+v", reply)
	}
	repo := got.Get(t, catalog.KindRepo, "causeway/node")
	wantRepo := catalog.Repo{FullName: "causeway/node", Description: "The relay node of the Causeway Network",
		Issues: 3, Pulls: 3, Licence: "Apache-2.0"}
	if diff := cmp.Diff(wantRepo, connectortest.Data[catalog.Repo](t, repo)); diff != "" ||
		!strings.Contains(repo.Body, "relays tides") || repo.Path != "README.md" {
		t.Errorf("repository %+v (-want +got)\n%s", repo, diff)
	}
	links, err := s.Store.LinksTo(t.Context(), catalog.Ref{Kind: catalog.KindGrant, Key: "2"})
	if err != nil || len(links) != 1 || links[0].From != pull.ID ||
		links[0].Snippet != "Fixes #1. Funded by causeway/grants#2." {
		t.Errorf("links to grant 2: %+v, %v", links, err)
	}
	if rec, err := s.Store.Get(t.Context(),
		catalog.Ref{Kind: catalog.KindDiscussion, Key: "causeway/node#7"}); err != nil || rec.ID != discussion.ID {
		t.Errorf("a discussion by its number: %v", err)
	}
}

func TestOnlyWhatChangedIsRead(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	server := serve(t, h)
	s := connectortest.NewSource(t, config(t, server.URL, nil))
	s.Sync()
	h.change(func() {
		node := h.projects["causeway/node"]
		node.Issues[0]["state"], node.Issues[0]["updated_at"] = "closed", "2031-05-31T10:00:00Z"
		node.Comments[0]["body"], node.Comments[0]["updated_at"] = "I was wrong.", "2031-05-31T10:00:00Z"
		node.Discussions[1]["updatedAt"] = "2031-05-31T11:00:00Z"
	})
	server.Requests()
	got := s.Sync()
	if got.Updated != 3 || got.Created+got.Deleted != 0 || got.Complete {
		t.Errorf("%d updated, %d created, %d deleted, complete %t", got.Updated, got.Created, got.Deleted, got.Complete)
	}
	paths := strings.Join(server.Paths(), "\n")
	for _, want := range []string{
		"/issues?direction=asc&per_page=100&since=2031-05-02T09%3A45%3A00Z&sort=updated&state=all",
		"/issues/comments?direction=asc&per_page=100&since=2031-05-01T10%3A45%3A00Z&sort=updated"} {
		if !strings.Contains(paths, want) {
			t.Errorf("no request %s among\n%s", want, paths)
		}
	}
	if state := got.Get(t, catalog.KindIssue, "causeway/node#1").State; state != "closed" {
		t.Errorf("the issue is %s", state)
	}
}

func TestDeletionsAreFoundWithinAWeek(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	s := connectortest.NewSource(t, config(t, serve(t, h).URL, nil))
	s.Sync()
	h.change(func() {
		node := h.projects["causeway/node"]
		node.Issues = slices.Delete(node.Issues, 4, 5)
		node.Discussions = node.Discussions[:1]
	})
	s.Clock = s.Clock.Add(24 * time.Hour)
	if got := s.Sync(); got.Deleted != 0 || got.Complete {
		t.Errorf("a day later: %d deleted, complete %t", got.Deleted, got.Complete)
	}
	s.Clock = s.Clock.Add(7 * 24 * time.Hour)
	got := s.Sync()
	if got.Deleted != 2 || slices.Contains(got.Keys(), "issue causeway/node#5") {
		t.Errorf("a week later: %d deleted, complete %t\n%s", got.Deleted, got.Complete, problems(got))
	}
	connectortest.Unchanged(t, s, got)
}

func TestProposalsAreNotOrdinaryPulls(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.projects["causeway/grants"].Issues = []object{
		{"number": 9, "title": "Milestone 1 of PR 2", "state": "open",
			"body":       "Plans of #2 are ready, see also #3 and https://forge.example.org/causeway/grants/pull/3.",
			"updated_at": "2031-05-01T08:00:00Z", "created_at": "2031-05-01T08:00:00Z"},
		{"number": 3, "title": "Tide wallet", "state": "open", "updated_at": "2031-05-02T08:00:00Z",
			"pull_request": object{}},
	}
	s := connectortest.NewSource(t, config(t, serve(t, h).URL,
		map[string]any{"repositories": []string{"causeway/grants"}, "grants": "causeway/grants"}))
	got := s.Sync()
	if diff := cmp.Diff([]string{"comment causeway/grants#issuecomment-602", "issue causeway/grants#9"},
		slices.DeleteFunc(got.Keys(), func(k string) bool {
			return strings.HasPrefix(k,
				"comment causeway/grants#issuecomment-601")
		})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	links, err := s.Store.LinksFrom(t.Context(), got.Get(t, catalog.KindIssue, "causeway/grants#9").ID,
		catalog.References)
	var to []string
	for _, l := range links {
		to = append(to, l.To.String())
	}
	slices.Sort(to)
	if diff := cmp.Diff([]string{"proposal 2", "proposal 3"}, to); err != nil || diff != "" {
		t.Errorf("links (-want +got)\n%s%v", diff, err)
	}
}
