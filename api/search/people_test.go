package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"almanac/api/kb/find"
	"almanac/catalog"
)

var lastID int64

// wrote is n contributions of a kind by an author.
func wrote(author string, kind catalog.Kind, n int, data any) []catalog.Record {
	raw, err := catalog.Encode(data)
	if err != nil {
		panic(err)
	}
	out := slices.Repeat([]catalog.Record{{Kind: kind, Author: author, Data: raw}}, n)
	for i := range out {
		lastID++
		out[i].ID = lastID
	}
	return out
}

func TestContributors(t *testing.T) {
	post := func(author string, n int) []catalog.Record { return wrote(author, catalog.KindPost, n, catalog.Post{}) }
	thread := func(authors ...string) (out []catalog.Record) {
		lastID++
		parent := lastID
		for i, a := range authors {
			out = append(out, wrote(a, catalog.KindPost, 1, catalog.Post{Number: i + 1})...)
			out[i].Parent = parent
		}
		return out
	}
	for name, c := range map[string]struct {
		records []catalog.Record
		want    string
	}{
		"nobody": {nil, ""},
		"who wrote a third of it": {slices.Concat(post("a", 4), post("b", 3), post("c", 2), post("d", 3)),
			"a"},
		"and who is needed for a third": {slices.Concat(post("a", 4), post("b", 3), post("c", 2), post("d", 2),
			post("e", 2)), "a b"},
		"equals of the last belong to it": {slices.Concat(post("a", 4), post("b", 3), post("c", 3), post("d", 1),
			post("e", 2)), "a b c"},
		"each place has its own": {slices.Concat(post("a", 9), post("b", 1),
			wrote("b", catalog.KindMailMessage, 2, catalog.MailMessage{})), "a b"},
		"names are one but for case": {slices.Concat(post("Ann", 2), post("ann", 2), post("b", 3)), "ann"},
		"an admin of the forum": {slices.Concat(post("a", 9),
			wrote("b", catalog.KindPost, 1, catalog.Post{Role: "admin"})), "a b"},
		"a member of the repository": {slices.Concat(post("a", 9), post("b", 1),
			wrote("c", catalog.KindComment, 9, catalog.Comment{Association: "none"}),
			wrote("b", catalog.KindIssue, 1, catalog.Issue{Association: "MEMBER"})), "a b c"},
		"a contributor has no role": {slices.Concat(wrote("a", catalog.KindPull, 9, catalog.Pull{}),
			wrote("b", catalog.KindPull, 1, catalog.Pull{Association: "contributor"})), "a"},
		"who asks does not guide": {slices.Concat(thread("a"), thread("a"),
			wrote("a", catalog.KindIssue, 9, catalog.Issue{}), post("b", 1)), "b"},
		"nor who follows up": {slices.Concat(thread("a", "b"), thread("a", "a", "a", "a")), "b"},
		"topics and the nameless are left": {slices.Concat(wrote("t", catalog.KindTopic, 9, catalog.Topic{}),
			post("", 9), post("a", 1)), "a"},
		"data that cannot be read is a hit": {[]catalog.Record{{Kind: catalog.KindPost, Author: "a",
			Data: []byte("[")}}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			var core []string
			for key, p := range contributors(c.records) {
				if p.Core {
					core = append(core, key)
				}
			}
			slices.Sort(core)
			if got := strings.Join(core, " "); got != c.want {
				t.Errorf("core %q, want %q", got, c.want)
			}
		})
	}
}

func TestContributorsShares(t *testing.T) {
	people := contributors(slices.Concat(wrote("Ann", catalog.KindPost, 3, catalog.Post{Role: "staff"}),
		wrote("b", catalog.KindPost, 1, catalog.Post{}),
		wrote("ann", catalog.KindPull, 1, catalog.Pull{Association: "owner"})))
	ann := people["ann"]
	if ann.Name != "Ann" || ann.Number["forum"] != 3 || !slices.Equal(ann.Roles, []string{"owner", "staff"}) ||
		!maps.Equal(ann.Share, map[string]float64{"forum": 0.75, "forge": 1}) {
		t.Errorf("%+v", ann)
	}
}

