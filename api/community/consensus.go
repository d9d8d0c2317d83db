package community

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
)

// Consensus is what forum, mail and votes show of agreement on a topic.
type Consensus struct {
	Topic   string `json:"topic"`
	Verdict string `json:"verdict" enum:"in_favour,against,divided,settled,leaning,open,none"`
	derive.Measures
	Votes *derive.Ballot `json:"votes" doc:"formal ones on the topic; null if there are none"`
	kb.Grounds
	Hint string `json:"hint,omitempty" doc:"if no consensus is measurable: why"`
}

type consensusIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"the question or proposal, in your own words"`
}

var consensus = kb.New(op.Spec{
	ID: "community_consensus", Tool: "community_consensus", MayFail: []error{op.ErrUnavailable},
	Doc: `
Is there a consensus
Reply ratios, debate by mail, the best reply and formal votes on a topic.

Measures agreement on a topic: replies on the forum, debate by mail, the best liked reply of the most viewed thread and
formal votes, with a verdict. To read what is said use search_community.
`,
}, func(ctx context.Context, b kb.Base, in consensusIn) (Consensus, error) {
	lists := [][]catalog.Kind{{catalog.KindPost}, {catalog.KindMailThread, catalog.KindMailMessage}}
	search := kb.Search{Field: "topic", Query: in.Topic, Limit: consensusRead}
	found, err := kb.BestOf(ctx, b, search, lists, func(_ kb.Base, m kb.Match) (kb.Match, error) { return m, nil })
	if err != nil {
		return Consensus{}, err
	}
	threads, err := threadsOf(ctx, b, in.Topic, found[0].Items)
	if err != nil {
		return Consensus{}, err
	}
	mail, err := threadsOf(ctx, b, in.Topic, found[1].Items)
	if err != nil {
		return Consensus{}, err
	}
	d, decided, err := debate(ctx, b, in.Topic, threads, mail)
	c := derive.MeasureConsensus(d)
	return consensusRow(b, in.Topic, d, c, decided), err
})

const (
	// consensusRead is how many posts and messages on the topic are read.
	consensusRead = 50
	// leastRelevant is the least score that counts, of the best.
	leastRelevant = 0.85
	replyShown    = 300 // characters
	// leastCovered is the share of the topic's words that what counts must exceed:
	// a consensus on something else is worse than none.
	leastCovered = 0.5
)

// threadsOf returns the threads of the matches that are about the topic, the
// most relevant first.
func threadsOf(ctx context.Context, b kb.Base, topic string, matches []kb.Match) ([]catalog.Record, error) {
	var ids []int64
	for _, m := range matches {
		id := cmp.Or(m.Record.Parent, m.Record.ID)
		if m.Result.Score >= leastRelevant*matches[0].Result.Score && !slices.Contains(ids, id) &&
			derive.Covers(m.Record.Title+" "+m.Result.Snippet, topic) > leastCovered {
			ids = append(ids, id)
		}
	}
	return b.Catalog.Heads(ctx, ids)
}

// debate collects what is measured, and the mail thread that was voted in: the
// most relevant whose title is about the topic, as votes on several questions
// are not to be added up.
func debate(ctx context.Context, b kb.Base, topic string, threads, mail []catalog.Record) (
	d derive.Debate, decided *catalog.Record, err error,
) {
	d.Mail = mail
	for i, r := range mail {
		if derive.Covers(r.Title, topic) <= leastCovered {
			continue
		}
		if d.Votes, err = b.Catalog.VotesOn(ctx, r.ID); err != nil {
			return d, nil, err
		}
		if len(d.Votes) > 0 {
			decided = &mail[i]
			break
		}
	}
	for _, r := range threads {
		t, err := kb.Decode[catalog.Topic](r)
		if err != nil {
			return d, decided, err
		}
		d.Threads = append(d.Threads, derive.Thread{Record: r, Accepted: t.Accepted > 0})
	}
	most, ok := derive.MostViewed(d.Threads)
	if !ok {
		return d, decided, nil
	}
	d.Replies, _, err = b.Catalog.List(ctx, catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindPost}, Parent: most.Record.ID, WithBody: true,
	})
	d.Replies = slices.DeleteFunc(d.Replies, func(r catalog.Record) bool {
		p, err := catalog.Decode[catalog.Post](r)
		return err != nil || p.Number == 1
	})
	return d, decided, err
}

func consensusRow(b kb.Base, topic string, d derive.Debate, c derive.Consensus, decided *catalog.Record) Consensus {
	out := Consensus{Topic: topic, Verdict: c.Verdict, Measures: c.Measures}
	add := func(r catalog.Record, weight float64, snippet, why string, args ...any) {
		out.Evidence = append(out.Evidence, kb.Evidence{
			Item: b.Item(r), Why: fmt.Sprintf(why, args...), Snippet: snippet, Weight: kb.Score(weight),
		})
	}
	if decided != nil {
		out.Votes = &c.Ballot
		add(*decided, 1, "", "formal votes: %d in favour, %d against, %d abstained or not cast",
			c.InFavour, c.Against, c.Abstained)
	}
	if c.Best != nil {
		add(*c.Best, c.BestShare, kb.First(c.Best.Body, replyShown),
			"best liked reply of the most viewed thread: %d likes, %.0f %% of those of all replies",
			c.Best.Votes, 100*c.BestShare)
	}
	if most, ok := derive.MostViewed(d.Threads); ok {
		add(most.Record, 0.5, "", "most viewed thread: %d views, %d replies", most.Record.Views, most.Record.Replies)
	}
	if len(d.Mail) > 0 && (decided == nil || d.Mail[0].ID != decided.ID) {
		add(d.Mail[0], 0.5, "", "nearest of %d mail threads with %d messages", c.MailThreads, c.MailMessages)
	}
	slices.SortStableFunc(out.Evidence, func(a, b kb.Evidence) int { return cmp.Compare(b.Weight, a.Weight) })
	out.Method = "Threads and mail with 0.85 of the best score and most of the topic's words in title or passage; votes " +
		"only if most are in the title. Two thirds of three or more votes decide; else the thread with most views: " +
		"settled if its accepted answer is its best liked reply, leaning if one reply has over half of five or more likes."
	if c.Verdict == derive.VerdictNone {
		out.Hint = fmt.Sprintf("no consensus is measurable: %d threads and %d mail threads are about it, without replies "+
			"or votes; try the words of the discussion, or search_community", c.Threads, c.MailThreads)
	}
	return out
}
