package ledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/mention"
	"almanac/ingest"
	"almanac/text/dates"
	"almanac/text/webaddress"
)

// request is a vote request, open or closed.
type request struct {
	requestPayload
	ContractID string    // of an open one
	CreatedAt  time.Time // of that contract: of its latest vote
	Result     *result   // of a closed one
}

// result is how a vote ended.
type result struct {
	CompletedAt time.Time
	Tag         string // of the outcome
	Outcome     string // "" = unknown
	EffectiveAt time.Time
	Failure     string
	Offboarded  []string
	Abstaining  []string
}

// The outcomes of votes.
const (
	accepted = "accepted"
	rejected = "rejected"
	expired  = "expired"
)

// The states of vote requests.
const (
	open   = "open"
	closed = "closed"
)

// trackingName is the name in memory for the key of a request whose result may
// lack it.
func (r request) trackingName() string { return trackingPrefix + r.fingerprint() }

const trackingPrefix = "tracking "

// fingerprint identifies a request by its fields that never change.
func (r request) fingerprint() string {
	sum := sha256.Sum256([]byte(jsonText([]any{r.Requester, r.VoteBefore, r.Reason, r.Action})))
	return hex.EncodeToString(sum[:16])
}

// tracking returns the key of a request: that of its first contract.
func (s *syncRun) tracking(r request) string {
	switch {
	case r.TrackingCid != "":
		return r.TrackingCid
	case r.Result == nil:
		return r.ContractID
	}
	if seen, ok := s.known[r.trackingName()]; ok {
		s.now[r.trackingName()] = seen
		return seen.Key
	}
	return "vote-" + r.fingerprint()
}

// votes reads the vote requests. Open ones are requested first, so that one that
// is closed meanwhile is in at least one list.
func (s *syncRun) votes(ctx context.Context) error {
	running, listed := s.openRequests(ctx)
	ended, available := s.results(ctx)
	done, tracked := map[string]bool{}, map[string]bool{}
	for _, r := range slices.Concat(ended, running) {
		if r.TrackingCid != "" {
			tracked[r.trackingName()] = true
		}
	}
	for _, r := range slices.Concat(ended, running) {
		key := s.tracking(r)
		if done[key] {
			continue // or closed a moment ago
		}
		done[key] = true
		if r.Result == nil && r.TrackingCid == "" {
			s.now[r.trackingName()] = ingest.Seen{Key: key}
		}
		if err := s.vote(ctx, key, r); err != nil {
			return err
		}
	}
	s.missing(listed && available, tracked)
	return nil
}

// missing keeps the requests that are no longer listed: they are history. It
// warns, once, of one that was open and has no result. Tracked are the names that
// the memory no longer needs.
func (s *syncRun) missing(listed bool, tracked map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		seen := s.known[name]
		if _, met := s.now[name]; met {
			continue
		}
		ref := catalog.Ref{Kind: catalog.KindVoteRequest, Key: seen.Key}
		switch {
		case ref.String() == name:
			s.keep(ref)
			if seen.Stamp == open && listed {
				s.out.Warn(seen.Key, "is no longer open but has no result yet; it stays unchanged")
				seen.Stamp = missed
				s.now[name] = seen
			}
		case strings.HasPrefix(name, trackingPrefix) && !tracked[name]:
			s.now[name] = seen
		}
	}
}

// missed is the stamp of a request that is neither in the open nor in the closed
// list.
const missed = "missed"

// openRequests reads the open requests; ok is false if they are not known.
func (s *syncRun) openRequests(ctx context.Context) (requests []request, ok bool) {
	q := question{path: "/v0/admin/sv/voterequests", what: "open vote requests"}
	lists := poll(ctx, s.peers, q, func(raw []byte) ([]keyed[request], error) {
		p, err := list("dso_rules_vote_requests")(raw)
		return contracts(s.peers, p.items, "VoteRequest", func(c contract, r requestPayload) (request, error) {
			r.Action = canonical(r.Action)
			return request{requestPayload: r, ContractID: c.ContractID, CreatedAt: parseTime(c.CreatedAt)}, nil
		}), err
	})
	// A vote replaces the contract: only the tracking id is the same on all Scans.
	for _, l := range lists {
		for i, item := range l.value {
			l.value[i].Key = cmp.Or(item.Value.TrackingCid, item.Key)
		}
	}
	merged, _ := merge(s.peers, "open vote requests", lists, true)
	for _, item := range merged {
		requests = append(requests, item.Value)
	}
	return requests, lists != nil
}

