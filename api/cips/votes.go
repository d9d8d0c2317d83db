package cips

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
)

// VoteRequest is an on-chain governance vote request.
type VoteRequest struct {
	kb.Named
	Action  string `json:"action"`
	Status  string `json:"status" doc:"open or closed"`
	Outcome string `json:"outcome" doc:"accepted, rejected or expired; empty while open"`
	VoteCounts
	NotVoted  int        `json:"not_voted" doc:"members who cast no vote, while it is open: not yet"`
	VoteUntil *time.Time `json:"vote_until"`
	Effective *time.Time `json:"effective" doc:"when it takes effect"`
	CIPs      []string   `json:"cips" doc:"ids of the proposals it cites"`
}

func voteRequest(b kb.Base, r catalog.Record) (VoteRequest, error) {
	d, err := kb.Decode[catalog.VoteRequest](r)
	v := VoteRequest{
		Named: b.Named(r), Action: r.Category, Status: r.State, Outcome: d.Outcome, VoteCounts: countBallots(d),
		NotVoted: len(d.Abstained), VoteUntil: kb.Time(r.EndsAt), Effective: kb.Time(r.StartsAt), CIPs: b.CIPIDs(d.Proposals),
	}
	v.State = "" // it is the status
	return v, err
}

var voteRequests = kb.New(op.Spec{
	ID: "list_governance_votes", Tool: "list_governance_votes", Kinds: []catalog.Kind{catalog.KindVoteRequest},
	Doc: `
List governance votes
On-chain vote requests and their outcomes, newest first.

Lists on-chain vote requests, newest first: action, status, outcome and how many voted for and against; filter by
action, outcome or status. Read one with get_governance_vote.
`,
}, func(ctx context.Context, b kb.Base, in voteRequestsIn) (kb.List[VoteRequest], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindVoteRequest}, Order: catalog.ByCreated,
		AllTags: catalog.Tags(catalog.TagOutcome, in.Outcome), CategoryContains: in.Action,
		States: arg.Only(in.Status, ""),
	}
	return kb.Rows(ctx, b, q, in.Paging, voteRequest)
})

type voteRequestsIn struct {
	Action  string `json:"action" maxLength:"200" doc:"only requests whose action contains this"`
	Outcome string `json:"outcome" maxLength:"50" doc:"only this outcome: accepted, rejected or expired"`
	Status  string `json:"status" maxLength:"50" doc:"only this status: open or closed"`
	arg.Paging
}

// FullVoteRequest is a vote request with every vote.
type FullVoteRequest struct {
	VoteRequest
	Reason    string            `json:"reason"`
	Requester string            `json:"requester"`
	Details   map[string]string `json:"details" doc:"of the action: path and value"`
	Votes     []catalog.Ballot  `json:"votes"`
	Absent    []string          `json:"absent" doc:"members who cast no vote"`
	Required  *int              `json:"required" doc:"votes needed"`
	Failure   string            `json:"failure,omitempty" doc:"why what was accepted could not be carried out"`
}

type voteRequestIn struct {
	ID string `json:"tracking_cid" required:"true" maxLength:"300" doc:"id of list_governance_votes"`
}

var getVoteRequest = kb.New(op.Spec{
	ID: "get_governance_vote", Tool: "get_governance_vote", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindVoteRequest},
	Doc: `
Read a governance vote
One on-chain vote request with every vote.

Reads one on-chain vote request: action, reason, each validator's vote and reason, abstentions, outcome and effective
date.
`,
}, func(ctx context.Context, b kb.Base, in voteRequestIn) (f FullVoteRequest, err error) {
	r, err := b.Keyed(ctx, catalog.KindVoteRequest, in.ID)
	if err != nil {
		return f, err
	}
	if f.VoteRequest, err = voteRequest(b, r); err != nil {
		return f, err
	}
	d, err := kb.Decode[catalog.VoteRequest](r)
	f.Reason, f.Requester, f.Details, f.Votes = r.Body, r.Author, d.Details, d.Votes
	f.Absent, f.Required, f.Failure = d.Abstained, d.Required, d.Failure
	return f, err
})

