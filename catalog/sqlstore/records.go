package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
)

// recordColumns are the columns that scanRecord reads; body comes last and can
// be replaced by an empty string.
const recordColumns = `id, kind, key, title, url, path, source, container, state, category, parent, author,
	created_at, updated_at, last_activity_at, first_seen_at, starts_at, ends_at,
	views, replies, votes, hash, deleted_at, summary, data, `

var (
	// insertRecord numbers a record that has no id: rows are never removed, and one
	// transaction writes at a time.
	insertRecord = `INSERT INTO records (id, kind, key, key_order, title, url, path, source, container, state, category,
	parent, author, created_at, updated_at, last_activity_at, first_seen_at, starts_at, ends_at,
	views, replies, votes, hash, deleted_at, folded, summary, data, body, sum)
VALUES (COALESCE(NULLIF(CAST(? AS BIGINT), 0),
	(SELECT COALESCE(MAX(id) + 1, ` + strconv.FormatInt(catalog.FirstID, 10) + `) FROM records)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)
RETURNING id`

	// updateRecord rewrites a record and makes it live; kind, key and
	// first_seen_at never change.
	updateRecord = `UPDATE records SET title = ?, url = ?, path = ?, source = ?, container = ?, state = ?, category = ?,
	parent = ?, author = ?, created_at = ?, updated_at = ?, last_activity_at = ?, starts_at = ?, ends_at = ?,
	views = ?, replies = ?, votes = ?, hash = ?, deleted_at = 0, folded = ?, summary = ?, data = ?, body = ?,
	sum = ?
WHERE id = ?`
)

// Get finds a record by natural key, then by alias. ErrNotFound.
func (s *Store) Get(ctx context.Context, ref catalog.Ref) (catalog.Record, error) {
	return s.find(ctx, "get", ref, `body`)
}

// Head is Get without the body, which can be large.
func (s *Store) Head(ctx context.Context, ref catalog.Ref) (catalog.Record, error) {
	return s.find(ctx, "head", ref, noBody)
}

func (s *Store) find(ctx context.Context, op string, ref catalog.Ref, body string) (r catalog.Record, err error) {
	ref = ref.Clean()
	err = s.view(ctx, op, func(q querier) error {
		r, err = queryRecord(ctx, q, ref, body, `kind = ? AND key = ?`, ref.Kind, ref.Key)
		if !errors.Is(err, catalog.ErrNotFound) {
			return err
		}
		ids, err := aliased(ctx, q, ref.Kind, []string{ref.Key})
		if err != nil {
			return err
		}
		if id, ok := ids[ref.Key]; ok {
			r, err = queryRecord(ctx, q, ref, body, `id = ?`, id)
			return err
		}
		return notFound(ref)
	})
	return r, err
}

// ByID finds a live record. ErrNotFound.
func (s *Store) ByID(ctx context.Context, id int64) (r catalog.Record, err error) {
	err = s.view(ctx, "by id", func(q querier) error {
		r, err = queryRecord(ctx, q, fmt.Sprintf("record %d", id), `body`, `id = ?`, id)
		return err
	})
	return r, err
}

// ByPath finds records read from a source path, oldest id first.
func (s *Store) ByPath(ctx context.Context, path string) (list []catalog.Record, err error) {
	if path == "" {
		return nil, nil
	}
	err = s.view(ctx, "by path", func(q querier) error {
		list, err = collect(ctx, q, scanRecord,
			`SELECT `+recordColumns+`body FROM records WHERE path = ? AND path <> '' AND deleted_at = 0 ORDER BY id`,
			catalog.Clean(path))
		if err != nil {
			return err
		}
		return addTags(ctx, q, list)
	})
	return list, err
}

