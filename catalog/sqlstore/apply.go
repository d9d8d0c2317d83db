package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"almanac/catalog"
)

// Apply writes a batch in one transaction: records, their dependents
// (aliases, links, votes, events), tombstones and the cursor. A record
// whose content hash is unchanged is not written or logged. A record owned
// by another source keeps its content and only gains the links, aliases and
// facts (Result.Foreign), unless the batch takes it over (Batch.Over).
// An unknown parent leaves Record.Parent unchanged.
func (s *Store) Apply(ctx context.Context, b catalog.Batch) (result catalog.Result, err error) {
	if b.Source == "" {
		return result, fmt.Errorf("catalog: apply: %w: a batch without a source", catalog.ErrBadEntry)
	}
	b.Source = catalog.Clean(b.Source)
	// Clean and hash before taking the lock.
	entries := make([]entry, len(b.Entries))
	for i, e := range b.Entries {
		if e, err = e.Normalize(); err != nil {
			return result, fmt.Errorf("catalog: apply: %w", err)
		}
		e.Record.Source = b.Source
		entries[i] = entry{Entry: e, addition: e.AdditionHash()}
	}
	err = s.write(ctx, "apply", func(t *txn) error {
		a := newApplication(t, b, s.Now())
		if err := a.delete(ctx, b.Delete); err != nil {
			return err
		}
		if err := a.put(ctx, entries); err != nil {
			return err
		}
		if err := t.replaceEvents(ctx, b.Source, b.Events); err != nil {
			return err
		}
		if b.Cursor != nil {
			if err := t.putCursor(b.Source, *b.Cursor, b.State); err != nil {
				return err
			}
		}
		for source := range a.foreign {
			if err := t.putForeign(source); err != nil {
				return err
			}
		}
		result = a.result
		return a.log(ctx)
	})
	if err != nil {
		return catalog.Result{}, err
	}
	return result, nil
}

// entry is a normalized entry with its AdditionHash.
type entry struct {
	catalog.Entry
	addition string
}

// theOwner stands for the owner in the table of facts: beside facts of other
// sources it has what the owner says of the same, so that it is there when they
// change or end. No source has this name.
const theOwner = ""

// application is one batch being applied.
type application struct {
	*txn
	source  string
	over    []string // sources whose records it takes over
	restore bool
	now     time.Time
	known   map[catalog.Ref]*known // stored state of the records named by the batch
	aliased map[catalog.Ref]int64  // parents named by an alias
	added   map[int64]string       // record → hash of what the source adds to it
	foreign map[string]bool        // sources that yielded what another owns
	result  catalog.Result
	changed []int64        // records changed, in order; may repeat
	deleted map[int64]bool // those of changed that became tombstones
}

func newApplication(t *txn, b catalog.Batch, now time.Time) *application {
	return &application{
		txn: t, source: b.Source, over: b.Over, restore: b.Restore, now: catalog.CleanTime(now),
		known: map[catalog.Ref]*known{}, aliased: map[catalog.Ref]int64{}, added: map[int64]string{},
		foreign: map[string]bool{}, deleted: map[int64]bool{},
	}
}

// known is the relevant state of a stored record.
type known struct {
	id     int64
	source string
	hash   string
	live   bool
}

func scanKnown(rows *sql.Rows) (*known, error) {
	var k known
	var deleted int64
	err := rows.Scan(&k.id, &k.source, &k.hash, &deleted)
	k.live = deleted == 0
	return &k, err
}

