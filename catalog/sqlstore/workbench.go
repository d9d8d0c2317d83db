package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"almanac/catalog"
)

// PutCase stores a case, by name, and returns it with its id.
func (s *Store) PutCase(ctx context.Context, c catalog.Case, by string) (catalog.Case, error) {
	c.Name, c.Description = catalog.Clean(c.Name), catalog.Clean(c.Description)
	if c.CreatedAt = catalog.CleanTime(c.CreatedAt); c.CreatedAt.IsZero() {
		c.CreatedAt = catalog.CleanTime(s.Now())
	}
	err := s.update(ctx, "case", func(t *txn) error {
		var created int64
		err := t.QueryRowContext(ctx, `INSERT INTO cases (name, description, created_at, every) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET description = excluded.description, every = excluded.every
RETURNING id, created_at`, c.Name, c.Description, micros(c.CreatedAt), c.Every.Microseconds()).Scan(&c.ID, &created)
		if err != nil {
			return err
		}
		c.CreatedAt = fromMicros(created)
		return t.edited(s.Now(), catalog.Audit{By: by, Action: "edit", Subject: c.Name, Note: c.Description})
	})
	return c, err
}

// edited adds a change of a case to the audit log; the subject is the case's name.
func (t *txn) edited(at time.Time, a catalog.Audit) error {
	a.At, a.Subject = catalog.CleanTime(at), "case "+a.Subject
	return t.audit(a)
}

// content returns queries of a case with their judgments as JSON: what the audit log
// keeps of a change, so that it can be undone.
func (t *txn) content(ctx context.Context, id int64, queries ...string) (string, error) {
	var c catalog.CaseContent
	for _, query := range queries {
		of, err := collect(ctx, t.Tx, scanQuery, selectQueries+`AND query = ?`, id, query)
		if err != nil {
			return "", err
		}
		judged, err := collect(ctx, t.Tx, scanJudgment, selectJudgments+`AND query = ?`, id, query)
		if err != nil {
			return "", err
		}
		c.Queries, c.Judgments = append(c.Queries, of...), append(c.Judgments, judged...)
	}
	data, err := json.Marshal(c)
	return string(data), err
}

// Cases returns all cases by name.
func (s *Store) Cases(ctx context.Context) ([]catalog.Case, error) {
	return read(ctx, s, "cases", scanCase, selectCases+`ORDER BY name`)
}

const selectCases = `SELECT id, name, description, created_at, every FROM cases `

func scanCase(rows *sql.Rows) (c catalog.Case, err error) {
	var created, every int64
	err = rows.Scan(&c.ID, &c.Name, &c.Description, &created, &every)
	c.CreatedAt, c.Every = fromMicros(created), time.Duration(every)*time.Microsecond
	return c, err
}

// caseNamed returns the name of a case; ErrNotFound.
func (t *txn) caseNamed(ctx context.Context, id int64) (string, error) {
	list, err := collect(ctx, t.Tx, scanCase, selectCases+`WHERE id = ?`, id)
	if err == nil && len(list) == 0 {
		err = notFound(fmt.Sprintf("case %d", id))
	}
	if err != nil {
		return "", err
	}
	return list[0].Name, nil
}

// DropCase removes a case with its queries and judgments; its evaluations stay.
// ErrNotFound.
func (s *Store) DropCase(ctx context.Context, id int64, by string) error {
	return s.update(ctx, "drop case", func(t *txn) error {
		name, err := t.caseNamed(ctx, id)
		if err != nil {
			return err
		}
		queries, err := collect(ctx, t.Tx, scanQuery, selectQueries, id)
		if err != nil {
			return err
		}
		var names []string
		for _, q := range queries {
			names = append(names, q.ID)
		}
		before, err := t.content(ctx, id, names...)
		if err != nil {
			return err
		}
		if err := t.each([]string{`DELETE FROM judgments WHERE collection = ?`,
			`DELETE FROM case_queries WHERE collection = ?`, `DELETE FROM cases WHERE id = ?`}, id); err != nil {
			return err
		}
		return t.edited(s.Now(), catalog.Audit{By: by, Action: "remove", Subject: name, Before: before})
	})
}