const (
	resultsPage  = 100 // results per request: one may hold two whole configurations
	resultsPages = 200
)

// history is the name in memory of whether the results were read to their end.
const history = "results"

// results reads the results of votes, newest first, down to the known ones if
// the history was read before. The newest page is compared between the Scans;
// older ones come from the first. It returns false if none can be read.
func (s *syncRun) results(ctx context.Context) (ended []request, available bool) {
	body := map[string]any{"limit": resultsPage}
	q := question{path: "/v0/admin/sv/voteresults", what: "closed vote requests", body: body}
	read := s.known[history].Stamp == whole
	s.now[history] = ingest.Seen{Stamp: s.known[history].Stamp}
	pages := poll(ctx, s.peers, q, list("dso_rules_vote_results"))
	if pages == nil {
		return nil, false
	}
	lists := field(pages, func(p page) []keyed[request] { return s.readResults(p.items) })
	items, _ := merge(s.peers, "closed vote requests", lists, false)
	from, last := pages[0].scan, pages[0].value
	seen := map[string]bool{}
	for n := 1; ; n++ {
		fresh, unknown := 0, 0
		for _, item := range items {
			if seen[item.Key] {
				continue
			}
			seen[item.Key] = true
			fresh++
			ended = append(ended, item.Value)
			ref := catalog.Ref{Kind: catalog.KindVoteRequest, Key: s.tracking(item.Value)}
			if s.known[ref.String()].Stamp != closed {
				unknown++
			}
		}
		token, err := last.next.whole()
		more := token != nil || len(last.items) >= resultsPage
		switch {
		case read && unknown == 0 || !more || fresh == 0 && token == nil:
		case err != nil || fresh == 0 || n == resultsPages:
			s.out.Warn(s.peers.environment+" "+q.path, fmt.Sprintf("page %d has a next page, but the limit is reached; "+
				"later pages were not read", n))
		default:
			delete(body, "effectiveTo")
			if token != nil {
				body["pageToken"] = *token
			} else { // versions without page tokens have the date
				body["effectiveTo"] = oldest(items)
			}
			if last, err = ask(ctx, s.peers, from, q, list("dso_rules_vote_results")); err == nil {
				items = s.readResults(last.items)
				continue
			}
			s.now[history] = ingest.Seen{} // the next run reads the rest
			return ended, true
		}
		s.now[history] = ingest.Seen{Stamp: whole}
		return ended, true
	}
}

const whole = "whole"

// oldest returns the earliest effective date of a page; results are ordered by
// it.
func oldest(items []keyed[request]) string {
	var least time.Time
	for _, item := range items {
		at := cmp.Or(item.Value.Result.EffectiveAt, item.Value.Result.CompletedAt)
		if least.IsZero() || at.Before(least) {
			least = at
		}
	}
	return least.Format(time.RFC3339Nano)
}

func (s *syncRun) readResults(items []json.RawMessage) []keyed[request] {
	all := []keyed[request]{}
	for _, raw := range items {
		var w resultPayload
		if err := json.Unmarshal(raw, &w); err != nil {
			s.peers.skip("a closed vote request", err)
			continue
		}
		w.Request.Action = canonical(w.Request.Action)
		r := request{requestPayload: w.Request, Result: &result{
			Tag: w.Outcome.Tag, CompletedAt: parseTime(w.CompletedAt), EffectiveAt: parseTime(w.Outcome.Value.EffectiveAt),
			Offboarded: w.Offboarded, Abstaining: w.Abstaining,
		}}
		switch w.Outcome.Tag {
		case "VRO_Accepted":
			r.Result.Outcome = accepted
		case "VRO_AcceptedButActionFailed":
			r.Result.Outcome, r.Result.Failure = accepted, cmp.Or(w.Outcome.Value.Description, "no reason is given")
		case "VRO_Rejected":
			r.Result.Outcome, r.Result.EffectiveAt = rejected, time.Time{}
		case "VRO_Expired":
			r.Result.Outcome, r.Result.EffectiveAt = expired, time.Time{}
		}
		all = append(all, keyed[request]{cmp.Or(r.TrackingCid, r.fingerprint()), r})
	}
	return all
}

