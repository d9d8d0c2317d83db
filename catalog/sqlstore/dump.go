package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"almanac/catalog"
)

// Dump calls fn with every live record, by id, all from one state of the
// catalog: first the entry of the source that owns it, then, with the
// record's reference alone, the additions of each other source. Applied to
// an empty catalog by source, owners before additions, the entries recreate
// the same records. Dump stops at an error of fn and returns it.
func (s *Store) Dump(ctx context.Context, fn func(source string, e catalog.Entry) error) error {
	return s.view(ctx, "dump", func(q querier) error {
		for after := int64(0); ; {
			records, err := collect(ctx, q, scanRecord, `SELECT `+recordColumns+`body FROM records
WHERE id > ? AND deleted_at = 0 ORDER BY id LIMIT +?`, after, maxParameters)
			if err != nil || len(records) == 0 {
				return err
			}
			after = records[len(records)-1].ID
			if err := dumpPart(ctx, q, records, fn); err != nil {
				return err
			}
		}
	})
}

// owned identifies the entry that a dependent belongs to.
type owned struct {
	record int64
	source string
}

// dumpPart dumps a chunk of records, small enough for one IN list.
func dumpPart(ctx context.Context, q querier, records []catalog.Record, fn func(string, catalog.Entry) error) error {
	if err := addTags(ctx, q, records); err != nil {
		return err
	}
	ids := make([]int64, len(records))
	refs := map[int64]catalog.Ref{}
	entries := map[owned]*catalog.Entry{}
	for i, r := range records {
		ids[i], refs[r.ID] = r.ID, r.Ref()
		entries[owned{r.ID, r.Source}] = &catalog.Entry{Record: r}
	}
	of := func(record int64, source string) *catalog.Entry {
		o := owned{record, source}
		if entries[o] == nil {
			ref := refs[record]
			entries[o] = &catalog.Entry{Record: catalog.Record{Kind: ref.Kind, Key: ref.Key}}
		}
		return entries[o]
	}
	if err := dumpHanging(ctx, q, ids, of); err != nil {
		return err
	}
	where, args := in("record", ids)
	facts, err := collect(ctx, q, scanFacts, `SELECT record, source, facts FROM facts WHERE `+where, args...)
	if err != nil {
		return err
	}
	owner := map[int64]string{}
	for _, r := range records {
		owner[r.ID] = r.Source
	}
	for _, f := range facts {
		if f.source == theOwner {
			e := of(f.record, owner[f.record])
			e.Record = f.restored(e.Record)
			continue
		}
		of(f.record, f.source).Facts = &f.Facts
	}
	additions := map[int64][]string{} // record → sources that add to it
	for o, e := range entries {
		if e.Record.ID == 0 {
			additions[o.record] = append(additions[o.record], o.source)
		}
	}
	for _, r := range records {
		for _, source := range append([]string{r.Source}, slices.Sorted(slices.Values(additions[r.ID]))...) {
			if err := fn(source, *entries[owned{r.ID, source}]); err != nil {
				return err
			}
		}
	}
	return nil
}

// dumpHanging reads aliases, links and votes of the records.
func dumpHanging(
	ctx context.Context, q querier, ids []int64, of func(record int64, source string) *catalog.Entry,
) error {
	type alias struct {
		owned
		name string
	}
	where, args := in("record", ids)
	aliases, err := collect(ctx, q, func(rows *sql.Rows) (a alias, err error) {
		return a, rows.Scan(&a.record, &a.source, &a.name)
	}, `SELECT record, source, alias FROM record_aliases WHERE `+where+` ORDER BY record, source, alias`, args...)
	if err != nil {
		return err
	}
	for _, a := range aliases {
		e := of(a.record, a.source)
		e.Aliases = append(e.Aliases, a.name)
	}
	links, err := collect(ctx, q, scanLink, `SELECT record, source, relation, to_kind, to_key, snippet FROM links
WHERE `+where+` ORDER BY record, source, position`, args...)
	if err != nil {
		return err
	}
	for _, l := range links {
		e := of(l.From, l.source)
		l.From = 0
		e.Links = append(e.Links, l.Link)
	}
	type vote struct {
		catalog.Vote
		source string
	}
	where, args = in("v.record", ids)
	votes, err := collect(ctx, q, func(rows *sql.Rows) (v vote, err error) {
		var at int64
		err = rows.Scan(&v.Record, &v.source, &v.Voter, &v.Choice, &v.Reason, &at, &v.URL)
		v.CastAt = fromMicros(at)
		return v, err
	}, `SELECT v.record, r.source, v.voter, v.choice, v.reason, v.cast_at, v.url
FROM votes v JOIN records r ON r.id = v.record WHERE `+where+` ORDER BY v.record, v.position`, args...)
	if err != nil {
		return err
	}
	for _, v := range votes {
		e := of(v.Record, v.source)
		v.Record = 0
		e.Votes = append(e.Votes, v.Vote)
	}
	return nil
}
