package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"

	"almanac/catalog"
)

// dropAdded are the statements that remove what source ?2 says of record ?1, whoever owns it.
var dropAdded = []string{
	`DELETE FROM record_aliases WHERE record = ?1 AND source = ?2`,
	`DELETE FROM links WHERE record = ?1 AND source = ?2`,
	`DELETE FROM facts WHERE record = ?1 AND source = ?2`,
}

const (
	dropFacts    = `DELETE FROM facts WHERE record = ? AND source = ?`
	dropTags     = `DELETE FROM record_tags WHERE record = ?`
	dropVotes    = `DELETE FROM votes WHERE record = ?`
	dropAddition = `DELETE FROM additions WHERE record = ? AND source = ?`
)

// putAdded writes what an entry has beside its record, whoever owns that.
func (a *application) putAdded(id int64, e entry) error {
	if err := a.putAliases(id, a.source, e.Record.Kind, e.Aliases); err != nil {
		return err
	}
	if err := a.putLinks(id, a.source, e.Links); err != nil {
		return err
	}
	return a.putFacts(id, a.source, e.Facts)
}

// selectLinks selects links of live records, the owner's before those added by
// other sources.
const selectLinks = `SELECT l.record, l.source, l.relation, l.to_kind, l.to_key, l.snippet
FROM links l JOIN records r ON r.id = l.record WHERE r.deleted_at = 0 AND `

const linkOrder = ` ORDER BY l.record, l.source <> r.source, l.source, l.position`

// LinksFrom returns the links of a record, in stored order.
func (s *Store) LinksFrom(ctx context.Context, record int64, relations ...catalog.Relation) ([]catalog.Link, error) {
	return s.links(ctx, "links from", `l.record = ?`, []any{record}, relations)
}

// LinksFromAll returns the links of several records, by record id, each
// record's in stored order.
func (s *Store) LinksFromAll(
	ctx context.Context, records []int64, relations ...catalog.Relation,
) (list []catalog.Link, err error) {
	ids := slices.Clone(records)
	slices.Sort(ids)
	err = chunks(slices.Compact(ids), func(part []int64) error {
		where, args := in("l.record", part)
		links, err := s.links(ctx, "links from all", where, args, relations)
		list = append(list, links...)
		return err
	})
	return list, err
}

// LinksTo returns the links of live records that point to exactly this
// reference, by record id. ListQuery.LinksTo resolves aliases.
func (s *Store) LinksTo(ctx context.Context, ref catalog.Ref, relations ...catalog.Relation) ([]catalog.Link, error) {
	ref = ref.Clean()
	return s.links(ctx, "links to", `l.to_kind = ? AND l.to_key = ?`, []any{string(ref.Kind), ref.Key}, relations)
}

// LinksByRelation returns every link of live records with the relation.
func (s *Store) LinksByRelation(ctx context.Context, relation catalog.Relation) ([]catalog.Link, error) {
	return s.links(ctx, "links by relation", `l.relation = ?`, []any{string(relation)}, nil)
}

func (s *Store) links(
	ctx context.Context, op, where string, args []any, relations []catalog.Relation,
) ([]catalog.Link, error) {
	if len(relations) > 0 {
		part, values := in("l.relation", relations)
		where, args = where+` AND `+part, append(args, values...)
	}
	rows, err := read(ctx, s, op, scanLink, selectLinks+where+linkOrder, args...)
	return distinct(rows), err
}

// sourcedLink is a link with the source that gave it.
type sourcedLink struct {
	catalog.Link
	source string
}

func scanLink(rows *sql.Rows) (l sourcedLink, err error) {
	return l, rows.Scan(&l.From, &l.source, &l.Relation, &l.To.Kind, &l.To.Key, &l.Snippet)
}

// distinct drops links that an earlier source already has. Repetitions within
// one source are kept: each has its own snippet.
func distinct(rows []sourcedLink) []catalog.Link {
	type identity struct {
		from     int64
		relation catalog.Relation
		to       catalog.Ref
	}
	var links []catalog.Link
	first := make(map[identity]string, len(rows))
	for _, l := range rows {
		id := identity{l.From, l.Relation, l.To}
		if source, ok := first[id]; ok && source != l.source {
			continue
		}
		first[id] = l.source
		links = append(links, l.Link)
	}
	return links
}

