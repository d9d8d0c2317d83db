package community

import (
	"context"
	"fmt"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

// Consensus is what forum, mail and votes show of agreement on a topic.
type Consensus struct {
	Topic   string `json:"topic"`
	Verdict string `json:"verdict" enum:"in_favour,against,divided,settled,leaning,open,none"`
	Measures
	Votes *Ballot `json:"votes" doc:"formal ones on the topic; null if there are none"`
	evidence.Grounds
	Hint string `json:"hint,omitempty" doc:"if no consensus is measurable: why"`
}

type consensusIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"the question or proposal, in your own words"`
}

var consensus = kb.New(op.Spec{
	ID: "community_consensus", Tool: "community_consensus", MayFail: []error{op.ErrUnavailable},
	Kinds: append(catalog.KindsAt(catalog.PlaceForum), catalog.KindsAt(catalog.PlaceMail)...),
	Doc: `
Is there a consensus
Reply ratios, debate by mail, the best reply and formal votes on a topic.

Measures agreement on a topic: replies on the forum, debate by mail, the best liked reply of the most viewed thread and
formal votes, with a verdict. To read what is said use search_community.
`,
}, func(ctx context.Context, b kb.Base, in consensusIn) (Consensus, error) {
	lists := [][]catalog.Kind{
		catalog.KindsAt(catalog.PlaceForum, catalog.RoleMessage), catalog.KindsAt(catalog.PlaceMail),
	}
	search := find.Search{Field: "topic", Query: in.Topic, Limit: consensusRead}
	found, err := search.RunEach(ctx, b, lists)
	if err != nil {
		return Consensus{}, err
	}
	d, err := debate(ctx, b, in.Topic, found[0].Items, found[1].Items)
	c := measure(d)
	out := Consensus{Topic: in.Topic, Verdict: c.Verdict, Measures: c.Measures}
	if d.Decided != nil {
		out.Votes = &c.Ballot
	}
	out.Evidence = evidence.Of(b, c.Proofs(d))
	out.Method = "Threads and mail with 0.85 of the best score and most of the topic's words in title or passage; votes " +
		"only if most are in the title. Two thirds of three or more votes decide; else the thread with most views: " +
		"settled if its accepted answer is its best liked reply, leaning if one reply has over half of five or more likes."
	if c.Verdict == verdictNone {
		out.Hint = fmt.Sprintf("no consensus is measurable: %d threads and %d mail threads are about it, without replies "+
			"or votes; try the words of the discussion, or search_community", c.Threads, c.MailThreads)
	}
	return out, err
})

// consensusRead is how many posts and messages on the topic are read.
const consensusRead = 50

// debate collects what is measured of the posts and the mail on a topic.
func debate(ctx context.Context, b kb.Base, topic string, posts, mail []find.Match) (d discourse, err error) {
	threads, err := b.Catalog.Heads(ctx, threadsAbout(topic, posts))
	if err != nil {
		return d, err
	}
	d.Threads = forumThreads(threads)
	if d.Mail, err = b.Catalog.Heads(ctx, threadsAbout(topic, mail)); err != nil {
		return d, err
	}
	for _, r := range titledAbout(topic, d.Mail) {
		if d.Votes, err = b.Catalog.VotesOn(ctx, r.ID); err != nil {
			return d, err
		}
		if len(d.Votes) > 0 {
			d.Decided = &r
			break
		}
	}
	most, ok := mostViewed(d.Threads)
	if !ok {
		return d, nil
	}
	thread, _, err := b.Catalog.List(ctx, catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindPost}, Parent: most.Record.ID, WithBody: true,
	})
	d.Replies = repliesIn(thread)
	return d, err
}
