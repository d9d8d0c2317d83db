package workbench

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/eval"
)

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
