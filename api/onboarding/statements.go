package onboarding

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"almanac/api/kb/deprecated"
	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/markdown"
)

// statement is a claim that a record of a source makes.
type statement struct {
	claim
	Source string
	Record catalog.Record
	Date   time.Time // zero if unknown: older than any other
}

// statementsOf reads the claims of a source's records. Each is dated by when the
// record was last written: what others add to it later does not count.
func statementsOf(source string, records []catalog.Record, names deprecated.Names) (out []statement) {
	for _, r := range records {
		at := r.UpdatedAt
		if at.IsZero() {
			at = r.CreatedAt
		}
		for _, c := range claimsIn(r.Title, r.Body, names) {
			out = append(out, statement{c, source, r, at})
		}
	}
	return out
}

// contradiction is a subject of which the latest statements of two sources
// differ.
type contradiction struct {
	Aspect  string
	Subject string
	Sides   []side // one for each source, by name
}

// side is what a source says of a subject: its latest statement.
type side struct {
	statement
	Records int // of the source that state the same value
}

// statementShown is the maximum of a statement in an answer, in characters.
const statementShown = 240

// Snippet is the statement, with an ellipsis if it is cut.
func (s side) Snippet() string { return markdown.Clip(s.Text, statementShown) }

// compare compares the latest statements of the sources on each subject
// and returns the contradictions, the newest first, and the number of subjects
// of which at least two sources say the same.
func compare(statements []statement) (found []contradiction, agreed int) {
	type subject struct{ aspect, name string }
	bySubject := map[subject]map[string][]statement{}
	for _, s := range statements {
		key := subject{s.Aspect, s.Subject}
		if bySubject[key] == nil {
			bySubject[key] = map[string][]statement{}
		}
		bySubject[key][s.Source] = append(bySubject[key][s.Source], s)
	}
	for key, bySource := range bySubject {
		c := contradiction{Aspect: key.aspect, Subject: key.name}
		values := map[string]bool{}
		for _, source := range slices.Sorted(maps.Keys(bySource)) {
			if side, ok := sideOf(bySource[source]); ok {
				c.Sides = append(c.Sides, side)
				values[side.same] = true
			}
		}
		switch {
		case len(values) > 1:
			found = append(found, c)
		case len(c.Sides) > 1:
			agreed++
		}
	}
	slices.SortFunc(found, func(a, b contradiction) int {
		return cmp.Or(b.newest().Compare(a.newest()), cmp.Compare(a.Aspect, b.Aspect),
			cmp.Compare(a.Subject, b.Subject))
	})
	return found, agreed
}

func (c contradiction) newest() time.Time {
	latest := slices.MaxFunc(c.Sides, func(a, b side) int { return a.Date.Compare(b.Date) })
	return latest.Date
}

// sideOf returns a source's latest statement. Of several values of the same
// date, as of pages without one, that of most records counts; false if no value
// has most.
func sideOf(all []statement) (side, bool) {
	latest := newest(all)
	records, now := map[string]map[int64]bool{}, map[string]int{} // by value: those of any date, those of the latest
	for _, s := range all {
		if records[s.same] == nil {
			records[s.same] = map[int64]bool{}
		}
		if !records[s.same][s.Record.ID] && s.Date.Equal(latest) {
			now[s.same]++
		}
		records[s.same][s.Record.ID] = true
	}
	var best side
	most, unique := 0, false
	for _, s := range all {
		n := now[s.same]
		switch {
		case !s.Date.Equal(latest):
		case n > most:
			best, most, unique = side{s, len(records[s.same])}, n, true
		case n == most && s.same != best.same:
			unique = false
		}
	}
	return best, unique
}

func newest(statements []statement) (t time.Time) {
	for _, s := range statements {
		if s.Date.After(t) {
			t = s.Date
		}
	}
	return t
}

// currentPages returns the records without the documentation pages of an older
// version: those with the mark, and those with another version than the newest
// of their repository that is among them. A record that states no version is
// current.
func currentPages(pages []catalog.Record) []catalog.Record {
	versions := make([]string, len(pages))
	newest := map[string]string{}
	for i, r := range pages {
		if r.Kind == catalog.KindDoc {
			d, _ := catalog.Decode[catalog.Doc](r) // data of another form states no version
			versions[i] = d.Version
		}
		if old, ok := newest[r.Container]; !ok || later(versions[i], old) {
			newest[r.Container] = versions[i]
		}
	}
	var out []catalog.Record
	for i, r := range pages {
		if !slices.Contains(r.Tags, catalog.TagOtherVersion) && !later(newest[r.Container], versions[i]) {
			out = append(out, r)
		}
	}
	return out
}

// leastRelevant is the least relevance of what is compared, of the best.
const leastRelevant = 0.7

// relevantPages returns the ids of the hits that are on their topic, without
// pages of older versions: they state what was true of those.
func relevantPages(hits []find.Match) (ids []int64) {
	var pages []catalog.Record
	for _, h := range hits {
		pages = append(pages, h.Record)
	}
	current := map[int64]bool{}
	for _, r := range currentPages(pages) {
		current[r.ID] = true
	}
	best := 0.0
	for _, h := range hits {
		if !current[h.Record.ID] {
			continue
		}
		if best = max(best, h.Relevance); h.Relevance >= leastRelevant*best {
			ids = append(ids, h.Record.ID)
		}
	}
	return ids
}

// later reports whether version a comes after b; none comes after all, one that
// cannot be read before all.
func later(a, b string) bool {
	if a == "" || b == "" {
		return a == "" && b != ""
	}
	v, okA := derive.ParseVersion(a)
	w, okB := derive.ParseVersion(b)
	return okA && (!okB || v.Compare(w) > 0)
}
