package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/catalog"
)

// contributionKinds are the kinds of records that are one contribution of
// their author each. A topic and a mail thread are not: their first post or
// message is.
var contributionKinds = append(catalog.KindsOf(catalog.RoleMessage),
	catalog.KindsAt(catalog.PlaceForge, catalog.RoleThread, catalog.RoleWork)...)

// contributor is someone who contributes, by name: contributions belong to one
// person if their authors' names are equal but for case.
type contributor struct {
	Name   string             // as first written
	Number map[string]int     // answers by place
	Share  map[string]float64 // of all answers in the place, 0 to 1
	Roles  []string           // given by forum or forge: admin, member, …; sorted
	Core   bool               // see contributors
}

// coreShare is the part of all answers in a place that its core wrote.
const coreShare = 1.0 / 3

// official are the roles and associations of those who speak for a project.
var official = map[string]bool{
	"admin": true, "moderator": true, "staff": true, // forum
	"owner": true, "member": true, "collaborator": true, "maintainer": true, // forge
}

// contributors returns everyone who wrote one of the contributions, by folded name,
// and marks the core: those with an official role, and in each place the most active
// who together wrote a third of all answers there, including everyone who equals the
// last of them. An answer is a pull request, or a contribution that neither opens a
// thread, an issue or a discussion nor follows up on one's own: those who ask most do
// not guide others. It is the measure of Mockus, Fielding and Herbsleb, "Two Case
// Studies of Open Source Software Development: Apache and Mozilla" (ACM TOSEM 11(3),
// 2002), with a third in place of their four fifths: discussion is spread over more
// people than code.
func contributors(contributions []catalog.Record) map[string]*contributor {
	people := map[string]*contributor{}
	by, opening := openers(contributions)
	total := map[string]int{}
	for _, r := range contributions {
		key := catalog.Fold(r.Author)
		if key == "" || !slices.Contains(contributionKinds, r.Kind) {
			continue
		}
		p := people[key]
		if p == nil {
			p = &contributor{Name: r.Author, Number: map[string]int{}, Share: map[string]float64{}}
			people[key] = p
		}
		if !opening[r.ID] && (r.Parent == 0 || by[r.Parent] != key) {
			p.Number[r.Kind.Place()]++
			total[r.Kind.Place()]++
		}
		if role := roleIn(r); official[role] && !slices.Contains(p.Roles, role) {
			p.Roles, p.Core = append(p.Roles, role), true
		}
	}
	for _, p := range people {
		slices.Sort(p.Roles)
		for place, n := range p.Number {
			p.Share[place] = float64(n) / float64(total[place])
		}
	}
	for place, n := range total {
		markCore(people, place, n)
	}
	return people
}

func markCore(people map[string]*contributor, place string, total int) {
	all := slices.SortedFunc(maps.Values(people), func(a, b *contributor) int { return b.Number[place] - a.Number[place] })
	written, last := 0, 0
	for _, p := range all {
		n := p.Number[place]
		if n == 0 || float64(written) >= coreShare*float64(total) && n < last {
			return
		}
		p.Core = true
		written, last = written+n, n
	}
}

// openers returns the author, folded, of whatever has answers, by the record id of
// that, and the ids of the contributions that opened it.
func openers(contributions []catalog.Record) (by map[int64]string, opening map[int64]bool) {
	by, opening = map[int64]string{}, map[int64]bool{}
	for _, r := range contributions {
		opened := int64(0)
		switch {
		case r.Kind.IsThread():
			opened = r.ID
		case r.Kind == catalog.KindPost:
			if d, _ := catalog.Decode[catalog.Post](r); d.Number == 1 { // data of another form opens nothing
				opened = r.Parent
			}
		case r.Kind == catalog.KindMailMessage:
			if d, _ := catalog.Decode[catalog.MailMessage](r); d.Number == 1 {
				opened = r.Parent
			}
		}
		if opened != 0 {
			by[opened], opening[r.ID] = catalog.Fold(r.Author), r.Kind != catalog.KindPull
		}
	}
	return by, opening
}

// guidanceBy returns the posts and messages of the core, except opening posts by those
// who have no role, which are questions.
func guidanceBy(people map[string]*contributor, contributions []catalog.Record) (wrote []catalog.Record) {
	for _, r := range contributions {
		p := people[catalog.Fold(r.Author)]
		if p == nil || !p.Core || r.Kind.Place() == catalog.PlaceForge {
			continue
		}
		d, _ := catalog.Decode[catalog.Post](r) // a message is no question
		if r.Kind != catalog.KindPost || d.Number != 1 || len(p.Roles) > 0 {
			wrote = append(wrote, r)
		}
	}
	return wrote
}

