package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
)

// peopleQuestions are the questions about people, projects and what sources
// say, on the records that all tests share.
func peopleQuestions(t *testing.T, l *library) []question {
	topic := l.id(t, catalog.KindTopic, "1234")
	return []question{
		{name: "no code", tool: "find_code_examples", args: `{"topic":"tide oracle"}`,
			want: fields{"items.#": 0, "total": 0}},
		{name: "an open question is not an open issue", tool: "find_known_issues",
			args: `{"description":"gauge reads zero","limit":2}`,
			want: fields{"sources.*.source": "forum,forge", "sources.0.total": 0}},
		{name: "guidance", tool: "find_maintainer_guidance", args: `{"topic":"tide oracle"}`,
			want: fields{"maintainers": 1, "items.0.author": "bo", "items.0.share": 0}},
		{name: "experts", tool: "find_expert", args: `{"topic":"gauge"}`,
			want: fields{"items.*.name": "bo", "items.0.score": 1, "items.0.pulls": 1}},
		{name: "too many experts", tool: "find_expert", args: `{"topic":"gauge","limit":51}`, status: 400,
			message: "limit must be between 1 and 50"},
		{name: "a project alone", tool: "find_collaboration_opportunities", args: `{"project":"ferryline"}`,
			want: fields{"project.title": "Ferryline", "items.#": 0,
				"hint": "it names nothing that it seeks, and no project seeks what it is: try find_similar_projects"}},
		{name: "an unknown project", tool: "find_collaboration_opportunities",
			args: `{"project":"ferry tickets company"}`, status: 404,
			message: `there is no project "ferry tickets company": the nearest are "Ferryline"`},
		{name: "no consensus", tool: "community_consensus", args: `{"topic":"seagulls"}`,
			want: fields{"verdict": "none", "votes": nil, "evidence.#": 0}},
		{name: "no drift", tool: "detect_drift", args: `{"topic":"berths"}`,
			want: fields{"total": 0, "compared.*.source": "docs,forum,forge"}},
		{name: "the foundation", tool: "get_foundation_info", args: `{"topic":"lights"}`,
			want: fields{"items.*.title": "About the foundation"}},
		{name: "too much of the foundation", tool: "get_foundation_info", args: `{"topic":"lights","limit":21}`,
			status: 400, message: "limit must be between 1 and 20"},
		{name: "topics", target: "/api/v1/discussions",
			want: fields{"items.*.id": topic, "items.0.source": "forum", "items.0.page": publicURL +
				"/discussions/1234", "total": 1, "limit": 20, "offset": 0}},
		{name: "threads of a source", target: "/api/v1/discussions?source=FORGE",
			want: fields{"items.*.title": "Which gauge?", "items.0.source": "forge", "items.0.page": publicURL +
				"/forge-discussions/D_kw1"}},
		{name: "mail threads", target: "/api/v1/discussions?source=mail",
			want: fields{"items.*.kind": "mail_thread", "items.0.source": "mail"}},
		{name: "an unknown source of discussions", target: "/api/v1/discussions?source=chat", status: 400,
			message: "source must be one of forum, mail, forge"},
		{name: "too many discussions", target: "/api/v1/discussions?limit=101", status: 400,
			message: "limit must be between 1 and 100"},
		{name: "a page past the end of discussions", target: "/api/v1/discussions?offset=9",
			want: fields{"items.#": 0, "hint": "there are 1 in all: the offset is past the end"}},
	}
}