func (t *txn) putLinks(record int64, source string, links []catalog.Link) error {
	for i, l := range links {
		_, err := t.Exec(`INSERT INTO links (record, source, position, relation, to_kind, to_key, snippet)
VALUES (?, ?, ?, ?, ?, ?, ?)`,
			record, source, i, string(l.Relation), string(l.To.Kind), l.To.Key, l.Snippet)
		if err != nil {
			return err
		}
	}
	return nil
}

// Aliases returns the other names of a live record, from all sources.
func (s *Store) Aliases(ctx context.Context, record int64) ([]string, error) {
	return read(ctx, s, "aliases", scanText, `SELECT DISTINCT a.alias
FROM record_aliases a JOIN records r ON r.id = a.record
WHERE a.record = ? AND r.deleted_at = 0 ORDER BY a.alias`, record)
}

func scanText(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }

// names finds the live record that has the reference as its key or alias, 0 if
// there is none, and all its keys.
func names(ctx context.Context, q querier, ref catalog.Ref) (id int64, keys []string, err error) {
	ids, err := named(ctx, q, ref.Kind, []string{ref.Key})
	if err != nil {
		return 0, nil, err
	}
	id = ids[ref.Key]
	keys, err = collect(ctx, q, scanText, `SELECT key FROM records WHERE id = ?
UNION SELECT alias FROM record_aliases WHERE record = ?`, id, id)
	return id, append(keys, ref.Key), err
}

// named finds the live records of a kind that have one of the names as their
// key or, if none has, as an alias.
func named(ctx context.Context, q querier, kind catalog.Kind, names []string) (map[string]int64, error) {
	found := make(map[string]int64, len(names))
	err := chunks(names, func(part []string) error {
		where, args := in("key", part)
		return pairs(ctx, q, found, `SELECT key, id FROM records WHERE kind = ? AND deleted_at = 0 AND `+where,
			append([]any{string(kind)}, args...)...)
	})
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return found[name] != 0 })
	aliases, err := aliased(ctx, q, kind, others)
	maps.Copy(found, aliases)
	return found, err
}

// aliased finds the live records that have one of the aliases. If several
// records claim one, the oldest gets it.
func aliased(ctx context.Context, q querier, kind catalog.Kind, aliases []string) (map[string]int64, error) {
	found := map[string]int64{}
	err := chunks(aliases, func(part []string) error {
		where, args := in("a.alias", part)
		return pairs(ctx, q, found, `SELECT a.alias, MIN(a.record)
FROM record_aliases a JOIN records r ON r.id = a.record
WHERE a.kind = ? AND r.deleted_at = 0 AND `+where+` GROUP BY a.alias`, append([]any{string(kind)}, args...)...)
	})
	return found, err
}

func (t *txn) putAliases(record int64, source string, kind catalog.Kind, aliases []string) error {
	for _, alias := range aliases {
		if err := t.run(`INSERT INTO record_aliases (record, source, kind, alias) VALUES (?, ?, ?, ?)`, record, source,
			string(kind), alias); err != nil {
			return err
		}
	}
	return nil
}

// sourcedFacts are facts with the source that gave them.
type sourcedFacts struct {
	record int64
	source string
	catalog.Facts
}

func scanFacts(rows *sql.Rows) (f sourcedFacts, err error) {
	var text string
	if err := rows.Scan(&f.record, &f.source, &text); err != nil {
		return f, err
	}
	return f, json.Unmarshal([]byte(text), &f.Facts)
}