// coreGroup are everyone who contributes, by folded name, and the core among them.
type coreGroup struct {
	People map[string]*contributor
	Number int              // of people in the core
	Wrote  []catalog.Record // see guidanceBy
}

// findCore finds the core of those who wrote contributions.
func findCore(contributions []catalog.Record) coreGroup {
	c := coreGroup{People: contributors(contributions)}
	c.Wrote = guidanceBy(c.People, contributions)
	for _, p := range c.People {
		if p.Core {
			c.Number++
		}
	}
	return c
}

// roleIn returns the author's role that a contribution states, in lower case.
func roleIn(r catalog.Record) string {
	role := ""
	switch r.Kind {
	case catalog.KindPost:
		d, _ := catalog.Decode[catalog.Post](r) // data of another form states no role
		role = d.Role
	case catalog.KindComment:
		d, _ := catalog.Decode[catalog.Comment](r)
		role = d.Association
	case catalog.KindIssue:
		d, _ := catalog.Decode[catalog.Issue](r)
		role = d.Association
	case catalog.KindPull:
		d, _ := catalog.Decode[catalog.Pull](r)
		role = d.Association
	}
	return strings.ToLower(role)
}

// expertise is a person with what speaks for them on a topic.
type expertise struct {
	Name  string
	Score float64 // share of all that was found for the topic, 0 to 1
	Activity
	Evidence []evidence.Proof
}

// Activity counts what somebody did.
type Activity struct {
	Posts    int   `json:"posts"`
	Comments int   `json:"comments"`
	Pulls    int   `json:"pulls"`
	Accepted int   `json:"accepted"` // answers
	Likes    int64 `json:"likes"`    // and reactions
}

// The weights of contributions. Answering shows more than asking, and an accepted
// answer shows most.
const (
	weightAnswer   = 1.0
	weightAccepted = 2.0
	weightPull     = 1.5
	weightAsked    = 0.4
)

// rankExperts ranks the authors of contributions that were found for a topic. It is
// the document model of Balog, Azzopardi and de Rijke, "Formal Models for
// Expert Finding in Enterprise Corpora" (SIGIR 2006, Model 2): what a person
// wrote stands between topic and person,
//
//	score(p) = Σ over found d by p: relevance(d)² · kind(d) · (1 + log2(1 + likes(d)) / 4)
//
// where kind is 2 for an accepted answer, 1.5 for a pull request, 1 for any
// other answer and 0.4 for a question. Squared, the relevance of many weak hits
// does not outweigh that of a few strong ones. Scores are divided by their sum.
func rankExperts(hits []find.Match) []expertise {
	people := map[string]*expertise{}
	sum := 0.0
	for _, h := range hits {
		key := catalog.Fold(h.Record.Author)
		if key == "" || h.Relevance <= 0 {
			continue
		}
		e := people[key]
		if e == nil {
			e = &expertise{Name: h.Record.Author}
			people[key] = e
		}
		weight, why := e.count(h.Record)
		weight *= h.Relevance * h.Relevance * (1 + math.Log2(1+float64(max(0, h.Record.Votes)))/4)
		e.Evidence = append(e.Evidence, evidence.Proof{Record: h.Record, Why: why, Weight: weight})
		e.Score += weight
		sum += weight
	}
	var out []expertise
	for _, e := range people {
		slices.SortFunc(e.Evidence, func(a, b evidence.Proof) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Record.ID, b.Record.ID))
		})
		for i := range e.Evidence {
			e.Evidence[i].Weight /= e.Score
		}
		e.Score /= sum
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b expertise) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// count adds a contribution and says what it weighs.
func (e *Activity) count(r catalog.Record) (weight float64, why string) {
	e.Likes += max(0, r.Votes)
	switch r.Kind {
	case catalog.KindPull:
		e.Pulls++
		return weightPull, "pull request" + stateOf(r)
	case catalog.KindPost:
		e.Posts++
		d, _ := catalog.Decode[catalog.Post](r)
		switch {
		case d.Accepted:
			e.Accepted++
			return weightAccepted, "accepted answer on the forum"
		case d.Number == 1:
			return weightAsked, "opened the thread"
		}
		return weightAnswer, "replied on the forum"
	case catalog.KindComment:
		e.Comments++
		d, _ := catalog.Decode[catalog.Comment](r)
		switch {
		case d.Answer:
			e.Accepted++
			return weightAccepted, "accepted answer on the forge"
		case d.Review:
			return weightAnswer, "reviewed the code"
		}
		return weightAnswer, "commented on the forge"
	}
	return weightAsked, "opened the " + string(r.Kind)
}

func stateOf(r catalog.Record) string {
	if r.State == "" {
		return ""
	}
	return ", " + r.State
}