// PutQueries stores queries of a case; one that is there already must carry the
// revision it was read with: a *ConflictError otherwise, and none is stored.
func (s *Store) PutQueries(ctx context.Context, id int64, queries []catalog.CaseQuery, by string) error {
	now := catalog.CleanTime(s.Now())
	return s.update(ctx, "queries", func(t *txn) error {
		name, err := t.caseNamed(ctx, id)
		if err != nil {
			return err
		}
		var names []string
		for _, q := range queries {
			names = append(names, q.ID)
		}
		before, err := t.content(ctx, id, names...)
		if err != nil {
			return err
		}
		for _, q := range queries {
			if err := t.putQuery(ctx, id, q, now, by); err != nil {
				return err
			}
		}
		note := fmt.Sprintf("%d queries", len(queries))
		if len(queries) == 1 {
			note = queries[0].Text
		}
		return t.edited(now, catalog.Audit{By: by, Action: "edit", Subject: name, Before: before, Note: note})
	})
}

func (t *txn) putQuery(ctx context.Context, id int64, q catalog.CaseQuery, now time.Time, by string) error {
	var revision int
	var changed int64
	var author string
	err := t.QueryRowContext(ctx, `SELECT revision, changed_at, author FROM case_queries
WHERE collection = ? AND query = ?`, id, catalog.Clean(q.ID)).Scan(&revision, &changed, &author)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if revision != q.Revision {
		return &catalog.ConflictError{What: "query " + q.ID, By: author, At: fromMicros(changed),
			Revision: int64(revision)}
	}
	return t.run(`INSERT INTO case_queries
	(collection, query, position, text, class, need, note, revision, changed_at, author)
VALUES (?, ?, (SELECT COALESCE(MAX(position), 0) + 1 FROM case_queries WHERE collection = ?), ?, ?, ?, ?, 1, ?, ?)
ON CONFLICT (collection, query) DO UPDATE SET text = excluded.text, class = excluded.class, need = excluded.need,
	note = excluded.note, revision = case_queries.revision + 1, changed_at = excluded.changed_at,
	author = excluded.author`,
		id, catalog.Clean(q.ID), id, catalog.Clean(q.Text), catalog.Clean(q.Kind), catalog.Clean(q.Need),
		catalog.Clean(q.Note), micros(now), catalog.Clean(by))
}

// DropQuery removes a query with its judgments. ErrNotFound.
func (s *Store) DropQuery(ctx context.Context, id int64, query, by string) error {
	return s.update(ctx, "drop query", func(t *txn) error {
		name, err := t.caseNamed(ctx, id)
		if err != nil {
			return err
		}
		before, err := t.content(ctx, id, query)
		if err != nil {
			return err
		}
		if err := t.run(`DELETE FROM judgments WHERE collection = ? AND query = ?`, id, query); err != nil {
			return err
		}
		done, err := t.Exec(`DELETE FROM case_queries WHERE collection = ? AND query = ?`, id, query)
		if err != nil {
			return err
		}
		if err := affected(done, "query "+query); err != nil {
			return err
		}
		return t.edited(s.Now(), catalog.Audit{By: by, Action: "remove", Subject: name, Before: before,
			Note: "query " + query})
	})
}

// Queries returns the queries of a case in the order they were added.
func (s *Store) Queries(ctx context.Context, id int64) ([]catalog.CaseQuery, error) {
	return read(ctx, s, "queries", scanQuery, selectQueries+`ORDER BY position, query`, id)
}

const selectQueries = `SELECT query, text, class, need, note, revision FROM case_queries WHERE collection = ? `

func scanQuery(rows *sql.Rows) (q catalog.CaseQuery, err error) {
	return q, rows.Scan(&q.ID, &q.Text, &q.Kind, &q.Need, &q.Note, &q.Revision)
}

