package proposal

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest/gitrepo"
	"almanac/text/dates"
)

// statusChanges returns the status changes along the branch, in order: for each
// step those of the headers, then those of the index table's rows. It also returns
// the last row of each number, which is told by its history if it is gone.
func (r *reading) statusChanges(ctx context.Context) (changes []catalog.Event, rows map[string]IndexRow) {
	headers := map[string]string{} // path → status
	rows = map[string]IndexRow{}   // number → row
	for _, s := range r.repo.Steps {
		change := func(number, file, before string, known bool, status, via string) {
			if known && status == before {
				return
			}
			changes = append(changes, catalog.Event{
				Ref: catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(number)}, At: s.At, RawTo: status, Via: via,
				Commit: s.Commit, Subject: s.Subject, URL: r.repo.URL(file, s.Commit),
			})
		}
		for _, c := range s.Changes {
			if c.Old != "" && c.Old != c.New {
				delete(headers, c.Old)
			}
			number, h := r.formerHeader(ctx, c)
			if number == "" {
				continue
			}
			if _, said := h.Fields["Status"]; !said {
				delete(headers, c.New)
				continue
			}
			before, known := headers[c.New]
			headers[c.New] = h.Status
			change(number, c.New, before, known, h.Status, ViaHeader)
		}
		for _, c := range s.Changes {
			if c.New == "" || c.New != r.layout.Index {
				continue
			}
			for _, row := range r.table(ctx, c.New, c.Blob) {
				before, known := rows[row.Number]
				rows[row.Number] = row
				change(row.Number, c.New, before.Status, known, row.Status, ViaIndex)
			}
		}
	}
	return changes, rows
}

// maxAbove is how many lines of a former version are parsed.
const maxAbove = 4 * maxHeaderLines

// formerHeader reads the header of a former version of a file, and its number: the one
// that the file has now, else the one that it had. The number is empty if it was
// not a proposal.
func (r *reading) formerHeader(ctx context.Context, c gitrepo.Change) (number string, h Header) {
	if c.New == "" || !r.layout.isText(c.New) || !r.layout.included(c.New) {
		return "", Header{}
	}
	number = r.numberOf[c.New]
	v, kept := r.kept[keyOf(c.New, c.Blob)]
	if !kept {
		text, err := r.text(ctx, c.Blob)
		if err != nil {
			if number != "" {
				r.skip(c.New, err)
			}
			return "", Header{}
		}
		lines := strings.SplitAfterN(text, "\n", maxAbove+1) // the header is among the first
		text = strings.Join(lines[:min(len(lines), maxAbove)], "")
		v, _ = r.reader.parse(c.New, text) // one that is too large has no status
	}
	h = v.header
	if number == "" {
		if c, err := r.reader.candidate(c.New, h, r.layout.named()); err == nil {
			number = c.number
		}
	}
	return number, h
}

// table reads a version of the index table.
func (r *reading) table(ctx context.Context, file, blob string) []IndexRow {
	text, err := r.text(ctx, blob)
	if err != nil {
		r.skip(r.repo.record(file, blob), err)
		return nil
	}
	return IndexTable(asMarkdown(file, text))
}

// IndexRow is a proposal's row in a repository's index table.
type IndexRow struct {
	Number string // in the form of Numeral
	Title  string
	Author string
	Type   string
	Status string // as spelled
}

var rowNumber = regexp.MustCompile(`(?i)^\s*\[?\s*(?:[a-z]+[-_ ]?)?(\d{1,6}(?:-\d\d)?)\b`)

// IndexTable reads the table of a text that has a Status column: one row for
// each number in the first cell. Rows without a number or a status are skipped;
// of several rows with a number the first counts.
func IndexTable(text string) []IndexRow {
	var rows []IndexRow
	var columns map[string]int
	seen := map[string]bool{}
	for line := range strings.Lines(normalise(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue // a stray line does not end the table
		}
		cells := tableCells(line)
		if named := columnNames(cells); named != nil {
			columns = named
			continue
		}
		m := rowNumber.FindStringSubmatch(cells[0])
		if m == nil || columns == nil {
			continue
		}
		cell := func(name string) string {
			if i, ok := columns[name]; ok && i < len(cells) {
				return plain(cells[i])
			}
			return ""
		}
		row := IndexRow{Numeral(m[1]), cell("Title"), cell("Author"), cell("Type"), cell("Status")}
		if row.Status != "" && !seen[row.Number] {
			seen[row.Number] = true
			rows = append(rows, row)
		}
	}
	return rows
}

// columnNames returns the columns of a heading row by canonical name; nil for
// a row without a Status column.
func columnNames(cells []string) map[string]int {
	columns := map[string]int{}
	for i, c := range cells {
		name, _ := canonicalName(c)
		columns[name] = i
	}
	if _, ok := columns["Status"]; !ok {
		return nil
	}
	return columns
}

// tableCells splits a table row at its unescaped bars.
func tableCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	var cells []string
	start := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			cells = append(cells, strings.TrimSpace(line[start:i]))
			start = i + 1
		}
	}
	return append(cells, strings.TrimSpace(line[start:]))
}

// Where the change of a proposal's status by a commit was made; the header comes first.
const (
	ViaHeader = "header" // of its file
	ViaIndex  = "index"  // the repository's table
)

// Events turns the changes of status of any number of proposals, of which RawTo is what
// the source says, into the events of each, by time.
//
// Header changes are authoritative: every change to another word is an event,
// also backwards; a repeated word (a renamed file) or a blank is not. Index
// changes fill gaps: they count until a header of the proposal states a status,
// and while it is blank; the last one is dropped if the first header states the
// same word. So a proposal whose file came years after its row keeps the row's
// history, one without a file has only that, and the two never contradict. Each
// event's From is the status that the previous events led to.
func (r Reader) Events(changes []catalog.Event) [][]catalog.Event {
	byKey := map[string][]catalog.Event{}
	for _, c := range changes {
		byKey[c.Ref.Key] = append(byKey[c.Ref.Key], c)
	}
	var events [][]catalog.Event
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		if of := r.timeline(byKey[key]); len(of) > 0 {
			events = append(events, of)
		}
	}
	return events
}

func (r Reader) timeline(changes []catalog.Event) (kept []catalog.Event) {
	slices.SortStableFunc(changes, func(a, b catalog.Event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Via, b.Via))
	})
	speaks := false // the header states a status
	for _, c := range changes {
		c.RawTo = r.statusWord(c.RawTo)
		last := len(kept) - 1
		switch {
		case c.Via == ViaIndex && speaks:
			continue
		case c.Via == ViaHeader:
			speaks = c.RawTo != ""
		}
		if c.RawTo == "" {
			continue
		}
		if last >= 0 && strings.EqualFold(kept[last].RawTo, c.RawTo) {
			if c.Via == ViaIndex || kept[last].Via == ViaHeader {
				continue // a repeat
			}
			kept = kept[:last] // replaced by the header's
		}
		kept = append(kept, c)
	}
	before := catalog.Event{}
	for i, e := range kept {
		e.Field, e.At, e.To = "status", e.At.UTC(), r.Status(e.Ref.Key, e.RawTo)
		e.From, e.RawFrom = before.To, before.RawTo
		kept[i], before = e, e
	}
	return kept
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
