package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"almanac/ingest/proposals"
)

// history reads the file of status changes, by proposal number. A change in a
// file that is not a proposal is a change in the repository's index table.
func (r *run) history() (map[string][]proposals.Change, error) {
	changes := map[string][]proposals.Change{}
	if r.options.History == "" {
		return changes, nil
	}
	var of row
	if i, ok := r.at[r.options.History]; ok {
		of = r.rows[i]
	}
	type line struct {
		CIP     string `json:"cip"`
		Date    string `json:"date"`
		From    string `json:"from"`
		To      string `json:"to"`
		Commit  string `json:"commit"`
		Initial bool   `json:"initial"`
		Source  string `json:"source"` // branch:path
		Subject string `json:"subject"`
	}
	return changes, index(r.archive, r.options.History, r.out.Skip, func(_ string, l line) error {
		at := parseTime(l.Date)
		number := proposals.Numeral(l.CIP)
		if number == "" || at.IsZero() {
			return errors.New("lacks its proposal or its date")
		}
		_, file, _ := strings.Cut(l.Source, ":")
		changes[number] = append(changes[number], proposals.Change{
			Number: number, At: at, From: l.From, To: l.To, Initial: l.Initial,
			Index: proposals.NumberFromPath(file) == "", Path: file, Commit: l.Commit, Subject: l.Subject,
			URL: r.options.fileURL(row{Repo: of.Repo, Commit: l.Commit, SourcePath: file}),
		})
		return nil
	})
}

// indexTable reads the repository's index table, if the snapshot has it: the
// file named in the history for changes of index rows.
func (r *run) indexTable(changes map[string][]proposals.Change) (map[string]proposals.IndexRow, error) {
	table := map[string]proposals.IndexRow{}
	file := ""
	for _, list := range changes {
		for _, c := range list {
			if c.Index {
				file = c.Path
			}
		}
	}
	of, ok := r.at[r.options.History]
	for _, row := range r.rows {
		if !ok || row.Repo != r.rows[of].Repo || row.SourcePath != file || file == "" {
			continue
		}
		text, err := r.text(row.Path)
		if err != nil {
			return nil, fmt.Errorf("snapshot: index table %s: %w", row.Path, err)
		}
		for _, line := range proposals.IndexTable(text) {
			table[line.Number] = line
		}
		break
	}
	return table, nil
}

// events passes on every proposal's history, also of those without a file.
func (r *run) events(ctx context.Context, changes map[string][]proposals.Change) error {
	for _, number := range slices.Sorted(maps.Keys(changes)) {
		events := r.reader.Events(changes[number])
		if len(events) == 0 {
			continue
		}
		if err := r.out.Events(ctx, events); err != nil {
			return err
		}
	}
	return nil
}