// PutJudgments stores judgments, each replacing the one of the same query, target
// and judge. A negative grade removes it.
func (s *Store) PutJudgments(ctx context.Context, id int64, judgments []catalog.Judgment) error {
	return s.update(ctx, "judgments", func(t *txn) error {
		if _, err := t.caseNamed(ctx, id); err != nil {
			return err
		}
		for _, j := range judgments {
			query, target, judge := catalog.Clean(j.Query), catalog.Clean(j.Target), catalog.Clean(j.Judge)
			at := catalog.CleanTime(j.At)
			if at.IsZero() {
				at = catalog.CleanTime(s.Now())
			}
			var err error
			if j.Grade < 0 {
				_, err = t.Exec(`DELETE FROM judgments WHERE collection = ? AND query = ? AND target = ? AND judge = ?`,
					id, query, target, judge)
			} else {
				_, err = t.Exec(`INSERT INTO judgments (collection, query, target, judge, grade, at, note)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (collection, query, target, judge)
DO UPDATE SET grade = excluded.grade, at = excluded.at, note = excluded.note`,
					id, query, target, judge, j.Grade, micros(at), catalog.Clean(j.Note))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Judgments returns the judgments of a case by query, target and judge.
func (s *Store) Judgments(ctx context.Context, id int64) ([]catalog.Judgment, error) {
	return read(ctx, s, "judgments", scanJudgment, selectJudgments+`ORDER BY query, target, judge`, id)
}

const selectJudgments = `SELECT query, target, judge, grade, at, note FROM judgments WHERE collection = ? `

func scanJudgment(rows *sql.Rows) (j catalog.Judgment, err error) {
	var at int64
	err = rows.Scan(&j.Query, &j.Target, &j.Judge, &j.Grade, &at, &j.Note)
	j.At = fromMicros(at)
	return j, err
}

// AddEvaluation stores a run and returns its id; At defaults to now.
func (s *Store) AddEvaluation(ctx context.Context, e catalog.Evaluation) (id int64, err error) {
	at := catalog.CleanTime(e.At)
	if at.IsZero() {
		at = catalog.CleanTime(s.Now())
	}
	err = s.update(ctx, "evaluation", func(t *txn) error {
		id, err = t.insert(`INSERT INTO evaluations (collection, at, author, profile, revision, judges, generation, model,
	version, summary, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			e.Case, micros(at), catalog.Clean(e.By), catalog.Clean(e.Profile), e.Revision, catalog.Clean(e.Judges),
			e.Generation, catalog.Clean(e.Model), catalog.Clean(e.Version), catalog.Clean(e.Summary), catalog.Clean(e.Data))
		return err
	})
	return id, err
}

const selectEvaluations = `SELECT id, collection, at, author, profile, revision, judges, generation, model, version,
	summary, `

// Evaluation returns a run. ErrNotFound.
func (s *Store) Evaluation(ctx context.Context, id int64) (catalog.Evaluation, error) {
	return one(ctx, s, scanEvaluation, fmt.Sprintf("evaluation %d", id),
		selectEvaluations+`data FROM evaluations WHERE id = ?`, id)
}

// Evaluations returns the runs of a case (0: of all), newest first, without Data;
// limit 0 means all.
func (s *Store) Evaluations(ctx context.Context, caseID int64, n int) ([]catalog.Evaluation, error) {
	return read(ctx, s, "evaluations", scanEvaluation, selectEvaluations+`'' FROM evaluations
WHERE CAST(? AS BIGINT) IN (0, collection) ORDER BY id DESC LIMIT +?`, caseID, limit(n))
}

func scanEvaluation(rows *sql.Rows) (e catalog.Evaluation, err error) {
	var at int64
	err = rows.Scan(&e.ID, &e.Case, &at, &e.By, &e.Profile, &e.Revision, &e.Judges, &e.Generation, &e.Model, &e.Version,
		&e.Summary, &e.Data)
	e.At = fromMicros(at)
	return e, err
}

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
	return t.run(`INSERT INTO audit (at, author, action, subject, before, after, note) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		micros(a.At), catalog.Clean(a.By), catalog.Clean(a.Action), catalog.Clean(a.Subject), catalog.Clean(a.Before),
		catalog.Clean(a.After), catalog.Clean(a.Note))
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