// Handled returns the live records that have one of some handles, see Record.Handles,
// without their bodies, oldest id first.
func (s *Store) Handled(ctx context.Context, handles []string) (list []catalog.Record, err error) {
	handles = slices.Compact(slices.Sorted(slices.Values(clean(handles))))
	err = s.view(ctx, "handled", func(q querier) error {
		var ids []int64
		err := chunks(handles, func(part []string) error {
			found, err := maybeHandled(ctx, q, part)
			ids = append(ids, found...)
			return err
		})
		if err != nil {
			return err
		}
		slices.Sort(ids)
		list, err = loadRecords(ctx, q, slices.Compact(ids), false)
		return err
	})
	return slices.DeleteFunc(list, func(r catalog.Record) bool {
		return !slices.ContainsFunc(r.Handles(), func(h string) bool {
			_, asked := slices.BinarySearch(handles, h)
			return asked
		})
	}), err
}

// maybeHandled returns the ids of all records that have one of some handles, and of some that
// have not. Each part of the query has an index; the records of one kind alone are read for
// numbers of proposals.
func maybeHandled(ctx context.Context, q querier, handles []string) ([]int64, error) {
	var parts []string
	var args []any
	where := func(part string, values []any) {
		parts = append(parts, `SELECT id FROM records WHERE deleted_at = 0 AND `+part)
		args = append(args, values...)
	}
	keys, named := slices.Clone(handles), []int64{}
	for _, h := range handles {
		if ref, ok := catalog.RefNamed(h); ok {
			keys = append(keys, ref.Key)
		}
		if id, err := strconv.ParseInt(h, 10, 64); err == nil {
			named = append(named, id)
		}
	}
	if len(named) > 0 {
		where(in("id", named))
	}
	path, values := in("path", handles)
	where(`path <> '' AND `+path, values)
	url, values := in("url", handles)
	where(`url <> '' AND `+url, values)
	kind, values := in("kind", texts(catalog.KindsOf()))
	key, keyed := in("key", keys)
	where(kind+` AND `+key, append(values, keyed...))
	ids, err := collect(ctx, q, scanID, strings.Join(parts, ` UNION ALL `), args...)
	if err != nil {
		return nil, err
	}
	numbered, err := collect(ctx, q, func(rows *sql.Rows) (r catalog.Record, err error) {
		return r, rows.Scan(&r.ID, &r.Kind, &r.Key)
	}, `SELECT id, kind, key FROM records WHERE deleted_at = 0 AND kind = ?`, catalog.KindCIP)
	for _, r := range numbered {
		if slices.ContainsFunc(r.Handles(), func(h string) bool { return slices.Contains(handles, h) }) {
			ids = append(ids, r.ID)
		}
	}
	return ids, err
}

// Records returns the live records among ids, in the order of ids; an id
// given twice is returned twice.
func (s *Store) Records(ctx context.Context, ids []int64) (list []catalog.Record, err error) {
	err = s.view(ctx, "records", func(q querier) error {
		list, err = loadRecords(ctx, q, ids, true)
		return err
	})
	return list, err
}

// Heads is Records without the bodies.
func (s *Store) Heads(ctx context.Context, ids []int64) (list []catalog.Record, err error) {
	err = s.view(ctx, "heads", func(q querier) error {
		list, err = loadRecords(ctx, q, ids, false)
		return err
	})
	return list, err
}

// HeadsOf returns the live records that references name, by key or alias, without
// their bodies, by the reference as it was given. One that names nothing is absent.
func (s *Store) HeadsOf(ctx context.Context, refs []catalog.Ref) (map[catalog.Ref]catalog.Record, error) {
	keys := map[catalog.Kind][]string{}
	for _, ref := range refs {
		ref = ref.Clean()
		keys[ref.Kind] = append(keys[ref.Kind], ref.Key)
	}
	found := make(map[catalog.Ref]catalog.Record, len(refs))
	err := s.view(ctx, "heads of", func(q querier) error {
		ids := make(map[catalog.Ref]int64, len(refs))
		for kind, part := range keys {
			named, err := named(ctx, q, kind, part)
			if err != nil {
				return err
			}
			for key, id := range named {
				ids[catalog.Ref{Kind: kind, Key: key}] = id
			}
		}
		list, err := loadRecords(ctx, q, slices.Collect(maps.Values(ids)), false)
		heads := make(map[int64]catalog.Record, len(list))
		for _, r := range list {
			heads[r.ID] = r
		}
		for _, ref := range refs {
			if r, ok := heads[ids[ref.Clean()]]; ok {
				found[ref] = r
			}
		}
		return err
	})
	return found, err
}

