package community

import (
	"fmt"
	"slices"
	"testing"

	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/testing/recordtest"
)

// reply is a post with likes.
func reply(likes int64, accepted bool) catalog.Record {
	return recordtest.With(catalog.Record{Kind: catalog.KindPost, Votes: likes}, catalog.Post{Accepted: accepted})
}

func mail(n, messages int, participants ...string) []catalog.Record {
	r := recordtest.With(catalog.Record{Kind: catalog.KindMailThread},
		catalog.MailThread{Messages: messages, Participants: participants})
	return slices.Repeat([]catalog.Record{r}, n)
}

func votes(inFavour, against, abstained int) (out []catalog.Vote) {
	for choice, n := range map[string]int{"in_favour": inFavour, "against": against, "abstain": abstained} {
		for range n {
			out = append(out, catalog.Vote{Choice: choice})
		}
	}
	return out
}

func TestConsensusVerdict(t *testing.T) {
	answered := []thread{{Record: catalog.Record{Replies: 2}}}
	debated, alone := mail(1, 4, "Ann", "Bo", "ann"), mail(1, 1, "Ann")
	for name, c := range map[string]struct {
		debate discourse
		want   string
	}{
		"nothing":                 {discourse{}, "none"},
		"threads without replies": {discourse{Threads: []thread{{}}, Mail: alone}, "none"},
		"replies that nobody likes": {discourse{Threads: answered,
			Replies: []catalog.Record{reply(0, false), reply(0, true)}}, "open"},
		"a debate by mail": {discourse{Mail: debated}, "open"},
		"the accepted answer is the best": {discourse{Threads: answered,
			Replies: []catalog.Record{reply(3, false), reply(4, true)}}, "settled"},
		"another is liked better": {discourse{Threads: answered,
			Replies: []catalog.Record{reply(5, false), reply(4, true)}}, "leaning"},
		"half of the likes are not most": {discourse{Threads: answered,
			Replies: []catalog.Record{reply(4, false), reply(4, true)}}, "open"},
		"four likes are few": {discourse{Threads: answered,
			Replies: []catalog.Record{reply(4, false)}}, "open"},
		"votes decide": {discourse{Threads: answered, Replies: []catalog.Record{reply(9, true)},
			Votes: votes(1, 2, 5)}, "against"},
		"two thirds are in favour": {discourse{Votes: votes(4, 2, 0)}, "in_favour"},
		"fewer are divided":        {discourse{Votes: votes(5, 3, 0)}, "divided"},
		"two votes are few":        {discourse{Mail: debated, Votes: votes(2, 0, 9)}, "open"},
		"data that cannot be read is none": {discourse{Mail: []catalog.Record{{Kind: catalog.KindMailThread,
			Data: []byte("[")}}}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := measure(c.debate).Verdict; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestConsensusMeasures(t *testing.T) {
	threads := []thread{
		{Record: catalog.Record{ID: 1, Replies: 5, Views: 7}, Accepted: true},
		{Record: catalog.Record{ID: 2, Views: 90}},
		{Record: catalog.Record{ID: 3, Replies: 1, Views: 90}}, {Record: catalog.Record{ID: 4}},
	}
	replies := []catalog.Record{reply(2, false), reply(6, false), reply(6, true), reply(-2, false)}
	replies[1].ID = 11
	c := measure(discourse{
		Threads: threads, Replies: replies, Votes: votes(1, 1, 2),
		Mail: mail(2, 4, "Ann", "Bo", "ann"),
	})
	if c.ReplyRatio != 0.5 || c.RepliesPerThread != 1.5 || c.Accepted != 1 || c.Threads != 4 || c.MailThreads != 2 ||
		c.MailMessages != 8 || c.MailWriters != 2 ||
		c.InFavour != 1 || c.Against != 1 || c.Abstained != 2 || c.Best.ID != 11 || c.BestShare != 6.0/14 {
		t.Errorf("%+v", c)
	}
	if most, ok := mostViewed(threads); !ok || most.Record.ID != 2 {
		t.Errorf("most viewed %d %v, want 2", most.Record.ID, ok)
	}
	if _, ok := mostViewed(nil); ok {
		t.Error("there is a most viewed thread of none")
	}
}

func TestThreadsAbout(t *testing.T) {
	hit := func(id, parent int64, title, snippet string, relevance float64) find.Match {
		return find.Match{Record: catalog.Record{ID: id, Parent: parent, Title: title}, Relevance: relevance,
			Result: retrieval.Result{Snippet: snippet}}
	}
	got := threadsAbout("harbour fees", []find.Match{
		hit(11, 1, "Harbour", "the fees", 1), hit(12, 1, "harbour fees", "", 0.99),
		hit(2, 0, "Fees of the harbour", "", 0.9),
		hit(31, 3, "Harbour", "the weather", 0.9), hit(41, 4, "harbour fees", "", 0.84),
	})
	if want := []int64{1, 2}; !slices.Equal(got, want) {
		t.Errorf("threads %v, want %v: a half of the words is not enough", got, want)
	}
	titled := titledAbout("harbour fees",
		[]catalog.Record{{ID: 1, Title: "Harbour"}, {ID: 2, Title: "Harbour fees?"}})
	if recordtest.IDs(titled) != "2" {
		t.Errorf("titled %s, want 2", recordtest.IDs(titled))
	}
}

func TestThreadsAndReplies(t *testing.T) {
	topics := []catalog.Record{
		recordtest.With(catalog.Record{ID: 1}, catalog.Topic{Accepted: 3}),
		recordtest.With(catalog.Record{ID: 2}, catalog.Topic{}),
		{ID: 3, Data: []byte("[")},
	}
	for i, thread := range forumThreads(topics) {
		if thread.Record.ID != topics[i].ID || thread.Accepted != (i == 0) {
			t.Errorf("%d: %+v", i, thread)
		}
	}
	posts := []catalog.Record{
		recordtest.With(catalog.Record{ID: 1}, catalog.Post{Number: 1}),
		recordtest.With(catalog.Record{ID: 2}, catalog.Post{Number: 2}),
		{ID: 3, Data: []byte("[")},
	}
	if got := recordtest.IDs(repliesIn(posts)); got != "2" {
		t.Errorf("replies %s, want 2", got)
	}
}

func TestConsensusProofs(t *testing.T) {
	best := reply(6, false)
	best.ID, best.Body = 11, "yes"
	d := discourse{
		Threads: []thread{{Record: catalog.Record{ID: 1, Views: 9, Replies: 2}}},
		Replies: []catalog.Record{best, reply(2, false)}, Votes: votes(3, 1, 0),
		Mail: []catalog.Record{{ID: 21}, {ID: 22}}, Decided: &catalog.Record{ID: 22},
	}
	var got []string
	for _, p := range measure(d).Proofs(d) {
		got = append(got, fmt.Sprintf("%d %.2f %s %s", p.Record.ID, p.Weight, p.Why, p.Snippet))
	}
	want := []string{
		"22 1.00 formal votes: 3 in favour, 1 against, 0 abstained or not cast ",
		"11 0.75 best liked reply of the most viewed thread: 6 likes, 75 % of those of all replies yes",
		"1 0.50 most viewed thread: 9 views, 2 replies ",
		"21 0.50 nearest of 2 mail threads with 0 messages ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	d.Mail = d.Mail[1:]
	if n := len(measure(d).Proofs(d)); n != 3 {
		t.Errorf("%d proofs, want 3: the nearest mail is the one that was voted in", n)
	}
	if none := (measured{}).Proofs(discourse{}); none != nil {
		t.Errorf("of nothing: %v", none)
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		text, topic string
		want        float64
	}{
		{"Notice before a mooring ends", "notice before moorings end", 1},
		{"Notice before a mooring ends", "the notice of lighthouses", 0.5},
		{"LIP-0012: Raise the lantern", "lip-0012", 1},
		{"Raise the lantern", "the", 0},
		{"", "lantern", 0},
		{"lantern", "", 0},
	} {
		if got := covers(c.text, c.topic); got != c.want {
			t.Errorf("%q covers %q by %v, want %v", c.text, c.topic, got, c.want)
		}
	}
}
