package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"

	"almanac/catalog"
)

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
			err = a.dropFacts(k.id, theOwner)
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
	if err := a.dropTags(k.id); err != nil {
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
	_, err := t.Exec(`INSERT INTO facts (record, source, facts) VALUES (?, ?, ?)`, record, source, text.String())
	return err
}

// dropFacts removes what the sources say of a record.
func (t *txn) dropFacts(record int64, sources ...string) error {
	where, args := in("source", sources)
	_, err := t.Exec(`DELETE FROM facts WHERE record = ? AND `+where, append([]any{record}, args...)...)
	return err
}
