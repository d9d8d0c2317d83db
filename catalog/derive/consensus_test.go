package derive_test

import (
	"testing"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// reply is a post with likes.
func reply(likes int64, accepted bool) catalog.Record {
	r := wrote("ann", catalog.KindPost, 1, catalog.Post{Accepted: accepted})[0]
	r.Votes = likes
	return r
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
	answered := []derive.Thread{{Record: catalog.Record{Replies: 2}}}
	mail := wrote("ann", catalog.KindMailThread, 1, catalog.MailThread{Messages: 4, Participants: []string{"Ann", "Bo", "ann"}})
	alone := wrote("ann", catalog.KindMailThread, 1, catalog.MailThread{Messages: 1, Participants: []string{"Ann"}})
	for name, c := range map[string]struct {
		debate derive.Debate
		want   string
	}{
		"nothing":                          {derive.Debate{}, "none"},
		"threads without replies":          {derive.Debate{Threads: []derive.Thread{{}}, Mail: alone}, "none"},
		"replies that nobody likes":        {derive.Debate{Threads: answered, Replies: []catalog.Record{reply(0, false), reply(0, true)}}, "open"},
		"a debate by mail":                 {derive.Debate{Mail: mail}, "open"},
		"the accepted answer is the best":  {derive.Debate{Threads: answered, Replies: []catalog.Record{reply(3, false), reply(4, true)}}, "settled"},
		"another is liked better":          {derive.Debate{Threads: answered, Replies: []catalog.Record{reply(5, false), reply(4, true)}}, "leaning"},
		"half of the likes are not most":   {derive.Debate{Threads: answered, Replies: []catalog.Record{reply(4, false), reply(4, true)}}, "open"},
		"four likes are few":               {derive.Debate{Threads: answered, Replies: []catalog.Record{reply(4, false)}}, "open"},
		"votes decide":                     {derive.Debate{Threads: answered, Replies: []catalog.Record{reply(9, true)}, Votes: votes(1, 2, 5)}, "against"},
		"two thirds are in favour":         {derive.Debate{Votes: votes(4, 2, 0)}, "in_favour"},
		"fewer are divided":                {derive.Debate{Votes: votes(5, 3, 0)}, "divided"},
		"two votes are few":                {derive.Debate{Mail: mail, Votes: votes(2, 0, 9)}, "open"},
		"data that cannot be read is none": {derive.Debate{Mail: []catalog.Record{{Kind: catalog.KindMailThread, Data: []byte("[")}}}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := derive.MeasureConsensus(c.debate).Verdict; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestConsensusMeasures(t *testing.T) {
	threads := []derive.Thread{
		{Record: catalog.Record{ID: 1, Replies: 5, Views: 7}, Accepted: true}, {Record: catalog.Record{ID: 2, Views: 90}},
		{Record: catalog.Record{ID: 3, Replies: 1, Views: 90}}, {Record: catalog.Record{ID: 4}},
	}
	replies := []catalog.Record{reply(2, false), reply(6, false), reply(6, true), reply(-2, false)}
	replies[1].ID = 11
	c := derive.MeasureConsensus(derive.Debate{
		Threads: threads, Replies: replies, Votes: votes(1, 1, 2),
		Mail: wrote("ann", catalog.KindMailThread, 2, catalog.MailThread{Messages: 4, Participants: []string{"Ann", "Bo", "ann"}}),
	})
	if c.ReplyRatio != 0.5 || c.RepliesPerThread != 1.5 || c.Accepted != 1 || c.Threads != 4 || c.MailThreads != 2 || c.MailMessages != 8 || c.MailWriters != 2 ||
		c.InFavour != 1 || c.Against != 1 || c.Abstained != 2 || c.Best.ID != 11 || c.BestShare != 6.0/14 {
		t.Errorf("%+v", c)
	}
	if most, ok := derive.MostViewed(threads); !ok || most.Record.ID != 2 {
		t.Errorf("most viewed %d %v, want 2", most.Record.ID, ok)
	}
	if _, ok := derive.MostViewed(nil); ok {
		t.Error("there is a most viewed thread of none")
	}
}
