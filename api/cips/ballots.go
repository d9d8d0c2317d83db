package cips

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
)

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
