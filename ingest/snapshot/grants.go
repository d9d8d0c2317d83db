package snapshot

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"almanac/ingest/proposals"
)

var errNoPull = errors.New("the pull request that added it is unknown, so it has no number")

// grants yields grant proposals by pull request. The text of a merged one is
// the file it added, not the stored copy of the pull request. Additional files
// of the same pull request are its children. Bulk edits are not proposals.
func (r *run) grants(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	addedBy, err := r.mergedFiles()
	if err != nil {
		return err
	}
	files, copies := map[int][]row{}, map[int]row{}
	for _, row := range rows {
		number := cmp.Or(addedBy[row.Path], row.Pull)
		switch {
		case number == 0:
			r.out.Skip(row.Path, errNoPull)
		case slices.Contains(r.options.BulkPulls, number):
		case row.Pull > 0:
			copies[number] = row
		default:
			files[number] = append(files[number], row)
		}
	}
	for number, copy := range copies {
		if len(files[number]) == 0 {
			files[number] = []row{copy}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(files)) {
		address := r.options.pullURL(files[number][0].Repo, number)
		if events := proposals.GrantEvents(*r.request(number), time.Time{}, time.Time{}, address); len(events) > 0 {
			if err := r.out.Events(ctx, events); err != nil {
				return err
			}
		}
		for i, row := range files[number] {
			if err := r.put(ctx, row.Path, r.grant(row, number, i == 0)); err != nil {
				return err
			}
		}
	}
	r.step(len(rows))
	return nil
}

// mergedFiles reads which pull request first added each merged file.
func (r *run) mergedFiles() (map[string]int, error) {
	addedBy := map[string]int{}
	if r.options.MergedFiles == "" {
		return addedBy, nil
	}
	type line struct {
		Path string `json:"path"`
		Pull int    `json:"pull_request"`
	}
	return addedBy, index(r.archive, r.options.MergedFiles, r.out.Skip, func(_ string, l line) error {
		if l.Pull <= 0 {
			return errNoPull
		}
		addedBy[l.Path] = l.Pull
		return nil
	})
}

// grant reads a file of a pull request: the proposal, or an additional one.
func (r *run) grant(row row, number int, main bool) item {
	f := proposals.File{
		Path: row.SourcePath, Repository: row.Repo, URL: r.options.fileURL(row), Pull: r.request(number),
	}
	read := r.reader.GrantFile
	if main {
		read = r.reader.Grant
		f.URL = cmp.Or(r.options.pullURL(row.Repo, number), f.URL)
	}
	for _, changed := range r.pulls[number].Files {
		if main && changed[0] != "D" {
			f.Files = append(f.Files, changed[1])
		}
	}
	text, err := r.item(row.Path, proposals.MaxText)
	f.Text = text
	it := item{}
	it.entry, it.err = read(f)
	if err != nil {
		it.ref, it.err = it.entry.Record.Ref(), err // identified by its path and number
	}
	it.entry.Record.Path = row.Path
	return it
}