// vote puts a vote request.
func (s *syncRun) vote(ctx context.Context, key string, r request) error {
	e, err := s.voteEntry(key, r)
	if err != nil {
		s.peers.skip(key, err)
		return nil
	}
	// Created is the first value seen: later contracts do not have it.
	name := e.Record.Ref().String()
	if old := s.known[name].Date; !old.IsZero() &&
		(e.Record.CreatedAt.IsZero() || old.Before(e.Record.CreatedAt)) {
		e.Record.CreatedAt = old
	}
	s.now[name] = ingest.Seen{Key: key, Stamp: e.Record.State, Date: e.Record.CreatedAt}
	return s.out.Put(ctx, e)
}

var errNoRequester = errors.New("names no requester")

func (s *syncRun) voteEntry(key string, r request) (catalog.Entry, error) {
	if r.Requester == "" {
		return catalog.Entry{}, errNoRequester
	}
	a, err := readAction(r.Action)
	if err != nil {
		return catalog.Entry{}, err
	}
	v := catalog.VoteRequest{Details: a.details, ReasonURL: r.Reason.URL, Votes: s.ballots(r), Abstained: []string{}}
	title := a.describe(s.nameOf)
	created, updated := r.times()
	rec := catalog.Record{
		Kind: catalog.KindVoteRequest, Key: key, Title: title, URL: link(s.opts.Links.VoteRequest, key),
		Category: a.tag,
		State:    open, Author: s.nameOf(r.Requester), EndsAt: parseTime(r.VoteBefore), StartsAt: parseTime(r.EffectiveAt),
		Votes:     int64(len(v.Votes)),
		CreatedAt: created, UpdatedAt: updated, LastActivityAt: updated,
	}
	switch {
	case r.Result != nil:
		v.Outcome, v.DecidedAt, v.Failure = r.Result.Outcome, dates.Format(r.Result.CompletedAt), r.Result.Failure
		v.Abstained = append(v.Abstained, r.Result.Abstaining...)
		v.Required = required(v)
		rec.State = closed
		rec.StartsAt = r.Result.EffectiveAt
		if v.Outcome == "" {
			s.out.Warn(key, fmt.Sprintf("ended with an unknown outcome: %.80q", r.Result.Tag))
		}
	default:
		v.Required = s.rules.threshold
		for _, m := range s.rules.members {
			if !slices.ContainsFunc(v.Votes,
				func(b catalog.Ballot) bool { return b.Voter == m.Name || b.Party == m.Party }) {
				v.Abstained = append(v.Abstained, m.Name)
			}
		}
	}
	slices.Sort(v.Abstained)
	v.Proposals = s.proposals(r, v.Votes)
	rec.Tags = catalog.Tags(catalog.TagOutcome, v.Outcome)
	rec.Body = text(rec, r, a, v)
	e, err := rec.With(v)
	e.Votes = rows(v.Votes)
	for _, p := range v.Proposals {
		e.Links = append(e.Links, catalog.Link{Relation: catalog.Cites, To: catalog.Ref{Kind: catalog.KindCIP, Key: p}})
	}
	return e, err
}

// times returns the earliest time at which the ledger has the request, and that of its
// last change.
func (r request) times() (created, updated time.Time) {
	known := []time.Time{r.CreatedAt}
	for _, v := range r.Votes {
		known = append(known, parseTime(v.Value.CastAt))
	}
	if r.Result != nil {
		known = append(known, r.Result.CompletedAt)
	}
	known = slices.DeleteFunc(known, time.Time.IsZero)
	if len(known) == 0 {
		return created, updated
	}
	return slices.MinFunc(known, time.Time.Compare), slices.MaxFunc(known, time.Time.Compare)
}

// The choices of a vote as the catalog names them.
const (
	inFavour = "in_favour"
	against  = "against"
)