// delete tombstones the source's own live records among ids. From records of
// other sources it removes what the source added.
func (a *application) delete(ctx context.Context, ids []int64) error {
	return chunks(ids, func(part []int64) error {
		where, args := in("id", part)
		owned, err := collect(ctx, a.Tx, scanID,
			`SELECT id FROM records WHERE source = ? AND deleted_at = 0 AND `+where,
			append([]any{a.source}, args...)...)
		if err != nil {
			return err
		}
		for _, id := range owned {
			if err := a.bury(id); err != nil {
				return err
			}
		}
		if err := a.awaken(owned); err != nil {
			return err
		}
		where, args = in("a.record", part)
		foreign, err := collect(ctx, a.Tx, scanKnown, `SELECT r.id, r.source, r.hash, r.deleted_at
FROM additions a JOIN records r ON r.id = a.record WHERE a.source = ? AND `+where, append([]any{a.source}, args...)...)
		if err != nil {
			return err
		}
		for _, k := range foreign {
			if err := a.add(ctx, k, entry{}); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// awaken makes the sources that yield records which became tombstones read everything
// again: the next of them takes a record although nothing is new in it.
func (a *application) awaken(buried []int64) error {
	if len(buried) == 0 {
		return nil
	}
	where, args := in("record", buried)
	return a.run(`UPDATE sources SET position = '' WHERE name IN (SELECT source FROM additions WHERE `+where+`)`,
		args...)
}

// bury makes a tombstone: it removes the record's dependents and what it said, and
// keeps its row with its id and its key.
func (a *application) bury(id int64) error {
	if err := a.run(`UPDATE records SET deleted_at = ?, title = '', url = '', path = '', author = '',
	folded = '', summary = '', data = '', body = '', sum = '' WHERE id = ?`, micros(a.now), id); err != nil {
		return err
	}
	if err := a.strip(id); err != nil {
		return err
	}
	a.result.Deleted++
	a.deleted[id] = true
	a.changed = append(a.changed, id)
	return nil
}

// strip removes this source's dependents of a record that it owns.
func (a *application) strip(id int64) error {
	if err := a.each([]string{dropTags, dropVotes}, id); err != nil {
		return err
	}
	if err := a.run(dropFacts, id, theOwner); err != nil {
		return err
	}
	return a.each(dropAdded, id, a.source)
}

// put writes the entries.
func (a *application) put(ctx context.Context, entries []entry) error {
	if err := a.look(ctx, entries); err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.Record.Parent = a.parent(e.Entry)
		e.Record.Hash = e.ContentHash()
		if err := a.putOne(ctx, e); err != nil {
			return fmt.Errorf("%s: %w", e.Record.Ref(), err)
		}
	}
	return nil
}

func (a *application) putOne(ctx context.Context, e entry) error {
	ref := e.Record.Ref()
	k, exists := a.known[ref]
	switch {
	case e.Addition && (!exists || !k.live || k.source == a.source):
		return nil
	case !exists:
		if err := a.identify(ctx, &e.Record); err != nil {
			return err
		}
		id, err := a.create(e.Record)
		if err != nil {
			return err
		}
		a.known[ref] = &known{id: id, source: a.source, hash: e.Record.Hash, live: true}
		a.result.Created++
		return a.hang(id, e)
	case k.live && k.source != a.source && !e.Addition && slices.Contains(a.over, k.source):
		a.result.Updated++
		if err := a.takeOver(k); err != nil {
			return err
		}
	case k.live && k.source != a.source:
		a.result.Foreign++
		if !e.Addition {
			a.foreign[a.source] = true
		}
		was, known := a.added[k.id]
		switch {
		case was == e.addition:
			return nil
		case !known && !e.Adds(): // nothing changes, but should the owner give it up it is this source's
			a.added[k.id] = e.addition
			return a.putAddition(k.id, a.source, e.addition)
		}
		return a.add(ctx, k, e)
	case k.live && k.hash == e.Record.Hash:
		a.result.Unchanged++
		return nil
	case k.live:
		a.result.Updated++
	default: // a tombstone comes back, perhaps with another owner
		a.result.Created++
		if err := a.run(dropAddition, k.id, a.source); err != nil {
			return err
		}
		delete(a.added, k.id)
	}
	e.Record.ID = k.id
	if err := a.rewrite(e.Record); err != nil {
		return err
	}
	if err := a.strip(k.id); err != nil {
		return err
	}
	*k = known{id: k.id, source: a.source, hash: e.Record.Hash, live: true}
	delete(a.deleted, k.id)
	if err := a.hang(k.id, e); err != nil {
		return err
	}
	return a.layFacts(ctx, k)
}

// takeOver makes what the owner of a record gave it an addition, which its next
// entry replaces, as no entry has that hash.
func (a *application) takeOver(k *known) error {
	if err := a.run(dropAddition, k.id, a.source); err != nil {
		return err
	}
	delete(a.added, k.id)
	a.foreign[k.source] = true
	return a.putAddition(k.id, k.source, "taken over")
}

// identify sets a new record's id (0: the next free one) and FirstSeenAt.
func (a *application) identify(ctx context.Context, r *catalog.Record) error {
	if !a.restore {
		r.ID, r.FirstSeenAt = 0, a.now
		return nil
	}
	if r.ID < catalog.FirstID || r.FirstSeenAt.IsZero() {
		return fmt.Errorf("%w: restored with id %d, first seen at %v", catalog.ErrBadEntry, r.ID, r.FirstSeenAt)
	}
	taken, err := collect(ctx, a.Tx, scanID, `SELECT id FROM records WHERE id = ?`, r.ID)
	if err == nil && len(taken) > 0 {
		err = fmt.Errorf("%w: another record has id %d", catalog.ErrConflict, r.ID)
	}
	return err
}

// hang writes the dependents of a record that the source owns.
func (a *application) hang(id int64, e entry) error {
	if err := a.putTags(id, e.Record.Tags); err != nil {
		return err
	}
	if err := a.putVotes(id, e.Votes); err != nil {
		return err
	}
	a.changed = append(a.changed, id)
	return a.putAdded(id, e)
}

// add replaces the source's additions to another source's record. An empty
// entry removes them.
func (a *application) add(ctx context.Context, k *known, e entry) error {
	id := k.id
	if err := a.run(dropAddition, id, a.source); err != nil {
		return err
	}
	if err := a.each(dropAdded, id, a.source); err != nil {
		return err
	}
	a.added[id] = e.addition
	if e.addition != "" {
		if err := a.putAddition(id, a.source, e.addition); err != nil {
			return err
		}
	}
	if err := a.putAdded(id, e); err != nil {
		return err
	}
	if !k.live {
		return nil
	}
	a.changed = append(a.changed, id)
	return a.layFacts(ctx, k)
}

// parent resolves the entry's parent. A tombstone counts: the record may come
// back under its id.
func (a *application) parent(e catalog.Entry) int64 {
	if k, ok := a.known[e.Parent]; ok {
		return k.id
	}
	if id, ok := a.aliased[e.Parent]; ok {
		return id
	}
	return e.Record.Parent
}

// look loads, in few queries, the stored state of everything that the entries
// name.
func (a *application) look(ctx context.Context, entries []entry) error {
	keys := map[catalog.Kind]map[string]bool{}
	for _, e := range entries {
		for _, ref := range []catalog.Ref{e.Record.Ref(), e.Parent} {
			if ref.Key == "" {
				continue
			}
			if keys[ref.Kind] == nil {
				keys[ref.Kind] = map[string]bool{}
			}
			keys[ref.Kind][ref.Key] = true
		}
	}
	for kind, set := range keys {
		if err := a.lookKeys(ctx, kind, set); err != nil {
			return err
		}
	}
	var foreign []int64
	for _, k := range a.known {
		if k.source != a.source {
			foreign = append(foreign, k.id)
		}
	}
	if err := a.lookAdditions(ctx, foreign); err != nil {
		return err
	}
	return a.lookAliases(ctx, entries)
}

func (a *application) lookKeys(ctx context.Context, kind catalog.Kind, set map[string]bool) error {
	list := make([]string, 0, len(set))
	for key := range set {
		list = append(list, key)
	}
	return chunks(list, func(part []string) error {
		where, args := in("key", part)
		_, err := collect(ctx, a.Tx, func(rows *sql.Rows) (none struct{}, err error) {
			var key string
			var deleted int64
			var k known
			err = rows.Scan(&key, &k.id, &k.source, &k.hash, &deleted)
			k.live = deleted == 0
			a.known[catalog.Ref{Kind: kind, Key: key}] = &k
			return none, err
		}, `SELECT key, id, source, hash, deleted_at FROM records WHERE kind = ? AND `+where,
			append([]any{string(kind)}, args...)...)
		return err
	})
}

// lookAliases resolves parents that are given by alias.
func (a *application) lookAliases(ctx context.Context, entries []entry) error {
	missing := map[catalog.Kind][]string{}
	for _, e := range entries {
		if e.Parent.Key != "" && a.known[e.Parent] == nil {
			missing[e.Parent.Kind] = append(missing[e.Parent.Kind], e.Parent.Key)
		}
	}
	for kind, keys := range missing {
		ids, err := aliased(ctx, a.Tx, kind, keys)
		if err != nil {
			return err
		}
		for alias, id := range ids {
			a.aliased[catalog.Ref{Kind: kind, Key: alias}] = id
		}
	}
	return nil
}

// log writes the change log.
func (a *application) log(ctx context.Context) error {
	last := make(map[int64]int, len(a.changed))
	for i, id := range a.changed {
		last[id] = i
	}
	var changes []catalog.Change
	for i, id := range a.changed {
		if last[id] == i {
			changes = append(changes, catalog.Change{Record: id, Delete: a.deleted[id], At: a.now})
		}
	}
	return a.putChanges(ctx, changes)
}

// LiveKeys returns the references of all live records that a source owns,
// yields too, or adds links, aliases or facts to.
func (s *Store) LiveKeys(ctx context.Context, source string) (map[catalog.Ref]int64, error) {
	source = catalog.Clean(source)
	keys := map[catalog.Ref]int64{}
	// A source can have millions: read them directly into the map.
	into := func(rows *sql.Rows) (none struct{}, err error) {
		r, err := scanReference(rows)
		keys[r.Ref()] = r.ID
		return none, err
	}
	_, err := read(ctx, s, "live keys", into, `SELECT id, kind, key FROM records WHERE source = ? AND deleted_at = 0
UNION
SELECT r.id, r.kind, r.key FROM additions a JOIN records r ON r.id = a.record
WHERE a.source = ? AND r.deleted_at = 0`, source, source)
	return keys, err
}

func scanReference(rows *sql.Rows) (r catalog.Record, err error) {
	return r, rows.Scan(&r.ID, &r.Kind, &r.Key)
}