// noBody replaces the column body.
const noBody = `''`

// queryRecord reads one live record with its tags.
func queryRecord(
	ctx context.Context, q querier, what any, body, where string, args ...any,
) (catalog.Record, error) {
	list, err := collect(ctx, q, scanRecord,
		`SELECT `+recordColumns+body+` FROM records WHERE deleted_at = 0 AND `+where, args...)
	if err != nil {
		return catalog.Record{}, err
	}
	if len(list) == 0 {
		return catalog.Record{}, notFound(what)
	}
	return list[0], addTags(ctx, q, list)
}

// loadRecords reads the live records among ids, in the order of ids.
func loadRecords(ctx context.Context, q querier, ids []int64, withBody bool) ([]catalog.Record, error) {
	body := noBody
	if withBody {
		body = `body`
	}
	list := make([]catalog.Record, 0, len(ids))
	err := chunks(ids, func(part []int64) error {
		where, args := in("id", part)
		rows, err := collect(ctx, q, scanRecord,
			`SELECT `+recordColumns+body+` FROM records WHERE deleted_at = 0 AND `+where, args...)
		if err != nil {
			return err
		}
		if err := addTags(ctx, q, rows); err != nil {
			return err
		}
		found := make(map[int64]int, len(rows))
		for i, r := range rows {
			found[r.ID] = i
		}
		for _, id := range part {
			if i, ok := found[id]; ok {
				list = append(list, rows[i])
			}
		}
		return nil
	})
	return list, err
}

func scanRecord(rows *sql.Rows) (r catalog.Record, err error) {
	var created, updated, activity, seen, starts, ends, deleted int64
	var data string
	err = rows.Scan(&r.ID, &r.Kind, &r.Key, &r.Title, &r.URL, &r.Path, &r.Source, &r.Container, &r.State, &r.Category,
		&r.Parent, &r.Author, &created, &updated, &activity, &seen, &starts, &ends,
		&r.Views, &r.Replies, &r.Votes, &r.Hash, &deleted, &r.Summary, &data, &r.Body)
	r.CreatedAt, r.UpdatedAt, r.LastActivityAt = fromMicros(created), fromMicros(updated), fromMicros(activity)
	r.FirstSeenAt, r.StartsAt, r.EndsAt = fromMicros(seen), fromMicros(starts), fromMicros(ends)
	r.DeletedAt = fromMicros(deleted)
	if data != "" {
		r.Data = json.RawMessage(data)
	}
	return r, err
}

// folded is the text that ListQuery.Text is searched in.
func folded(r catalog.Record) string {
	return strings.Join([]string{catalog.Fold(r.Title), catalog.Fold(r.Author), catalog.Fold(r.Category)}, "\n")
}

// saidColumns are the columns that a record's checksum is of, said their values.
const saidColumns = `title, url, path, container, state, category, author, summary, data, body`

func said(r catalog.Record) []string {
	return []string{r.Title, r.URL, r.Path, r.Container, r.State, r.Category, r.Author, r.Summary, string(r.Data), r.Body}
}

