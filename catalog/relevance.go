package catalog

import (
	"cmp"
	"fmt"
	"time"
)

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
