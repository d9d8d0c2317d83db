package community

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/prose"
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

// discourse is what was said and voted on a topic.
type discourse struct {
	Threads []thread // of the forum
	Mail    []catalog.Record
	Votes   []catalog.Vote // formal ones
	// Decided is the mail thread in which the vote was held: of those whose titles are
	// about the topic the most relevant, because votes on different questions must not
	// be added up. It is nil if there is none.
	Decided *catalog.Record
	// repliesIn are those of the most viewed thread.
	Replies []catalog.Record
}

// thread is a forum topic.
type thread struct {
	Record   catalog.Record
	Accepted bool // whether it has an accepted answer
}

// Verdicts of a debate, from the strongest evidence to none.
const (
	verdictInFavour = "in_favour" // by formal votes
	verdictAgainst  = "against"
	verdictDivided  = "divided"
	verdictSettled  = "settled" // the answer that was accepted is also the best liked
	verdictLeaning  = "leaning" // one reply has most of the likes
	verdictOpen     = "open"    // there are replies, and none stands out
	verdictNone     = "none"    // too little to measure
)

const (
	majority    = 2.0 / 3 // of the votes for and against
	fewestVotes = 3
	fewestLikes = 5 // of replies, before one can have most of them
	// closeToBest is the least relevance of what counts.
	closeToBest = 0.85
	// leastCovered is the share of the topic's words that what counts must exceed:
	// a consensus on something else is worse than none.
	leastCovered = 0.5
)

// threadsAbout returns the ids of the threads of posts and messages that are
// about a topic, the most relevant first, each once. A thread among the hits
// stands for itself.
func threadsAbout(topic string, hits []find.Match) (ids []int64) {
	for _, h := range find.Relevant(hits, closeToBest) {
		id := cmp.Or(h.Record.Parent, h.Record.ID)
		if !slices.Contains(ids, id) && covers(h.Record.Title+" "+h.Result.Snippet, topic) > leastCovered {
			ids = append(ids, id)
		}
	}
	return ids
}

