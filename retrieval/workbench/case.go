package workbench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/eval"
)

// MaxGrade is the best grade: 3 is the answer, 2 clearly useful, 1 related, 0 read
// and not relevant.
const MaxGrade = 3

// Judges are named by what they are: PersonJudge and a name, ImportJudge and the
// name of a file's collection, ModelJudge and the model's, or ClickJudge. The
// lists of each are kept apart.
const (
	PersonJudge = "person/"
	ImportJudge = "import/"
	ModelJudge  = "model/"
	ClickJudge  = "clicks"
)

// ByPeople reports whether a judge is a person, or a file of their judgments.
func ByPeople(judge string) bool {
	return strings.HasPrefix(judge, PersonJudge) || strings.HasPrefix(judge, ImportJudge)
}

// Case returns the case of an id. ErrNotFound.
func Case(ctx context.Context, store *sqlstore.Store, id int64) (catalog.Case, error) {
	return find(ctx, store, fmt.Sprint(id), func(c catalog.Case) bool { return c.ID == id })
}

// CaseNamed returns the case of a name. ErrNotFound.
func CaseNamed(ctx context.Context, store *sqlstore.Store, name string) (catalog.Case, error) {
	return find(ctx, store, strconv.Quote(name), func(c catalog.Case) bool { return c.Name == name })
}

func find(ctx context.Context, store *sqlstore.Store, what string, is func(catalog.Case) bool) (catalog.Case,
	error) {
	cases, err := store.Cases(ctx)
	if at := slices.IndexFunc(cases, is); at >= 0 {
		return cases[at], nil
	}
	return catalog.Case{}, cmp.Or(err, fmt.Errorf("case %s: %w", what, catalog.ErrNotFound))
}

// Content returns the queries and judgments of a case.
func Content(ctx context.Context, store *sqlstore.Store, id int64) (queries []catalog.CaseQuery,
	judgments []catalog.Judgment, err error) {
	if queries, err = store.Queries(ctx, id); err == nil {
		judgments, err = store.Judgments(ctx, id)
	}
	return queries, judgments, err
}

// Judged reads a case of the catalog as a collection. judges are those that
// count; none means everybody but models and clicks. Where several graded a
// document its grade is their mean, rounded half up. Queries that nobody judged
// are left out.
func Judged(ctx context.Context, store *sqlstore.Store, c catalog.Case, judges ...string) (eval.Collection,
	error) {
	queries, judgments, err := Content(ctx, store, c.ID)
	if err != nil {
		return eval.Collection{}, err
	}
	type pair struct{ query, target string }
	grades := map[pair][]int{}
	for _, j := range judgments {
		counts := slices.Contains(judges, j.Judge) || len(judges) == 0 && ByPeople(j.Judge)
		if counts {
			at := pair{j.Query, j.Target}
			grades[at] = append(grades[at], j.Grade)
		}
	}
	out := eval.Collection{Name: c.Name, Judgments: map[string]map[string]int{}}
	for at, of := range grades {
		sum := 0
		for _, g := range of {
			sum += g
		}
		if out.Judgments[at.query] == nil {
			out.Judgments[at.query] = map[string]int{}
		}
		out.Judgments[at.query][at.target] = int(math.Floor(float64(sum)/float64(len(of)) + 0.5))
	}
	for _, q := range queries {
		if len(out.Judgments[q.ID]) > 0 {
			out.Queries = append(out.Queries, eval.Query{ID: q.ID, Text: q.Text, Kind: q.Kind})
		}
	}
	return out, nil
}

// ErrUnjudged: a case has no query that one of the judges has judged.
var ErrUnjudged = errors.New("no query is judged by these judges")

// Collection returns a case with its judged queries; see Judged. ErrUnjudged if
// there are none, catalog.ErrNotFound if there is no such case.
func Collection(ctx context.Context, store *sqlstore.Store, id int64, judges []string) (catalog.Case,
	eval.Collection, error) {
	c, err := Case(ctx, store, id)
	if err != nil {
		return c, eval.Collection{}, err
	}
	collection, err := Judged(ctx, store, c, judges...)
	if err == nil && len(collection.Queries) == 0 {
		err = fmt.Errorf("case %s: %w", c.Name, ErrUnjudged)
	}
	return c, collection, err
}

// Summary is how far a case is.
type Summary struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Queries     int          `json:"queries"`
	Judged      int          `json:"judged"` // queries with a judgment
	Judgments   int          `json:"judgments"`
	Judges      []JudgeCount `json:"judges"` // by name
}

// Unjudged is how many queries have no judgment.
func (s Summary) Unjudged() int { return s.Queries - s.Judged }