// quay is a knowledge base of its own: people who write on forum, mail and
// forge, projects, and documentation that is not in step.
func quay(t *testing.T) *library {
	n := network.Network{Name: "harbour", Title: "Harbour", Proposals: tidewater}
	return serve(t, n, func() time.Time { return now }, func(store catalog.Store) {
		for _, items := range [][]item{threads(), mails(), forge(), manual(), projects()} {
			b := catalog.Batch{Source: items[0].Source}
			for _, i := range items {
				var err error
				if i.Data, err = catalog.Encode(i.data); err != nil {
					t.Fatal(err)
				}
				b.Entries = append(b.Entries, catalog.Entry{Record: i.Record, Parent: i.parent, Votes: i.votes})
			}
			if _, err := store.Apply(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}).ready(t)
}

// said is one post: who, how many likes it has, and the text; "!" before the
// text marks the accepted answer.
type said struct {
	by    string
	likes int64
	text  string
}

// thread is a forum topic with its posts, one a day.
func thread(number int, title, category string, views int64, days int, posts ...said) []item {
	key := fmt.Sprint(number)
	topic := item{data: catalog.Topic{Posts: len(posts)}, Record: catalog.Record{
		Kind: catalog.KindTopic, Key: key, Title: title, Source: "forum", Category: category, State: "open",
		Author:    posts[0].by,
		CreatedAt: ago(days), LastActivityAt: ago(days - len(posts) + 1), Views: views, Replies: int64(len(posts) - 1),
		Body: posts[0].text,
	}}
	var out []item
	for i, p := range posts {
		text, accepted := strings.CutPrefix(p.text, "!")
		post := item{parent: ref(catalog.KindTopic, key), Record: catalog.Record{
			Kind: catalog.KindPost, Key: fmt.Sprintf("%s/%d", key, i+1), Title: title, Source: "forum",
			Category: category, Author: p.by,
			CreatedAt: ago(days - i), Votes: p.likes, Body: text,
		}, data: catalog.Post{Number: i + 1, Accepted: accepted}}
		if i > 0 {
			post.Title = "Re: " + title
		}
		if strings.Contains(text, "```") {
			post.Tags = []string{catalog.TagCode}
		}
		if accepted {
			topic.data = catalog.Topic{Posts: len(posts), Accepted: i + 1}
		}
		out = append(out, post)
	}
	return append([]item{topic}, out...)
}

func threads() (out []item) {
	out = append(out, thread(11, "The sluice does not open", "Locks", 900, 40,
		said{"wren", 1, "My sluice is stuck at half tide. What opens it?"},
		said{"ada", 9, "!Turn the wheel by hand:\n\n```sh\nsluice open --by hand\n```\n\nand wait for the " +
			"tide.\n\n```\nWARN gate slow\n```"},
		said{"bo", 2, "I use this for the sluice:\n\n```\n" + strings.Repeat("x", 2100) + "\n```"},
		said{"wren", 0, "Thanks, the sluice opens."})...)
	out = append(out, thread(12, "Sluice jams in winter", "Locks", 5000, 30,
		said{"tern", 4, "Ice in the sluice. Nobody knows?"})...)
	out = append(out, thread(13, "Sluice jams at night", "Locks", 3, 2,
		said{"tern", 4, "The sluice jams in the dark."})...)
	out = append(out, thread(14, "Old sluice jams", "Locks", 8000, 300, said{"tern", 4, "The old sluice jams."})...)
	out[len(out)-2].State = "closed"
	out = append(out, thread(15, "Who pays the pilot", "Fees", 700, 20,
		said{"wren", 0, "Who pays the pilot of a ferry?"}, said{"bo", 1, "The ferry pays the pilot."},
		said{"ada", 7, "The harbour pays the pilot, as voted."})...)
	out = append(out, thread(16, "Tide gauge settings", "Locks", 100, 9,
		said{"wren", 0, "What are the settings of the tide gauge?"},
		said{"ADA", 3, "The gauge interval is 20 s. It needs brass 3.1 or later. Run `sextant read` on it."})...)
	return out
}

func mails() []item {
	vote := func(voter, choice string) catalog.Vote {
		return catalog.Vote{Voter: voter, Choice: choice, CastAt: ago(12)}
	}
	at := func(kind catalog.Kind, key, author, title, text string) catalog.Record {
		return catalog.Record{Kind: kind, Key: key, Title: title, Source: "mail", Container: "cip-vote", Author: author,
			Body: text, CreatedAt: ago(12), LastActivityAt: ago(12)}
	}
	pilot := ref(catalog.KindMailThread, "cip-vote-1")
	return []item{
		{Record: at(catalog.KindMailThread, "cip-vote-1", "Ida Kelp", "Vote on who pays the pilot", ""),
			data: catalog.MailThread{Messages: 2, Participants: []string{"Ida Kelp", "Bo Reef"}},
			votes: []catalog.Vote{vote("a", "in_favour"), vote("b", "in_favour"), vote("c", "in_favour"),
				vote("d", "against"), vote("e", "no_vote")}},
		{Record: at(catalog.KindMailMessage, "cip-vote-1/1", "Ida Kelp", "Vote on who pays the pilot",
			"The harbour pays the pilot."), data: catalog.MailMessage{Number: 1}, parent: pilot},
		{Record: at(catalog.KindMailMessage, "cip-vote-1/2", "Bo Reef", "Re: Vote on who pays the pilot",
			"In favour: the harbour pays the pilot."), data: catalog.MailMessage{Number: 2}, parent: pilot},
	}
}

func forge() []item {
	at := func(kind catalog.Kind, key, author, title, text, state string, votes int64) catalog.Record {
		return catalog.Record{Kind: kind, Key: key, Title: title, Source: "forge", Container: "tide/lock",
			Author: author, Body: text, State: state, Votes: votes, CreatedAt: ago(10)}
	}
	return []item{
		{Record: at(catalog.KindIssue, "tide/lock#1", "tern", "Sluice jams at low water", "The sluice jams.", "open",
			5), data: catalog.Issue{Number: 1, Labels: []string{"bug"}}},
		{Record: at(catalog.KindIssue, "tide/lock#2", "tern", "Sluice jams after an update", "The sluice jams.",
			"closed", 9), data: catalog.Issue{Number: 2}},
		{Record: at(catalog.KindPull, "tide/lock#3", "ada", "Oil the sluice", "The sluice opens with less force.",
			"merged", 0), data: catalog.Pull{Number: 3, Association: "member"}},
		{Record: at(catalog.KindDiscussion, "D_1", "bo", "Tide gauge",
			"The gauge interval is 10 s. It requires brass 3 or later.", "open", 0),
			data: catalog.Discussion{Number: 4}},
	}
}

// manual is the documentation, and what is deprecated.
func manual() []item {
	page := func(path, text string, d catalog.Doc, tags ...string) item {
		return item{data: d, Record: catalog.Record{Kind: catalog.KindDoc, Key: path, Path: path, Title: "Tide gauge",
			Source: "docs", Body: text, UpdatedAt: ago(3), Tags: tags}}
	}
	return []item{
		page("gauge.md", "The gauge interval is 10 seconds. The gauge needs brass 3.1 or later. Read it with `gauge "+
			"read`.", catalog.Doc{}),
		page("old/gauge.md", "The gauge interval is 90 s.", catalog.Doc{Version: "1.0"}),
		{Record: catalog.Record{Kind: catalog.KindDeprecation, Key: "sextant", Title: "sextant", Source: "docs",
			State: catalog.ItemDeprecated, Category: "tool"},
			data: catalog.Deprecation{Replacement: "gauge read", Patterns: []string{"sextant"}}},
		{Record: catalog.Record{Kind: catalog.KindFoundation, Key: "grants", Title: "Grants", Source: "docs",
			Body: "Apply for a grant by letter."}, data: catalog.Foundation{Section: "Money"}},
		{Record: catalog.Record{Kind: catalog.KindFoundation, Key: "about", Title: "About", Source: "docs",
			Body: "It keeps the lights on."}, data: catalog.Foundation{}},
	}
}

func projects() []item {
	one := func(key, category, organisation string, seeks ...string) item {
		return item{data: catalog.Project{Organisation: organisation, Seeks: seeks}, Record: catalog.Record{
			Kind: catalog.KindProject, Key: key, Title: strings.ToUpper(key[:1]) + key[1:], Source: "curated",
			Category: category, Summary: "A " + category + "."}}
	}
	return []item{
		one("ferryline", "ferry", "Reef", "pilot", "chart"), one("helmsman", "pilot", "Kelp", "ferry"),
		one("seachart", "chart", "Kelp"), one("reefpilot", "pilot", "Reef"), one("barge", "ferry", "Silt"),
	}
}

func TestPeople(t *testing.T) {
	l := quay(t)
	long := func(t *testing.T, answer any) {
		if code, _ := at(answer, "items.1.code"); code != strings.Repeat("x", 2000) {
			t.Errorf("code %.40q…", code)
		}
	}
	for _, q := range []question{
		{name: "the block, not the post", tool: "find_code_examples",
			args: `{"topic":"turn the wheel of the sluice by hand"}`, want: fields{
				"items.*.author": "ada,bo", "items.0.code": "sluice open --by hand", "items.0.language": "sh",
				"items.0.likes": 9, "items.0.accepted": true,
				"items.0.blocks": 2, "items.1.truncated": true, "total": 2}, check: long},
		{name: "a page of code", tool: "find_code_examples",
			args: `{"topic":"turn the wheel of the sluice by hand","limit":1,"offset":1}`,
			want: fields{"items.*.author": "bo", "total": 2}},
		{name: "code on nothing", tool: "find_code_examples", args: `{"topic":"zeppelin"}`, want: fields{"items.#": 0}},

		{name: "unresolved, much viewed first", tool: "find_known_issues", args: `{"description":"sluice jams"}`,
			want: fields{
				"sources.*.source":             "forum,forge",
				"sources.0.items.*.title":      "Sluice jams in winter,Sluice jams at night",
				"sources.0.items.0.views":      5000,
				"sources.0.items.0.kind":       "topic",
				"sources.0.items.0.unresolved": "no reply in 30 days, 5000 views: more than 67 % of the threads",
				"sources.1.items.*.title":      "Sluice jams at low water", "sources.1.items.0.labels.0": "bug",
				"sources.1.items.0.unresolved": "open for 10 days, 0 comments, 5 reactions, nobody assigned"}},
		{name: "as many of each source", tool: "find_known_issues", args: `{"description":"sluice jams","limit":1}`,
			want: fields{"sources.0.items.#": 1, "sources.0.total": 2, "sources.1.items.#": 1}},

		{name: "maintainers", tool: "find_maintainer_guidance", args: `{"topic":"sluice"}`, want: fields{
			"items.*.author": "ada", "items.0.roles.0": "member", "items.0.share": 0.6, "items.0.accepted": true}},
		{name: "maintainers by mail", tool: "find_maintainer_guidance",
			args: `{"topic":"who pays the pilot, in favour"}`, check: contains("items.*.author", "Bo Reef", "ada")},

		{name: "experts", tool: "find_expert", args: `{"topic":"sluice"}`, want: fields{
			"items.0.name": "ada", "items.0.posts": 1, "items.0.pulls": 1, "items.0.accepted": 1, "items.0.likes": 9,
			"items.0.evidence.*.why": "accepted answer on the forum,pull request, merged"}},
		{name: "one expert", tool: "find_expert", args: `{"topic":"sluice","limit":1}`, want: fields{"items.#": 1}},

		{name: "who complements a project", tool: "find_collaboration_opportunities", args: `{"project":"FerryLine"}`,
			want: fields{
				"project.id": "ferryline", "seeks.#": 2, "items.*.id": "helmsman,seachart", "items.*.weight": "1,0.5",
				"total":         2,
				"items.0.why.0": "Ferryline seeks pilot, the category of Helmsman",
				"items.0.why.1": "Helmsman seeks ferry, the category of Ferryline"}},

		{name: "votes decide", tool: "community_consensus", args: `{"topic":"who pays the pilot"}`, want: fields{
			"verdict": "in_favour", "votes.in_favour": 3, "votes.against": 1, "votes.abstained": 1, "threads": 1,
			"reply_ratio": 1, "replies_per_thread": 2,
			"mail_threads": 1, "mail_messages": 2, "mail_writers": 2, "evidence.*.kind": "mail_thread,post,topic",
			"evidence.1.snippet": "The harbour pays the pilot, as voted.", "evidence.1.weight": 0.875}},
		{name: "an accepted answer settles", tool: "community_consensus", args: `{"topic":"sluice does not open"}`,
			want: fields{"verdict": "settled", "votes": nil, "accepted": 1, "evidence.0.author": "ada"}},
		{name: "one word in common is not the topic", tool: "community_consensus",
			args: `{"topic":"sluice lighthouse"}`, want: fields{"verdict": "none", "threads": 0, "evidence.#": 0},
			check: contains("hint", "no consensus is measurable")},

		{name: "sources differ", tool: "detect_drift", args: `{"topic":"tide gauge"}`, want: fields{
			"findings.*.subject": "brass, at least,sextant", "findings.*.aspect": "version,name", "total": 2, "agreed": 0,
			"findings.0.sides.*.source": "docs,forge,forum", "findings.0.sides.*.value": "3.1,3,3.1",
			"findings.0.sides.0.date": "2030-05-12T12:00:00Z", "findings.1.sides.*.value": "gauge read,sextant",
			"compared.*.records": "1,2,1"}},
		{name: "sources agree", tool: "detect_drift", args: `{"topic":"pilot of a ferry"}`,
			want: fields{"findings.#": 0}, check: contains("hint", "no contradiction found among ")},

		{name: "pages of the foundation", tool: "get_foundation_info", args: `{"topic":"apply for a grant","limit":1}`,
			want: fields{"items.*.title": "Grants", "items.0.section": "Money",
				"items.0.snippet": "Apply for a grant by letter."}},

		{name: "topics, newest activity first", target: "/api/v1/discussions", want: fields{
			"items.*.key": "13,16,15,12,11,14", "items.2.views": 700, "items.2.replies": 2, "items.2.category": "Fees",
			"total": 6}},
		{name: "topics of a category", target: "/api/v1/discussions?category=fees&limit=1",
			want: fields{"items.*.key": "15", "total": 1, "limit": 1}},
		{name: "topics of no category", target: "/api/v1/discussions?category=birds",
			want: fields{"items.#": 0, "hint": `no record has the category "birds": there are Fees, Locks`}},
		{name: "a search of all sources", target: "/api/v1/discussions?q=pays+the+pilot&limit=100",
			check: contains("items.*.source", "forum", "mail")},
		{name: "a search of one source", target: "/api/v1/discussions?q=gauge&source=forge",
			want: fields{"items.*.title": "Tide gauge",
				"items.0.snippet": "The gauge interval is 10 s. It requires brass 3 or later."}},
		{name: "a search of a category", target: "/api/v1/discussions?q=pilot&category=Fees",
			check: func(t *testing.T, answer any) {
				if got, _ := at(answer, "items.*.category"); got == "" ||
					strings.Trim(strings.ReplaceAll(got.(string), "Fees", ""), ",") != "" {
					t.Errorf("categories %v", got)
				}
			}},
		{name: "a search of no category", target: "/api/v1/discussions?q=pilot&category=birds",
			want: fields{"items.#": 0, "total": 0}},
		{name: "a page of a search", target: "/api/v1/discussions?q=sluice&limit=2&offset=1",
			want: fields{"items.#": 2, "offset": 1}},
	} {
		t.Run(q.name, func(t *testing.T) { l.ask(t, q, coverage{}) })
	}
}

// contains checks that the text at a path contains all of these.
func contains(path string, parts ...string) func(*testing.T, any) {
	return func(t *testing.T, answer any) {
		got, _ := at(answer, path)
		for _, p := range parts {
			if text, _ := got.(string); !strings.Contains(text, p) {
				t.Errorf("%s is %v, without %q", path, got, p)
			}
		}
	}
}