func TestGuidance(t *testing.T) {
	all := slices.Concat(
		wrote("ann", catalog.KindPost, 1, catalog.Post{Number: 1, Role: "staff"}),
		wrote("ann", catalog.KindMailMessage, 1, catalog.MailMessage{Number: 1}),
		wrote("bo", catalog.KindPost, 1, catalog.Post{Number: 1}),
		wrote("bo", catalog.KindPost, 3, catalog.Post{Number: 2}),
		wrote("bo", catalog.KindComment, 1, catalog.Comment{}),
		wrote("cy", catalog.KindPost, 1, catalog.Post{Number: 3}))
	got := map[string]int{}
	for _, r := range guidanceBy(contributors(all), all) {
		got[r.Author+" "+string(r.Kind)]++
	}
	if want := map[string]int{"ann post": 1, "ann mail_message": 1, "bo post": 3}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestExperts(t *testing.T) {
	id := int64(0)
	hit := func(author string, kind catalog.Kind, data any, votes int64, relevance float64) find.Match {
		r := wrote(author, kind, 1, data)[0]
		id++
		r.ID, r.Votes = id, votes
		return find.Match{Record: r, Relevance: relevance}
	}
	answer := func(author string, relevance float64) find.Match {
		return hit(author, catalog.KindPost, catalog.Post{Number: 2}, 0, relevance)
	}
	for name, c := range map[string]struct {
		hits []find.Match
		want string // names in order with their scores
	}{
		"nobody": {nil, ""},
		"two answers before one": {[]find.Match{answer("a", 1), answer("b", 1), answer("b", 1)},
			"b 0.67, a 0.33"},
		"relevance counts squared": {[]find.Match{answer("a", 1), answer("b", 0.5), answer("b", 0.5)},
			"a 0.67, b 0.33"},
		"an accepted answer counts twice": {[]find.Match{answer("a", 1),
			hit("b", catalog.KindPost, catalog.Post{Number: 2, Accepted: true}, 0, 1)}, "b 0.67, a 0.33"},
		"so does one on the forge": {[]find.Match{answer("a", 1),
			hit("b", catalog.KindComment, catalog.Comment{Answer: true}, 0, 1)}, "b 0.67, a 0.33"},
		"a question counts less": {[]find.Match{hit("a", catalog.KindPost, catalog.Post{Number: 1}, 0, 1),
			hit("b", catalog.KindIssue, catalog.Issue{}, 0, 1), answer("c", 1)}, "c 0.56, a 0.22, b 0.22"},
		"a pull request counts more": {[]find.Match{answer("a", 1),
			hit("b", catalog.KindPull, catalog.Pull{}, 0, 1)}, "b 0.60, a 0.40"},
		"likes count by their logarithm": {[]find.Match{answer("a", 1),
			hit("b", catalog.KindPost, catalog.Post{Number: 2}, 15, 1)}, "b 0.67, a 0.33"},
		"one person in two places": {[]find.Match{answer("Bo", 1),
			hit("bo", catalog.KindComment, catalog.Comment{}, 0, 1), answer("a", 1)}, "Bo 0.67, a 0.33"},
		"the nameless and what has no weight": {[]find.Match{answer("", 1), answer("a", 0)}, ""},
		"equals by name":                      {[]find.Match{answer("b", 1), answer("a", 1)}, "a 0.50, b 0.50"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range rankExperts(c.hits) {
				got = append(got, fmt.Sprintf("%s %.2f", e.Name, e.Score))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

func TestExpertsProve(t *testing.T) {
	record := func(kind catalog.Kind, data any, id, votes int64, state string) find.Match {
		r := wrote("ann", kind, 1, data)[0]
		r.ID, r.Votes, r.State = id, votes, state
		return find.Match{Record: r, Relevance: 1}
	}
	e := rankExperts([]find.Match{
		record(catalog.KindPost, catalog.Post{Number: 3}, 1, 3, ""),
		record(catalog.KindPull, catalog.Pull{}, 2, 0, "merged"),
		record(catalog.KindComment, catalog.Comment{Review: true}, 3, 0, ""),
		record(catalog.KindPost, catalog.Post{Number: 2, Accepted: true}, 4, 1, ""),
		record(catalog.KindDiscussion, catalog.Discussion{}, 5, 0, ""),
	})[0]
	if e.Posts != 2 || e.Pulls != 1 || e.Comments != 1 || e.Accepted != 1 || e.Likes != 4 || e.Score != 1 {
		t.Errorf("%+v", e)
	}
	var whys []string
	sum := 0.0
	for _, p := range e.Evidence {
		whys, sum = append(whys, p.Why), sum+p.Weight
	}
	want := []string{"accepted answer on the forum", "replied on the forum", "pull request, merged",
		"reviewed the code", "opened the discussion"}
	if !slices.Equal(whys, want) || math.Abs(sum-1) > 1e-9 {
		t.Errorf("%q, sum %v; want %q", whys, sum, want)
	}
}

func TestRelevant(t *testing.T) {
	hits := []find.Match{{Relevance: 1}, {Relevance: 0.5}, {Relevance: 0.4}, {Relevance: 0.6}}
	if got := find.Relevant(hits, 0.5); len(got) != 3 || got[2].Relevance != 0.6 {
		t.Errorf("%v", got)
	}
}

func TestFindCore(t *testing.T) {
	all := slices.Concat(wrote("Ann", catalog.KindPost, 3, catalog.Post{Number: 2}),
		wrote("bo", catalog.KindPost, 1, catalog.Post{Number: 2}),
		wrote("cy", catalog.KindPost, 1, catalog.Post{Number: 2}))
	c := findCore(all)
	if c.Number != 1 || len(c.People) != 3 || !c.People["ann"].Core || len(c.Wrote) != 3 {
		t.Errorf("%d in the core of %d, %d contributions", c.Number, len(c.People), len(c.Wrote))
	}
}
