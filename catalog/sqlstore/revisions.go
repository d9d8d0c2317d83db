package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"almanac/catalog"
)

const selectRevisions = `SELECT kind, name, number, base, created_at, author, note, data FROM revisions `

// SaveRevision appends a revision with the number Base + 1 and returns it. A
// *ConflictError if Base is not the newest of its kind and name (0: none yet).
func (s *Store) SaveRevision(ctx context.Context, r catalog.Revision) (catalog.Revision, error) {
	r.Name, r.By = catalog.Clean(r.Name), catalog.Clean(r.By)
	r.Note, r.Data = catalog.Clean(r.Note), catalog.Clean(r.Data)
	r.CreatedAt, r.Number = catalog.CleanTime(s.Now()), r.Base+1
	err := s.update(ctx, "save revision", func(t *txn) error {
		newest, err := collect(ctx, t.Tx, scanRevision, selectRevisions+
			`WHERE kind = ? AND name = ? ORDER BY number DESC LIMIT 1`, r.Kind, r.Name)
		if err != nil {
			return err
		}
		if len(newest) > 0 && newest[0].Number != r.Base {
			n := newest[0]
			return &catalog.ConflictError{What: n.String(), By: n.By, At: n.CreatedAt, Revision: int64(n.Number)}
		}
		if len(newest) == 0 && r.Base != 0 {
			return notFound(catalog.Revision{Kind: r.Kind, Name: r.Name, Number: r.Base})
		}
		_, err = t.Exec(`INSERT INTO revisions (kind, name, number, base, created_at, author, note, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, string(r.Kind), r.Name, r.Number, r.Base, micros(r.CreatedAt), r.By, r.Note, r.Data)
		if err != nil {
			return err
		}
		return t.audit(catalog.Audit{At: r.CreatedAt, By: r.By, Action: "save", Subject: subject(r.Kind, r.Name),
			Before: edition(r.Name, r.Base), After: edition(r.Name, r.Number), Note: r.Note})
	})
	return r, err
}

// subject names what a revision is of.
func subject(kind catalog.RevisionKind, name string) string {
	if name == "" {
		return string(kind)
	}
	return string(kind) + " " + name
}

// edition names a revision in the audit log: NAME/NUMBER.
func edition(name string, number int) string { return fmt.Sprintf("%s/%d", name, number) }

// Revision returns a revision, the newest for number 0. ErrNotFound.
func (s *Store) Revision(
	ctx context.Context, kind catalog.RevisionKind, name string, number int,
) (catalog.Revision, error) {
	what := catalog.Revision{Kind: kind, Name: name, Number: number}.String()
	if number == 0 {
		return one(ctx, s, scanRevision, what, selectRevisions+
			`WHERE kind = ? AND name = ? ORDER BY number DESC LIMIT 1`, string(kind), name)
	}
	return one(ctx, s, scanRevision, what, selectRevisions+`WHERE kind = ? AND name = ? AND number = ?`,
		string(kind), name, number)
}

// Revisions returns all revisions of a kind, newest first.
func (s *Store) Revisions(ctx context.Context, kind catalog.RevisionKind) ([]catalog.Revision, error) {
	return read(ctx, s, "revisions", scanRevision, selectRevisions+
		`WHERE kind = ? ORDER BY created_at DESC, name, number DESC`, string(kind))
}

func scanRevision(rows *sql.Rows) (r catalog.Revision, err error) {
	var at int64
	err = rows.Scan(&r.Kind, &r.Name, &r.Number, &r.Base, &at, &r.By, &r.Note, &r.Data)
	r.CreatedAt = fromMicros(at)
	return r, err
}

const selectPublications = `SELECT id, kind, name, number, at, author, note FROM publications `

// Publish makes a revision the one in force of its kind, or with Number 0 that of
// the configuration. ErrNotFound if there is no such revision. since, unless 0, is
// the id of the publication that the decision was made on: a *ConflictError if
// another came between.
func (s *Store) Publish(ctx context.Context, p catalog.Publication, since int64) (catalog.Publication, error) {
	p.Name, p.By, p.Note = catalog.Clean(p.Name), catalog.Clean(p.By), catalog.Clean(p.Note)
	p.At = catalog.CleanTime(s.Now())
	err := s.update(ctx, "publish", func(t *txn) error {
		var before catalog.Publication
		list, err := collect(ctx, t.Tx, scanPublication, selectPublications+`WHERE kind = ? ORDER BY id DESC LIMIT 1`,
			string(p.Kind))
		if err != nil {
			return err
		}
		if len(list) > 0 {
			before = list[0]
		}
		if since != 0 && before.ID != since {
			return &catalog.ConflictError{What: "the live " + string(p.Kind), By: before.By, At: before.At,
				Revision: before.ID}
		}
		if p.Number != 0 {
			var there int
			err := t.QueryRowContext(ctx, `SELECT 1 FROM revisions WHERE kind = ? AND name = ? AND number = ?`,
				string(p.Kind), p.Name, p.Number).Scan(&there)
			if errors.Is(err, sql.ErrNoRows) {
				return notFound(catalog.Revision{Kind: p.Kind, Name: p.Name, Number: p.Number})
			}
			if err != nil {
				return err
			}
		}
		p.ID, err = t.insert(`INSERT INTO publications (kind, name, number, at, author, note)
VALUES (?, ?, ?, ?, ?, ?) RETURNING id`, string(p.Kind), p.Name, p.Number, micros(p.At), p.By, p.Note)
		if err != nil {
			return err
		}
		return t.audit(catalog.Audit{At: p.At, By: p.By, Action: "publish", Subject: string(p.Kind),
			Before: edition(before.Name, before.Number), After: edition(p.Name, p.Number), Note: p.Note})
	})
	return p, err
}

// Published returns what is in force, at most one of each kind, and the newest
// publication's id, which changes with every publication; 0 before the first.
func (s *Store) Published(ctx context.Context) (list []catalog.Publication, head int64, err error) {
	list, err = read(ctx, s, "published", scanPublication, selectPublications+
		`WHERE id IN (SELECT MAX(id) FROM publications GROUP BY kind) ORDER BY id`)
	if len(list) > 0 {
		head = list[len(list)-1].ID
	}
	return list, head, err
}

// Publications returns what was ever in force of a kind, newest first; limit 0
// means all.
func (s *Store) Publications(ctx context.Context, kind catalog.RevisionKind, n int) ([]catalog.Publication, error) {
	return read(ctx, s, "publications", scanPublication, selectPublications+
		`WHERE kind = ? ORDER BY id DESC LIMIT +?`, string(kind), limit(n))
}

func scanPublication(rows *sql.Rows) (p catalog.Publication, err error) {
	var at int64
	err = rows.Scan(&p.ID, &p.Kind, &p.Name, &p.Number, &at, &p.By, &p.Note)
	p.At = fromMicros(at)
	return p, err
}

// audit adds an entry to the audit log.
func (t *txn) audit(a catalog.Audit) error {
	_, err := t.Exec(`INSERT INTO audit (at, author, action, subject, before, after, note) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		micros(a.At), catalog.Clean(a.By), catalog.Clean(a.Action), catalog.Clean(a.Subject), catalog.Clean(a.Before),
		catalog.Clean(a.After), catalog.Clean(a.Note))
	return err
}

// AddAudit records what else people do, jobs and settings; At defaults to now.
func (s *Store) AddAudit(ctx context.Context, a catalog.Audit) error {
	if a.At = catalog.CleanTime(a.At); a.At.IsZero() {
		a.At = catalog.CleanTime(s.Now())
	}
	return s.update(ctx, "audit", func(t *txn) error { return t.audit(a) })
}

// Audit returns what people changed, newest first; limit 0 means all.
func (s *Store) Audit(ctx context.Context, n int) ([]catalog.Audit, error) {
	return read(ctx, s, "audit", func(rows *sql.Rows) (a catalog.Audit, err error) {
		var at int64
		err = rows.Scan(&a.ID, &at, &a.By, &a.Action, &a.Subject, &a.Before, &a.After, &a.Note)
		a.At = fromMicros(at)
		return a, err
	}, `SELECT id, at, author, action, subject, before, after, note FROM audit ORDER BY id DESC LIMIT +?`, limit(n))
}