type outcomeIn struct {
	ID    arg.CIPID `json:"cip_id" required:"true"`
	Limit int       `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
}

var voteOutcome = kb.New(op.Spec{
	ID: "get_cip_vote_outcome", Tool: "get_cip_vote_outcome", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindVoteRequest},
	Doc: `
On-chain votes on a proposal
Every on-chain vote request that cites a proposal, newest first.

Lists every on-chain governance vote request that cites one improvement proposal, with outcomes and dates. For the
formal votes on the mailing list use get_cip_votes.
`,
}, func(ctx context.Context, b kb.Base, in outcomeIn) (kb.List[VoteRequest], error) {
	r, err := b.CIPHead(ctx, in.ID)
	if err != nil {
		return kb.List[VoteRequest]{}, err
	}
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindVoteRequest}, LinksTo: []catalog.Ref{r.Ref()}, Order: catalog.ByCreated,
	}
	list, err := kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit}, voteRequest)
	if list.Total == 0 {
		list.Hint = "no vote request on the ledger cites it: get_cip_votes has the formal votes by mail"
	}
	return list, err
})

// Tally are the formal votes on a proposal by mail.
type Tally struct {
	ID        string       `json:"id"`
	Title     string       `json:"title"`
	InFavour  int          `json:"in_favour"`
	Against   int          `json:"against"`
	Abstained int          `json:"abstained"`
	NoVote    int          `json:"no_vote" doc:"recorded as not having voted"`
	Votes     []FormalVote `json:"votes" doc:"one entry per recorded vote"`
	Hint      string       `json:"hint,omitempty"`
}

// FormalVote is one of them.
type FormalVote struct {
	Voter  string     `json:"voter"`
	Choice string     `json:"choice" enum:"in_favour,against,abstain,no_vote"`
	Reason string     `json:"reason,omitempty"`
	CastAt *time.Time `json:"cast_at"`
	URL    string     `json:"url,omitempty"`
	Thread string     `json:"thread" doc:"for get_mailing_thread"`
}

type votesIn struct {
	ID arg.CIPID `json:"cip_id" required:"true"`
}

var formalVotes = kb.New(op.Spec{
	ID: "get_cip_votes", Tool: "get_cip_votes", MayFail: notFound, Kinds: catalog.KindsAt(catalog.PlaceMail),
	Doc: `
Formal votes on a proposal
Tally of the formal votes on the mailing list, one entry per recorded vote.

Counts the formal votes on one improvement proposal from the voting mailing list: in favour, against, abstain, one
entry per recorded vote. For votes on the ledger use get_cip_vote_outcome.
`,
}, runFormalVotes)

func runFormalVotes(ctx context.Context, b kb.Base, in votesIn) (Tally, error) {
	r, err := b.CIPHead(ctx, in.ID)
	if err != nil {
		return Tally{}, err
	}
	threads, _, err := b.Catalog.List(ctx, catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindMailThread}, LinksTo: []catalog.Ref{r.Ref()}, Order: catalog.ByCreated,
	})
	out := Tally{ID: b.ID(r), Title: r.Title}
	var counts VoteCounts
	for _, thread := range threads {
		votes, err := b.Catalog.VotesOn(ctx, thread.ID)
		if err != nil {
			return Tally{}, err
		}
		for _, v := range votes {
			if v.Choice == "no_vote" {
				out.NoVote++
			} else {
				counts.Add(v.Choice)
			}
			vote := FormalVote{v.Voter, v.Choice, v.Reason, kb.Time(v.CastAt), v.URL, thread.Key}
			out.Votes = append(out.Votes, vote)
		}
	}
	out.InFavour, out.Against, out.Abstained = counts.For, counts.Against, counts.Abstained
	slices.SortStableFunc(out.Votes, func(x, y FormalVote) int { return cmp.Compare(x.Voter, y.Voter) })
	if len(out.Votes) == 0 {
		out.Hint = "no formal vote by mail is recorded: get_cip_vote_outcome has those on the ledger"
	}
	return out, err
}

// Voters are the records of super validators in on-chain votes.
type Voters struct {
	Items []Voter `json:"items" doc:"most votes first"`
	Total int     `json:"total"`
	Hint  string  `json:"hint,omitempty"`
}

type votersIn struct {
	Name string `json:"sv_name" maxLength:"200" doc:"only this super validator; every one if left out"`
}

var voters = kb.New(op.Spec{
	ID: "list_votes_by_sv", Tool: "list_votes_by_sv", Kinds: []catalog.Kind{catalog.KindVoteRequest},
	Doc: `
Votes by super validator
Each super validator's record in on-chain votes.

Counts each super validator's votes on the ledger: cast, for, against, abstained, and from when to when. Name one with
sv_name.
`,
}, func(ctx context.Context, b kb.Base, in votersIn) (Voters, error) {
	votes, err := b.Catalog.VotesBy(ctx, catalog.KindVoteRequest, "")
	list, names := votersOf(votes, in.Name)
	out := Voters{Items: list, Total: len(list)}
	if len(list) == 0 && in.Name != "" {
		out.Hint = kb.NoSuch("super validator", in.Name, names)
	}
	return out, err
})

// VoteCounts counts votes by choice.
type VoteCounts struct {
	For       int `json:"for"`
	Against   int `json:"against"`
	Abstained int `json:"abstained"`
}

// Add counts a vote: one neither in favour nor against abstains.
func (c *VoteCounts) Add(choice string) {
	switch choice {
	case "in_favour":
		c.For++
	case "against":
		c.Against++
	default:
		c.Abstained++
	}
}

// countBallots counts the votes on a request without those that are void. Members
// who cast none have not said that they abstain.
func countBallots(d catalog.VoteRequest) (c VoteCounts) {
	for _, ballot := range d.Votes {
		if !ballot.Void {
			c.Add(ballot.Choice)
		}
	}
	return c
}

// Voter is the record of one voter.
type Voter struct {
	Name string `json:"name"`
	Cast int    `json:"votes_cast"`
	VoteCounts
	First *time.Time `json:"first_vote"`
	Last  *time.Time `json:"last_vote"`
}

// votersOf returns the records of those who cast votes, most votes first, and
// their names, latest voters first. If only is a name, in any case, there is at
// most the record of that one. The votes are the newest first.
func votersOf(votes []catalog.Vote, only string) (list []Voter, names []string) {
	for _, v := range votes {
		i := slices.Index(names, v.Voter)
		if i < 0 {
			i = len(list)
			names, list = append(names, v.Voter), append(list, Voter{Name: v.Voter})
		}
		list[i].add(v)
	}
	if only != "" {
		only = strings.TrimSpace(only)
		list = slices.DeleteFunc(list, func(v Voter) bool { return !strings.EqualFold(v.Name, only) })
	}
	slices.SortStableFunc(list, func(a, b Voter) int {
		return cmp.Or(cmp.Compare(b.Cast, a.Cast), cmp.Compare(a.Name, b.Name))
	})
	return list, names
}

// add counts a vote that is older than the others.
func (v *Voter) add(vote catalog.Vote) {
	v.Cast++
	v.Add(vote.Choice)
	if t := vote.CastAt.UTC(); !t.IsZero() {
		v.First, v.Last = &t, cmp.Or(v.Last, &t)
	}
}