// covers returns the share of a topic's words that a text has, 0 to 1. Words
// are compared by their first six letters, so that inflections count.
func covers(text, topic string) float64 {
	stems := map[string]bool{}
	for w := range prose.Words(text) {
		stems[stem(w)] = true
	}
	words := prose.Words(topic)
	n := 0
	for w := range words {
		if stems[stem(w)] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}

func stem(word string) string {
	runes := []rune(strings.TrimSuffix(word, "s"))
	return string(runes[:min(6, len(runes))])
}

// titledAbout returns the records whose titles are about a topic.
func titledAbout(topic string, records []catalog.Record) (out []catalog.Record) {
	for _, r := range records {
		if covers(r.Title, topic) > leastCovered {
			out = append(out, r)
		}
	}
	return out
}

// forumThreads makes threads of topics.
func forumThreads(topics []catalog.Record) (out []thread) {
	for _, r := range topics {
		d, _ := catalog.Decode[catalog.Topic](r) // data of another form has no accepted answer
		out = append(out, thread{r, d.Accepted > 0})
	}
	return out
}

// repliesIn returns the posts of a thread without the first.
func repliesIn(posts []catalog.Record) (out []catalog.Record) {
	for _, r := range posts {
		if d, err := catalog.Decode[catalog.Post](r); err == nil && d.Number != 1 {
			out = append(out, r)
		}
	}
	return out
}

// measured is what a debate shows of agreement.
type measured struct {
	Verdict string
	Measures
	Ballot
	Best      *catalog.Record // the best liked reply; nil without replies
	BestShare float64         // of the likes of all replies in its thread, 0 to 1
}

// Measures are the sizes of a debate.
type Measures struct {
	Threads          int     `json:"threads"`     // of the forum
	ReplyRatio       float64 `json:"reply_ratio"` // of them with a reply, 0 to 1
	RepliesPerThread float64 `json:"replies_per_thread"`
	Accepted         int     `json:"accepted"` // of them with an accepted answer
	MailThreads      int     `json:"mail_threads"`
	MailMessages     int     `json:"mail_messages"`
	MailWriters      int     `json:"mail_writers"` // names
}

// Ballot counts formal votes.
type Ballot struct {
	InFavour  int `json:"in_favour"`
	Against   int `json:"against"`
	Abstained int `json:"abstained"` // or cast no vote
}

// measure measures what a debate shows of agreement. Formal votes decide if three or
// more are for or against, by a majority of two thirds. Otherwise the most viewed
// thread does: it is settled if its accepted answer is its best liked reply, and leans
// to a reply with more than half of the likes if there are five or more.
func measure(d discourse) measured {
	c := measured{Verdict: verdictNone, Measures: Measures{Threads: len(d.Threads), MailThreads: len(d.Mail)}}
	replies := 0
	for _, t := range d.Threads {
		if t.Record.Replies > 0 {
			c.ReplyRatio++
		}
		if t.Accepted {
			c.Accepted++
		}
		replies += int(t.Record.Replies)
	}
	if n := float64(len(d.Threads)); n > 0 {
		c.ReplyRatio, c.RepliesPerThread = rounded(c.ReplyRatio/n), rounded(float64(replies)/n)
	}
	writers := map[string]bool{}
	for _, r := range d.Mail {
		m, _ := catalog.Decode[catalog.MailThread](r) // data of another form has no messages
		c.MailMessages += m.Messages
		for _, p := range m.Participants {
			writers[catalog.Fold(p)] = true
		}
	}
	c.MailWriters = len(writers)
	for _, v := range d.Votes {
		switch v.Choice {
		case "in_favour":
			c.InFavour++
		case "against":
			c.Against++
		default:
			c.Abstained++
		}
	}
	likes, accepted := c.best(d.Replies)
	votes := float64(c.InFavour + c.Against)
	switch {
	case votes >= fewestVotes && float64(c.InFavour) >= majority*votes:
		c.Verdict = verdictInFavour
	case votes >= fewestVotes && float64(c.Against) >= majority*votes:
		c.Verdict = verdictAgainst
	case votes >= fewestVotes:
		c.Verdict = verdictDivided
	case accepted && likes > 0:
		c.Verdict = verdictSettled
	case likes >= fewestLikes && c.BestShare > 0.5:
		c.Verdict = verdictLeaning
	case replies > 0 || c.MailMessages > len(d.Mail):
		c.Verdict = verdictOpen
	}
	return c
}

// rounded keeps four decimal places.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// best finds the best liked reply, of equal ones the first, and returns the
// likes of all and whether it is the accepted answer.
func (c *measured) best(replies []catalog.Record) (likes int64, accepted bool) {
	for i, r := range replies {
		likes += max(0, r.Votes)
		if c.Best == nil || r.Votes > c.Best.Votes {
			d, _ := catalog.Decode[catalog.Post](r)
			c.Best, accepted = &replies[i], d.Accepted
		}
	}
	if likes > 0 {
		c.BestShare = float64(max(0, c.Best.Votes)) / float64(likes)
	}
	return likes, accepted
}

// Proofs are the records that the measures of a debate rest on: what was voted
// on, the best reply, the most viewed thread and the nearest mail.
func (c measured) Proofs(d discourse) (out []evidence.Proof) {
	add := func(r catalog.Record, weight float64, why string, args ...any) {
		out = append(out, evidence.Proof{Record: r, Why: fmt.Sprintf(why, args...), Weight: weight})
	}
	if d.Decided != nil {
		add(*d.Decided, 1, "formal votes: %d in favour, %d against, %d abstained or not cast",
			c.InFavour, c.Against, c.Abstained)
	}
	if c.Best != nil {
		add(*c.Best, c.BestShare, "best liked reply of the most viewed thread: %d likes, %.0f %% of those of all replies",
			c.Best.Votes, 100*c.BestShare)
		out[len(out)-1].Snippet = c.Best.Body
	}
	if most, ok := mostViewed(d.Threads); ok {
		add(most.Record, 0.5, "most viewed thread: %d views, %d replies", most.Record.Views, most.Record.Replies)
	}
	if len(d.Mail) > 0 && (d.Decided == nil || d.Mail[0].ID != d.Decided.ID) {
		add(d.Mail[0], 0.5, "nearest of %d mail threads with %d messages", c.MailThreads, c.MailMessages)
	}
	return out
}

// mostViewed returns the thread with most views, of equal ones the first; false
// if there is none.
func mostViewed(threads []thread) (thread, bool) {
	if len(threads) == 0 {
		return thread{}, false
	}
	return slices.MaxFunc(threads, func(a, b thread) int { return cmp.Compare(a.Record.Views, b.Record.Views) }), true
}