// sumOf is half a SHA-256 of texts, each with its length.
func sumOf(texts []string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// summed are the tables whose rows have a checksum of columns, in the order in which schemas got it.
var summed = []struct{ table, row, id, columns, mend string }{
	{"records", "record", "id", saidColumns, "move it away to start again, or put a copy in its place"},
	{"passages", "passage", "id", passageTexts, "`almanac reindex` writes it again"},
	{"documents", "document", "record", "data", "`almanac reindex` writes it again"},
}

// CompareSums compares what the records, passages and documents of a database say with their checksums.
func CompareSums(ctx context.Context, db *sql.DB, name string) error {
	for _, s := range summed {
		has, err := hasSums(ctx, db, s.table)
		if err != nil || !has { // nor has any table after it
			return err
		}
		if id, err := unlike(ctx, db, s.table, s.id, s.columns); err != nil {
			return err
		} else if id != 0 {
			return fmt.Errorf("%s is damaged (%s %d is not as it was written); %s", name, s.row, id, s.mend)
		}
	}
	return nil
}

// hasSums reports whether a table of this schema has checksums.
func hasSums(ctx context.Context, db *sql.DB, table string) (bool, error) {
	rows, err := db.QueryContext(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return false, err
	}
	names, err := rows.Columns()
	return slices.Contains(names, "sum"), errors.Join(err, rows.Close())
}

// unlike returns a row of a table that says something else than its checksum, 0 for none.
func unlike(ctx context.Context, db *sql.DB, table, idColumn, columns string) (id int64, err error) {
	rows, err := db.QueryContext(ctx, `SELECT `+idColumn+`, sum, `+columns+` FROM `+table+` WHERE sum <> ''`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var sum string
	texts := make([]string, strings.Count(columns, ",")+1)
	to := []any{&id, &sum}
	for i := range texts {
		to = append(to, &texts[i])
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return 0, err
		}
		if sumOf(texts) != sum {
			return id, nil
		}
	}
	return 0, rows.Err()
}

// create writes a new record.
func (t *txn) create(r catalog.Record) (int64, error) {
	return t.insert(insertRecord, r.ID, string(r.Kind), r.Key, catalog.KeyOrder(r.Key), r.Title, r.URL, r.Path,
		r.Source, r.Container, r.State, r.Category, r.Parent, r.Author, micros(r.CreatedAt), micros(r.UpdatedAt),
		micros(r.LastActivityAt), micros(r.FirstSeenAt), micros(r.StartsAt), micros(r.EndsAt), r.Views, r.Replies,
		r.Votes, r.Hash, folded(r), r.Summary, string(r.Data), r.Body, sumOf(said(r)))
}

// rewrite writes a record over the one with its id.
func (t *txn) rewrite(r catalog.Record) error {
	return t.run(updateRecord, r.Title, r.URL, r.Path, r.Source, r.Container, r.State, r.Category, r.Parent,
		r.Author, micros(r.CreatedAt), micros(r.UpdatedAt), micros(r.LastActivityAt), micros(r.StartsAt),
		micros(r.EndsAt), r.Views, r.Replies, r.Votes, r.Hash, folded(r), r.Summary, string(r.Data), r.Body, sumOf(said(r)),
		r.ID)
}

// addTags fills the tags of records, in order.
func addTags(ctx context.Context, q querier, records []catalog.Record) error {
	index := make(map[int64]int, len(records))
	ids := make([]int64, len(records))
	for i, r := range records {
		index[r.ID], ids[i] = i, r.ID
	}
	return chunks(ids, func(part []int64) error {
		where, args := in("record", part)
		_, err := collect(ctx, q, func(rows *sql.Rows) (none struct{}, err error) {
			var id int64
			var tag string
			err = rows.Scan(&id, &tag)
			r := &records[index[id]]
			r.Tags = append(r.Tags, tag)
			return none, err
		}, `SELECT record, tag FROM record_tags WHERE `+where+` ORDER BY record, tag`, args...)
		return err
	})
}

func (t *txn) putTags(record int64, tags []string) error {
	for _, tag := range tags {
		if err := t.run(`INSERT INTO record_tags (record, tag) VALUES (?, ?)`, record, tag); err != nil {
			return err
		}
	}
	return nil
}