// layFacts makes a live record what its owner says with the facts of other
// sources laid over it.
func (a *application) layFacts(ctx context.Context, k *known) error {
	facts, err := collect(ctx, a.Tx, scanFacts, `SELECT record, source, facts FROM facts
WHERE record = ? AND source <> ? ORDER BY source = ? DESC, source DESC`, k.id, k.source, theOwner)
	if err != nil || len(facts) == 0 {
		return err
	}
	r, err := queryRecord(ctx, a.Tx, k.id, `body`, `id = ?`, k.id)
	if err != nil {
		return err
	}
	if facts[0].source == theOwner {
		r = facts[0].restored(r)
		facts = facts[1:]
		if len(facts) == 0 {
			err = a.run(dropFacts, k.id, theOwner)
		}
	} else {
		err = a.putFacts(k.id, theOwner, &catalog.Facts{State: r.State, Category: r.Category,
			LastActivityAt: r.LastActivityAt, Tags: r.Tags, Data: r.Data})
	}
	if err != nil {
		return err
	}
	for _, f := range facts {
		r = f.Over(r)
	}
	if err := a.rewrite(r); err != nil {
		return err
	}
	if err := a.run(dropTags, k.id); err != nil {
		return err
	}
	return a.putTags(k.id, r.Tags)
}

// restored returns the record as its owner gave it.
func (f sourcedFacts) restored(r catalog.Record) catalog.Record {
	r.State, r.Category, r.LastActivityAt, r.Tags, r.Data = f.State, f.Category, f.LastActivityAt, f.Tags, f.Data
	return r
}

func (t *txn) putFacts(record int64, source string, f *catalog.Facts) error {
	if f == nil {
		return nil
	}
	// Data must come back as it was written: the record's hash covers it.
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(f); err != nil {
		return err
	}
	return t.run(`INSERT INTO facts (record, source, facts) VALUES (?, ?, ?)`, record, source, text.String())
}

const selectVotes = `SELECT v.record, v.voter, v.choice, v.reason, v.cast_at, v.url
FROM votes v JOIN records r ON r.id = v.record WHERE `

// VotesOn returns the votes on a record ordered by time, then voter.
func (s *Store) VotesOn(ctx context.Context, record int64) ([]catalog.Vote, error) {
	return read(ctx, s, "votes on", scanVote,
		selectVotes+`v.record = ? AND r.deleted_at = 0 ORDER BY v.cast_at, v.voter, v.position`, record)
}

// VotesBy returns a voter's votes on live records of a kind, newest first;
// an empty voter means all voters.
func (s *Store) VotesBy(ctx context.Context, kind catalog.Kind, voter string) ([]catalog.Vote, error) {
	where, args := `r.kind = ? AND r.deleted_at = 0`, []any{catalog.Clean(string(kind))}
	if voter != "" {
		where, args = where+` AND lower(v.voter) = ?`, append(args, lower(catalog.Clean(voter)))
	}
	return read(ctx, s, "votes by", scanVote, selectVotes+where+` ORDER BY v.cast_at DESC, v.record, v.position`,
		args...)
}

func scanVote(rows *sql.Rows) (v catalog.Vote, err error) {
	var at int64
	err = rows.Scan(&v.Record, &v.Voter, &v.Choice, &v.Reason, &at, &v.URL)
	v.CastAt = fromMicros(at)
	return v, err
}

func (t *txn) putVotes(record int64, votes []catalog.Vote) error {
	for i, v := range votes {
		_, err := t.Exec(`INSERT INTO votes (record, position, voter, choice, reason, cast_at, url)
VALUES (?, ?, ?, ?, ?, ?, ?)`, record, i, v.Voter, v.Choice, v.Reason, micros(v.CastAt), v.URL)
		if err != nil {
			return err
		}
	}
	return nil
}

// lookAdditions reads the hashes of the source's additions to the records.
func (a *application) lookAdditions(ctx context.Context, records []int64) error {
	return chunks(records, func(part []int64) error {
		where, args := in("record", part)
		return pairs(ctx, a.Tx, a.added, `SELECT record, hash FROM additions WHERE source = ? AND `+where,
			append([]any{a.source}, args...)...)
	})
}

func (t *txn) putAddition(record int64, source, hash string) error {
	return t.run(`INSERT INTO additions (source, record, hash) VALUES (?, ?, ?)`, source, record, hash)
}
