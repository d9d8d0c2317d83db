package proposal

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/text/dates"
)

// Change is a change of a proposal's status by a commit: in the header of its
// file, or in the repository's index table.
type Change struct {
	Number  string // of the proposal, in the form of Numeral
	At      time.Time
	From    string // as spelled; empty when Initial
	To      string // as spelled; empty for a header that leaves it blank
	Initial bool   // the first status of a file (also after a rename) or of a table row
	Index   bool   // in the index table
	Path    string // of the file that changed
	Commit  string
	Subject string // of the commit
	URL     string // where the change can be seen
}

// Events turns the changes of any number of proposals into the events of each,
// by time.
//
// Header changes are authoritative: every change to another word is an event,
// also backwards; a repeated word (a renamed file) or a blank is not. Index
// changes fill gaps: they count until a header of the proposal states a status,
// and while it is blank; the last one is dropped if the first header states the
// same word. So a proposal whose file came years after its row keeps the row's
// history, one without a file has only that, and the two never contradict. Each
// event's From is the status that the previous events led to.
func (r Reader) Events(changes []Change) [][]catalog.Event {
	byNumber := map[string][]Change{}
	for _, c := range changes {
		byNumber[c.Number] = append(byNumber[c.Number], c)
	}
	var events [][]catalog.Event
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		if of := r.timeline(number, byNumber[number]); len(of) > 0 {
			events = append(events, of)
		}
	}
	return events
}

func (r Reader) timeline(number string, changes []Change) []catalog.Event {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(via(a), via(b)))
	})
	var kept []Change
	speaks := false // the header states a status
	for _, c := range changes {
		c.To = r.statusWord(c.To)
		last := len(kept) - 1
		switch {
		case c.Index && speaks:
			continue
		case !c.Index:
			speaks = c.To != ""
		}
		if c.To == "" {
			continue
		}
		if last >= 0 && strings.EqualFold(kept[last].To, c.To) {
			if c.Index || !kept[last].Index {
				continue // a repeat
			}
			kept = kept[:last] // replaced by the header's
		}
		kept = append(kept, c)
	}
	ref := catalog.Ref{Kind: catalog.KindCIP, Key: r.Key(number)}
	events := make([]catalog.Event, 0, len(kept))
	from, rawFrom := "", ""
	for _, c := range kept {
		to := r.Status(ref.Key, c.To)
		e := catalog.Event{
			Ref: ref, Field: "status", At: c.At.UTC(), From: from, To: to, RawFrom: rawFrom, RawTo: c.To,
			Via: via(c), Commit: c.Commit, URL: c.URL, Subject: c.Subject,
		}
		events = append(events, e)
		from, rawFrom = to, c.To
	}
	return events
}

// via says where a change was made; the header comes first.
func via(c Change) string {
	if c.Index {
		return "index"
	}
	return "header"
}

// GrantEvents returns the state events of a grant's pull request: open, then
// merged or closed. If the caller does not know when it was opened or ended
// (zero), the dates of its commits are used: a merge has a date, and a closed
// one ended with its last commit at the earliest.
func GrantEvents(p catalog.PullRequest, opened, ended time.Time, url string) []catalog.Event {
	if opened.IsZero() {
		opened = dates.At(p.FirstCommit, dates.Instant)
	}
	via := "pull"
	if ended.IsZero() {
		ended = dates.At(p.MergedAt, dates.Instant)
	}
	if ended.IsZero() && p.State == "closed" {
		ended, via = dates.At(p.LastCommit, dates.Instant), "last_commit"
	}
	event := catalog.Event{
		Ref:   catalog.Ref{Kind: catalog.KindGrant, Key: strconv.Itoa(p.Number)},
		Field: "state", Via: "pull", URL: url,
	}
	var events []catalog.Event
	if !opened.IsZero() && (p.State == "open" || !opened.After(ended)) {
		event.At, event.To, event.RawTo = opened.UTC(), "open", "open"
		events = append(events, event)
	}
	if p.State != "open" && !ended.IsZero() {
		event.From, event.RawFrom = event.To, event.RawTo
		event.At, event.To, event.RawTo = ended.UTC(), p.State, p.State
		event.Via, event.Commit = via, p.MergeCommit
		events = append(events, event)
	}
	return events
}
