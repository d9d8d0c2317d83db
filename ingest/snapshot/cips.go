package snapshot

import (
	"cmp"
	"context"
	"slices"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/proposals"
)

// cips yields the numbered proposals, then the drafts of unmerged pull
// requests, then every proposal's history.
func (r *run) cips(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	changes, err := r.history()
	if err != nil {
		return err
	}
	index, err := r.indexTable(changes)
	if err != nil {
		return err
	}
	pasts := r.pasts()
	for _, draft := range []bool{false, true} {
		for _, row := range rows {
			if (row.Pull > 0) != draft {
				continue
			}
			number := cmp.Or(proposals.Numeral(row.CIP), proposals.NumberFromPath(row.SourcePath))
			if err := r.put(ctx, row.Path, r.cip(row, number, index[number], pasts[number])); err != nil {
				return err
			}
			r.step(1)
		}
	}
	return r.events(ctx, changes)
}

// cip reads one proposal; index and past belong to its number.
func (r *run) cip(row row, number string, index proposals.IndexRow, past past) item {
	it := item{}
	f := proposals.File{Path: row.SourcePath, Repository: row.Repo, URL: r.options.fileURL(row)}
	switch {
	case row.Pull > 0:
		it.ref = catalog.Ref{Kind: catalog.KindCIP, Key: network.DraftKey(row.Pull)}
		f.Pull = r.request(row.Pull)
		f.URL = cmp.Or(r.options.pullURL(row.Repo, row.Pull), f.URL)
		f.Amends = slices.Contains(r.pulls[row.Pull].Files, [2]string{"M", row.SourcePath})
	case number != "":
		it.ref = catalog.Ref{Kind: catalog.KindCIP, Key: r.reader.Key(number)}
		f.Number, f.Index, f.CreatedAt, f.UpdatedAt = number, index, past.first, past.last
		if past.added > 0 {
			f.Pull = r.request(past.added)
		}
	}
	if f.Text, it.err = r.item(row.Path, proposals.MaxText); it.err != nil {
		return it
	}
	if it.entry, it.err = r.reader.Proposal(f); it.err != nil {
		return it
	}
	it.entry.Record.Path = row.Path
	if row.Pull == 0 {
		it.entry.Aliases = append(it.entry.Aliases, past.aliases...)
	}
	return it
}