// JudgeCount is how much one judge graded.
type JudgeCount struct {
	Name      string `json:"name"`
	Judgments int    `json:"judgments"`
}

// Summarize counts what a case has.
func Summarize(c catalog.Case, queries []catalog.CaseQuery, judgments []catalog.Judgment) Summary {
	s := Summary{ID: c.ID, Name: c.Name, Description: c.Description, Queries: len(queries), Judgments: len(judgments),
		Judges: []JudgeCount{}}
	judged, byJudge := map[string]bool{}, map[string]int{}
	for _, j := range judgments {
		judged[j.Query] = true
		byJudge[j.Judge]++
	}
	s.Judged = len(judged)
	for name, n := range byJudge {
		s.Judges = append(s.Judges, JudgeCount{name, n})
	}
	slices.SortFunc(s.Judges, func(a, b JudgeCount) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// String says it in words.
func (s Summary) String() string {
	return fmt.Sprintf("%s: %d queries, %d judged, %d judgments", s.Name, s.Queries, s.Judged, s.Judgments)
}

// Summaries are cases by name.
type Summaries []Summary

// String has a line for each.
func (list Summaries) String() string {
	lines := make([]string, len(list))
	for i, s := range list {
		lines[i] = s.String()
	}
	return strings.Join(lines, "\n")
}

// List summarizes all cases.
func List(ctx context.Context, store *sqlstore.Store) (Summaries, error) {
	cases, err := store.Cases(ctx)
	if err != nil {
		return nil, err
	}
	list := make(Summaries, len(cases))
	for i, c := range cases {
		queries, judgments, err := Content(ctx, store, c.ID)
		if err != nil {
			return nil, err
		}
		list[i] = Summarize(c, queries, judgments)
	}
	return list, nil
}

// First makes the first case of a catalog from the judged queries that come with its
// network. It does nothing if there is any other case, or all of this one.
func First(ctx context.Context, store *sqlstore.Store, name string, files fs.FS) error {
	cases, err := store.Cases(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(cases) > 1 || len(cases) == 1 && cases[0].Name != name:
		return nil
	case len(cases) == 1:
		if judgments, err := store.Judgments(ctx, cases[0].ID); err != nil || len(judgments) > 0 {
			return err
		}
	}
	in, err := eval.ReadCase(files, name)
	if err != nil {
		return err
	}
	const by = "almanac"
	if len(cases) == 0 {
		c := catalog.Case{Name: name, Description: "The judged queries that come with the network."}
		if _, err = store.PutCase(ctx, c, by); err != nil {
			return err
		}
	}
	_, err = Import(ctx, store, name, in, ImportJudge+name, by)
	if errors.Is(err, catalog.ErrConflict) { // another process does the same
		return nil
	}
	return err
}

// Missing says which judged documents of a case are not in the catalog, and which
// are nearest to them by name; "" if all are, or if the catalog is empty.
func Missing(ctx context.Context, store *sqlstore.Store, c catalog.Case) (string, error) {
	judgments, err := store.Judgments(ctx, c.ID)
	if err != nil {
		return "", err
	}
	all := eval.Collection{Judgments: map[string]map[string]int{}}
	for _, j := range judgments {
		if all.Judgments[j.Query] == nil {
			all.Judgments[j.Query] = map[string]int{}
			all.Queries = append(all.Queries, eval.Query{ID: j.Query})
		}
		all.Judgments[j.Query][j.Target] = max(j.Grade, all.Judgments[j.Query][j.Target])
	}
	names, err := Names(ctx, store, all)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return eval.Missing(all, names, 1), nil
}

// Judges counts the judgments of each judge in some cases.
func Judges(ctx context.Context, store *sqlstore.Store, cases []catalog.Case) (map[string]int, error) {
	judges := map[string]int{}
	for _, c := range cases {
		judgments, err := store.Judgments(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, j := range judgments {
			judges[j.Judge]++
		}
	}
	return judges, nil
}

// Kept returns what the audit log has of the queries of a case before a change; false if the
// change is another, or there were none.
func Kept(a catalog.Audit) (before catalog.CaseContent, ok bool) {
	ok = strings.HasPrefix(a.Subject, "case ") && json.Unmarshal([]byte(a.Before), &before) == nil
	return before, ok && len(before.Queries) > 0
}

// Restore puts the queries of a change back as they were before it, with their
// judgments; a case that is gone is made again. An InvalidError if there were none.
func Restore(ctx context.Context, store *sqlstore.Store, a catalog.Audit, by string) error {
	before, ok := Kept(a)
	if !ok {
		return InvalidError("these queries are new: remove them in their case")
	}
	name := strings.TrimPrefix(a.Subject, "case ")
	c, err := CaseNamed(ctx, store, name)
	if errors.Is(err, catalog.ErrNotFound) {
		c, err = store.PutCase(ctx, catalog.Case{Name: name}, by)
	}
	if err != nil {
		return err
	}
	now, err := store.Queries(ctx, c.ID)
	if err != nil {
		return err
	}
	for i, q := range before.Queries {
		before.Queries[i].Revision = 0
		if at := slices.IndexFunc(now, func(o catalog.CaseQuery) bool { return o.ID == q.ID }); at >= 0 {
			before.Queries[i].Revision = now[at].Revision
		}
	}
	if err := store.PutQueries(ctx, c.ID, before.Queries, by); err != nil {
		return err
	}
	return store.PutJudgments(ctx, c.ID, before.Judgments)
}

// InvalidError is a mistake in what is imported.
type InvalidError string

// Error implements error.
func (e InvalidError) Error() string { return string(e) }

// Imported is how much an import added.
type Imported struct {
	Case      catalog.Case `json:"-"`
	Queries   int          `json:"queries"` // that the case did not have
	Judgments int          `json:"judgments"`
}

// String says it in words.
func (i Imported) String() string {
	return fmt.Sprintf("%s: %d queries and %d judgments added", i.Case.Name, i.Queries, i.Judgments)
}

// The most queries of a file, and the most bytes of one: what pages show whole.
const (
	maxQueries = 10_000
	maxQuery   = 16 << 10
)

// CheckQuery returns an InvalidError for a query that is too long to be kept.
func CheckQuery(q catalog.CaseQuery) error {
	if len(q.ID)+len(q.Text)+len(q.Kind)+len(q.Need)+len(q.Note) > maxQuery {
		return InvalidError(fmt.Sprintf("query %.40s has more than %d KiB", q.ID, maxQuery>>10))
	}
	return nil
}

// Import adds the queries of a collection to the case of a name, which it makes
// unless there is one, and its judgments as those of a judge. A query that is there
// already keeps what it has. A query with another text, a judgment of a query that
// neither has and a grade above MaxGrade are InvalidErrors, and nothing is stored;
// negative grades, which TREC has, become 0. An import that was interrupted is
// completed by another.
func Import(ctx context.Context, store *sqlstore.Store, name string, in eval.Collection, judge, by string,
) (out Imported, err error) {
	c, err := CaseNamed(ctx, store, name)
	if isNew := gone(err); err != nil && !isNew {
		return out, err
	} else if isNew && len(in.Queries) == 0 {
		return out, InvalidError(fmt.Sprintf("there is no case %q, and the file has no queries", name))
	}
	have, err := store.Queries(ctx, c.ID)
	if err != nil {
		return out, err
	}
	texts := map[string]string{}
	for _, q := range have {
		texts[q.ID] = q.Text
	}
	if len(in.Queries) > maxQueries {
		return out, InvalidError(fmt.Sprintf("the file has more than %d queries", maxQueries))
	}
	var added []catalog.CaseQuery
	for _, q := range in.Queries {
		read := catalog.CaseQuery{ID: q.ID, Text: q.Text, Kind: q.Kind, Need: q.Need, Note: q.Note}
		if err := CheckQuery(read); err != nil {
			return out, err
		}
		switch text, known := texts[q.ID]; {
		case !known:
			texts[q.ID] = q.Text
			added = append(added, catalog.CaseQuery{ID: q.ID, Text: q.Text, Kind: q.Kind, Need: q.Need, Note: q.Note})
		case text != catalog.Clean(q.Text):
			return out, InvalidError(fmt.Sprintf("query %s is %q in the case and %q in the file", q.ID, text, q.Text))
		}
	}
	var judgments []catalog.Judgment
	for _, query := range slices.Sorted(maps.Keys(in.Judgments)) {
		if _, known := texts[query]; !known {
			return out, InvalidError(fmt.Sprintf("there are judgments of query %s, which neither case nor file has", query))
		}
		for target, grade := range in.Judgments[query] {
			if grade > MaxGrade {
				return out, InvalidError(fmt.Sprintf("query %s, document %s: grade %d is above %d", query, target, grade,
					MaxGrade))
			}
			judgments = append(judgments, catalog.Judgment{Query: query, Target: target, Judge: judge, Grade: max(0, grade)})
		}
	}
	if c.ID == 0 {
		if c, err = store.PutCase(ctx, catalog.Case{Name: name}, by); err != nil {
			return out, err
		}
	}
	if len(added) > 0 {
		if err := store.PutQueries(ctx, c.ID, added, by); err != nil {
			return out, err
		}
	}
	if len(judgments) > 0 {
		err = store.PutJudgments(ctx, c.ID, judgments)
	}
	return Imported{c, len(added), len(judgments)}, err
}

// The names of exported files besides those of eval.Collection.Files.
const trecFile = "qrels.txt"

// Export returns the case of a name as files by their names, with all its queries,
// and judgments as Judged has them; trec adds them as TREC has them, in qrels.txt.
// An InvalidError names a judge who judged nothing, or an id that files cannot hold.
func Export(ctx context.Context, store *sqlstore.Store, name string, trec bool, judges ...string) (Summary,
	map[string][]byte, error) {
	c, err := CaseNamed(ctx, store, name)
	if err != nil {
		return Summary{}, nil, err
	}
	queries, judgments, err := Content(ctx, store, c.ID)
	if err != nil {
		return Summary{}, nil, err
	}
	for _, judge := range judges {
		if !slices.ContainsFunc(judgments, func(j catalog.Judgment) bool { return j.Judge == judge }) {
			return Summary{}, nil, InvalidError(fmt.Sprintf("%s judged nothing in case %s", judge, name))
		}
	}
	out, err := Judged(ctx, store, c, judges...)
	if err != nil {
		return Summary{}, nil, err
	}
	out.Queries = nil
	for _, q := range queries {
		out.Queries = append(out.Queries, eval.Query{ID: q.ID, Text: q.Text, Kind: q.Kind, Need: q.Need, Note: q.Note})
	}
	files, err := out.Files(c.Description)
	if trec && err == nil {
		var qrels bytes.Buffer
		err = out.WriteQrels(&qrels)
		files[trecFile] = qrels.Bytes()
	}
	if err != nil {
		return Summary{}, nil, InvalidError(err.Error())
	}
	return Summarize(c, queries, judgments), files, nil
}

// ReadPath reads a directory as eval.ReadCase does, or a file of judgments alone. The
// name is that of the directory, or of the file without its extension.
func ReadPath(path string) (eval.Collection, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return eval.Collection{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return eval.Collection{}, err
	}
	name := filepath.Base(abs)
	if info.IsDir() {
		return eval.ReadCase(os.DirFS(path), name)
	}
	file, err := os.Open(path)
	if err != nil {
		return eval.Collection{}, err
	}
	defer file.Close()
	judgments, err := eval.ReadQrels(file, path)
	return eval.Collection{Name: strings.TrimSuffix(name, filepath.Ext(name)), Judgments: judgments}, err
}

// Agreement is how two judges graded what both did.
type Agreement struct {
	A, B          string
	Pairs         int // of query and document that both graded
	Same          int // of those with the same grade
	Kappa         float64
	Disagreements []Disagreement // the largest first
}

// Disagreement is a document with different grades for a query.
type Disagreement struct {
	Query, Target string
	A, B          int
	WhyA, WhyB    string // their reasons, if they gave any
}

// apart is how many grades lie between the two.
func (d Disagreement) apart() int { return max(d.A-d.B, d.B-d.A) }

// Agreements compares every two judges that graded any pair both, by name.
func Agreements(judgments []catalog.Judgment) []Agreement {
	type pair struct{ query, target string }
	grades := map[string]map[pair]catalog.Judgment{}
	var judges []string
	for _, j := range judgments {
		if grades[j.Judge] == nil {
			grades[j.Judge] = map[pair]catalog.Judgment{}
			judges = append(judges, j.Judge)
		}
		grades[j.Judge][pair{j.Query, j.Target}] = j
	}
	slices.Sort(judges)
	var out []Agreement
	for i, first := range judges {
		for _, second := range judges[i+1:] {
			x := Agreement{A: first, B: second}
			var a, b []int
			for at, grade := range grades[first] {
				other, both := grades[second][at]
				if !both {
					continue
				}
				a, b = append(a, grade.Grade), append(b, other.Grade)
				if grade.Grade == other.Grade {
					x.Same++
				} else {
					x.Disagreements = append(x.Disagreements, Disagreement{at.query, at.target, grade.Grade, other.Grade,
						grade.Note, other.Note})
				}
			}
			if x.Pairs = len(a); x.Pairs == 0 {
				continue
			}
			x.Kappa = eval.Kappa(a, b)
			slices.SortFunc(x.Disagreements, func(p, q Disagreement) int {
				return cmp.Or(cmp.Compare(q.apart(), p.apart()), cmp.Compare(p.Query, q.Query),
					cmp.Compare(p.Target, q.Target))
			})
			out = append(out, x)
		}
	}
	return out
}
