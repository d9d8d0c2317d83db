package kb

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/nearest"
)

// Record finds the record that an id names: a record id, the id of an
// improvement proposal, or the path of a file.
func (b Base) Record(ctx context.Context, id arg.RecordID) (catalog.Record, error) {
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil && n >= catalog.FirstID {
		r, err := b.Catalog.ByID(ctx, n)
		return r, NotFound(err, "there is no record %d: ids are those of search results", n)
	}
	// Only as search results spell it: any other number is likely a mistake.
	p := b.Network.Proposals
	if key, ok := p.ParseID(string(id)); ok && (string(id) == p.ID(key) || string(id) == key) {
		r, err := b.Catalog.Get(ctx, catalog.Ref{Kind: catalog.KindCIP, Key: key})
		return r, NotFound(err, "there is no %s", key)
	}
	if _, err := strconv.Atoi(string(id)); err == nil {
		return catalog.Record{}, op.NotFound("there is no record %s: ids are those of search results", id)
	}
	records, err := b.Catalog.ByPath(ctx, string(id))
	if err == nil && len(records) == 0 {
		err = op.NotFound("there is no document %s: use the id or the path of a search result", op.Quote(string(id)))
	}
	if err != nil {
		return catalog.Record{}, err
	}
	return records[0], nil
}

// Keyed finds a record of a kind by its natural key or its record id: a topic
// by its number, a video by its id on the platform. The record id of a child
// finds its parent; a section after the record id is ignored. A proposal is found by
// any spelling of its id, and an issue, of the key owner/name#12, by owner/name/12 too,
// as their addresses have them.
func (b Base) Keyed(ctx context.Context, kind catalog.Kind, id string) (r catalog.Record, err error) {
	if whole, _, _ := strings.Cut(id, SectionMark); IsRecordID(whole) {
		id = whole
	}
	if n, bad := strconv.ParseInt(id, 10, 64); bad == nil && n >= catalog.FirstID {
		if r, err = b.Catalog.ByID(ctx, n); err == nil && r.Kind != kind && r.Parent != 0 { // a post: its topic
			r, err = b.Catalog.ByID(ctx, r.Parent)
		}
		if err == nil && r.Kind != kind {
			err = catalog.ErrNotFound
		}
	} else {
		switch {
		case kind == catalog.KindCIP:
			if key, ok := b.Network.Proposals.ParseID(id); ok {
				id = key
			}
		case kind.Role() == catalog.RoleWork:
			id = numbered.ReplaceAllString(id, "$1#$2")
		}
		r, err = b.Catalog.Get(ctx, catalog.Ref{Kind: kind, Key: id})
	}
	info, _ := catalog.InfoOf(kind)
	return r, NotFound(err, "there is no %.80q among the %s", id, info.Description)
}

// Titled finds a record of a kind by its key or its title, in any case. Its
// error names those that there are; the name is what clients call the kind.
func (b Base) Titled(ctx context.Context, kind catalog.Kind, name, value string) (catalog.Record, error) {
	records, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{kind}, WithBody: true})
	if err != nil {
		return catalog.Record{}, err
	}
	var known, keys []string
	for _, r := range records {
		if slug(r.Key) == slug(value) || slug(r.Title) == slug(value) {
			return r, nil
		}
		known, keys = append(known, r.Title), append(keys, r.Key)
	}
	if nearest.Of(value, keys) != "" {
		known = keys
	}
	return catalog.Record{}, op.NotFound("%s", NoSuch(name, value, known))
}

// slug folds a name for comparison: lower case, words joined by hyphens.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
}

// Locate finds the record that a person names: by anything that Record takes,
// by kind:key, or by the address of its page.
func (b Base) Locate(ctx context.Context, name string) (catalog.Record, error) {
	name = strings.TrimSpace(name)
	path := strings.TrimPrefix(name, b.PublicURL)
	if segment, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/"); ok && strings.HasPrefix(path, "/") {
		if plain, err := url.PathUnescape(rest); err == nil {
			rest = plain
		}
		for kind, of := range segments {
			if of == segment {
				return b.Keyed(ctx, kind, rest)
			}
		}
	}
	kind, key, ok := strings.Cut(name, ":")
	if _, known := catalog.InfoOf(catalog.Kind(kind)); ok && known {
		return b.Keyed(ctx, catalog.Kind(kind), key)
	}
	return b.Record(ctx, arg.RecordID(name))
}

// SectionMark stands between a record's id and the name of a section in it:
// 1000054#setup.
const SectionMark = "#"

// IsRecordID reports whether an id is that of a record of any kind.
func IsRecordID(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n >= catalog.FirstID
}

// Heads returns records by id, without their bodies; they share their tags and data with those of other calls.
func (b Base) Heads(ctx context.Context, ids []int64) (map[int64]catalog.Record, error) {
	state, err := b.Catalog.LastChange(ctx)
	if err != nil {
		return nil, err
	}
	return b.heads.Get(state, ids, func(missing []int64) (map[int64]catalog.Record, error) {
		records, err := b.Catalog.Heads(ctx, missing)
		return byID(records), err
	})
}

// Bodies returns records by id, with their bodies.
func (b Base) Bodies(ctx context.Context, ids []int64) (map[int64]catalog.Record, error) {
	records, err := b.Catalog.Records(ctx, ids)
	return byID(records), err
}

func byID(records []catalog.Record) map[int64]catalog.Record {
	of := make(map[int64]catalog.Record, len(records))
	for _, r := range records {
		of[r.ID] = r
	}
	return of
}
