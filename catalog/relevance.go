package catalog

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// RelevanceStore keeps what people change to tune relevance, who changed it, and
// the cases that say whether it became better.
type RelevanceStore interface {
	// SaveRevision appends a revision with the number Base + 1 and returns it. A
	// *ConflictError if Base is not the newest of its kind and name (0: none yet).
	SaveRevision(ctx context.Context, r Revision) (Revision, error)
	// Revision returns a revision, the newest for number 0. ErrNotFound.
	Revision(ctx context.Context, kind RevisionKind, name string, number int) (Revision, error)
	// Revisions returns all revisions of a kind, newest first.
	Revisions(ctx context.Context, kind RevisionKind) ([]Revision, error)
	// Publish makes a revision the one in force of its kind, or with Number 0 that of
	// the configuration. ErrNotFound if there is no such revision. since, unless 0, is
	// the id of the publication that the decision was made on: a *ConflictError if
	// another came between.
	Publish(ctx context.Context, p Publication, since int64) (Publication, error)
	// Published returns what is in force, at most one of each kind, and the newest
	// publication's id, which changes with every publication; 0 before the first.
	Published(ctx context.Context) (list []Publication, head int64, err error)
	// Publications returns what was ever in force of a kind, newest first; limit 0
	// means all.
	Publications(ctx context.Context, kind RevisionKind, limit int) ([]Publication, error)

	// Audit returns what people changed, newest first; limit 0 means all.
	Audit(ctx context.Context, limit int) ([]Audit, error)
	// AddAudit records what else people do: jobs, settings.
	AddAudit(ctx context.Context, a Audit) error

	// PutCase stores a case, by name, and returns it with its id.
	PutCase(ctx context.Context, c Case, by string) (Case, error)
	// Cases returns all, by name.
	Cases(ctx context.Context) ([]Case, error)
	// DropCase removes a case with its queries and judgments; its evaluations stay.
	// ErrNotFound.
	DropCase(ctx context.Context, id int64, by string) error
	// PutQueries stores queries of a case; one that is there already must carry the
	// revision it was read with: a *ConflictError otherwise, and none is stored.
	PutQueries(ctx context.Context, id int64, queries []CaseQuery, by string) error
	// DropQuery removes a query with its judgments. ErrNotFound.
	DropQuery(ctx context.Context, id int64, query, by string) error
	// Queries returns the queries of a case in the order they were added.
	Queries(ctx context.Context, id int64) ([]CaseQuery, error)
	// PutJudgments stores judgments, each replacing the one of the same query, target
	// and judge. A negative grade removes it.
	PutJudgments(ctx context.Context, id int64, judgments []Judgment) error
	// Judgments returns the judgments of a case by query, target and judge.
	Judgments(ctx context.Context, id int64) ([]Judgment, error)

	// AddEvaluation stores a run and returns its id.
	AddEvaluation(ctx context.Context, e Evaluation) (int64, error)
	// Evaluation returns a run. ErrNotFound.
	Evaluation(ctx context.Context, id int64) (Evaluation, error)
	// Evaluations returns the runs of a case (0: of all), newest first, without Data;
	// limit 0 means all.
	Evaluations(ctx context.Context, caseID int64, limit int) ([]Evaluation, error)
}

// RevisionKind is what a revision is of.
type RevisionKind string

// The kinds of revisions. A profile has a name; synonyms and pins are one list
// each, whose name is empty.
const (
	ProfileRevision  RevisionKind = "profile"
	SynonymsRevision RevisionKind = "synonyms"
	PinsRevision     RevisionKind = "pins"
)

// Revision is one state of a profile, the synonyms or the pins. It never changes.
type Revision struct {
	Kind      RevisionKind
	Name      string
	Number    int // from 1
	Base      int // the number it was made from
	CreatedAt time.Time
	By        string
	Note      string
	Data      string // YAML
}

// String names a revision for people.
func (r Revision) String() string {
	return fmt.Sprintf("%s@%d", cmp.Or(r.Name, string(r.Kind)), r.Number)
}

// Publication says which revision of a kind is in force from a moment on.
type Publication struct {
	ID     int64
	Kind   RevisionKind
	Name   string
	Number int // 0: that of the configuration
	At     time.Time
	By     string
	Note   string
}

// String names what is live for people.
func (p Publication) String() string {
	if p.Number == 0 {
		return "configured"
	}
	return Revision{Kind: p.Kind, Name: p.Name, Number: p.Number}.String()
}

// ConflictError: somebody else changed what a change was made from. It is an
// ErrConflict.
type ConflictError struct {
	What string    // default@14
	By   string    // who changed it
	At   time.Time // when
	// Revision is the other's: its number, a publication's id.
	Revision int64
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s was changed by %s at %s", e.What, e.By, e.At.UTC().Format("15:04:05"))
}

// Is says that it is an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Audit is one change by a person, or by a job.
type Audit struct {
	ID      int64
	At      time.Time
	By      string
	Action  string // save, publish, edit, remove, job, switch
	Subject string // "profile", "pins", "case sample"
	// Before is what undoing returns to: of a publication NAME/NUMBER of what was in
	// force, of a case a CaseContent.
	Before string
	After  string
	Note   string
}

// Case is a set of queries with judgments.
type Case struct {
	ID          int64
	Name        string
	Description string
	CreatedAt   time.Time
	Every       time.Duration // between scheduled evaluations; 0: none
}

// CaseQuery is a query of a case.
type CaseQuery struct {
	ID       string // within the case
	Text     string
	Kind     string // class for tables: identifier, question, …
	Need     string // the information need: what a good answer would have
	Note     string
	Revision int // counts its changes
}

// CaseContent is what the audit log keeps of queries before they were changed or
// removed, as JSON.
type CaseContent struct {
	Queries   []CaseQuery
	Judgments []Judgment
}

// Judgment is one judge's grade of a document for a query.
type Judgment struct {
	Query  string
	Target string // path of the record, or kind:key
	Judge  string // see package eval: person/NAME, model/NAME, clicks, import/NAME
	Grade  int    // 0 to 3; negative: withdrawn
	At     time.Time
	Note   string
}

// Evaluation is one run of a case with a profile.
type Evaluation struct {
	ID         int64
	Case       int64
	At         time.Time
	By         string
	Profile    string // name
	Revision   int    // 0: of the configuration, or built in
	Judges     string // whose judgments counted, "" = all
	Generation int64  // of the index
	Model      string // of the embeddings
	Version    string // of the program
	Summary    string // JSON: measures of all queries
	Data       string // JSON: measures and ranking of every query
}