// ballots returns the votes by voter.
func (s *syncRun) ballots(r request) []catalog.Ballot {
	by := map[string]catalog.Ballot{}
	for _, v := range r.Votes {
		b := catalog.Ballot{
			Voter: cmp.Or(v.Key, s.nameOf(v.Value.SV)), Party: v.Value.SV, Choice: against,
			Reason: strings.TrimSpace(v.Value.Reason.Body), ReasonURL: strings.TrimSpace(v.Value.Reason.URL),
			CastAt: dates.Format(parseTime(v.Value.CastAt)),
		}
		if v.Value.Accept {
			b.Choice = inFavour
		}
		if strings.Contains(b.Voter, "::") { // newer versions key votes by party
			b.Voter = s.nameOf(b.Voter)
		}
		b.Void = r.Result != nil && (slices.Contains(r.Result.Offboarded, v.Key) ||
			slices.Contains(r.Result.Offboarded, b.Voter))
		by[b.Voter] = b
	}
	all := []catalog.Ballot{}
	for _, voter := range slices.Sorted(maps.Keys(by)) {
		all = append(all, by[voter])
	}
	return all
}

// rows returns the ballots as votes of the catalog.
func rows(ballots []catalog.Ballot) (votes []catalog.Vote) {
	for _, b := range ballots {
		v := catalog.Vote{Voter: b.Voter, Choice: b.Choice, Reason: b.Reason, CastAt: parseTime(b.CastAt)}
		if webaddress.Check(b.ReasonURL) == nil {
			v.URL = b.ReasonURL
		}
		votes = append(votes, v)
	}
	return votes
}

// required returns how many votes a closed request needed: of n members with
// f = ⌊(n-1)/3⌋ faulty ones, ⌈(n+f+1)/2⌉ (requiredNumVotes of the
// application's template DsoRules). Its members are those who voted and those
// who did not.
func required(v catalog.VoteRequest) *int {
	n := len(v.Abstained)
	for _, b := range v.Votes {
		if !b.Void {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return new((n + (n-1)/3 + 2) / 2)
}

// proposals returns the keys of the proposals that a request cites in its
// reason, or otherwise in its votes.
func (s *syncRun) proposals(r request, ballots []catalog.Ballot) []string {
	if found := mention.Cited(s.env.Network.Proposals, r.Reason.Body, r.Reason.URL); len(found) > 0 {
		return found
	}
	var texts []string
	for _, b := range ballots {
		texts = append(texts, b.Reason, b.ReasonURL)
	}
	return mention.Cited(s.env.Network.Proposals, texts...)
}

var choices = map[string]string{inFavour: "in favour", against: "against"}

// text returns the text of a vote request.
func text(rec catalog.Record, r request, a action, v catalog.VoteRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s asks to vote on: %s.", rec.Author, rec.Title)
	switch {
	case v.Failure != "":
		fmt.Fprintf(&b, " It was accepted, but could not be carried out: %s.", strings.TrimRight(v.Failure, "."))
	case v.Outcome == expired:
		b.WriteString(" It expired without a majority.")
	case v.Outcome != "":
		fmt.Fprintf(&b, " It was %s.", v.Outcome)
	}
	if reason := strings.TrimSpace(r.Reason.Body); reason != "" {
		b.WriteString("\n\n" + reason)
	}
	if address := strings.TrimSpace(r.Reason.URL); webaddress.Check(address) == nil {
		fmt.Fprintf(&b, "\n\nReference: <%s>", address)
	}
	if len(v.Proposals) > 0 {
		b.WriteString("\n\nProposals: " + strings.Join(v.Proposals, ", "))
	}
	if lines := a.lines(); len(lines) > 0 {
		b.WriteString("\n\n## Details\n\n" + strings.Join(lines, "\n"))
	}
	heading := "\n\n## Votes\n\n"
	for _, vote := range v.Votes {
		if vote.Reason != "" {
			fmt.Fprintf(&b, "%s- %s %s: %s\n", heading, vote.Voter, choices[vote.Choice],
				strings.Join(strings.Fields(vote.Reason), " "))
			heading = ""
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// lines returns the details for people: a changed setting with both values.
func (a action) lines() (all []string) {
	for _, path := range slices.Sorted(maps.Keys(a.details)) {
		value := a.details[path]
		if rest, ok := strings.CutPrefix(path, baseConfig); ok {
			if _, changed := a.details[newConfig+rest]; !changed {
				all = append(all, fmt.Sprintf("- %s: %s → none", rest, value))
			}
			continue
		}
		if rest, ok := strings.CutPrefix(path, newConfig); ok {
			path = rest
			if old, ok := a.details[baseConfig+rest]; ok {
				value = old + " → " + value
			}
		}
		all = append(all, fmt.Sprintf("- %s: %s", path, value))
	}
	return all
}
