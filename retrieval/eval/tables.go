package eval

import (
	"fmt"
	"maps"
	"slices"

	"almanac/retrieval/ranking"
)

// Table is a table to print; the first row is its header.
type Table [][]string

// Add appends a row of cells.
func (t *Table) Add(cells ...string) { *t = append(*t, cells) }

// Tables shows reports: measures, comparisons and answers, or with stages a row
// per stage. A table may consist of its header only.
func Tables(reports []Report, stages bool) []Table {
	if stages {
		return []Table{
			stageTable(reports, "nDCG@10", ndcgCell), stageTable(reports, "recall@100", recallCell),
			comparisonTable(reports),
		}
	}
	return []Table{measureTable(reports), comparisonTable(reports), answersTable(reports)}
}

// measureTable has a row per report and below it one per kind of query.
func measureTable(reports []Report) Table {
	t := Table{{
		"collection", "profile", "kind", "queries", "nDCG@10", "low", "high", "recall@100", "MRR", "judged@10",
		"condensed", "P@10", "recall@10", "failed", "p50 ms", "p99 ms",
	}}
	row := func(name []string, queries int, m Measures, i Interval, rest ...string) {
		t.Add(slices.Concat(name, []string{fmt.Sprint(queries), four(m.NDCG10), four(i.Low), four(i.High),
			four(m.Recall100), four(m.MRR), fmt.Sprintf("%.3f", m.Judged10), four(m.Condensed10), four(m.P10),
			four(m.Recall10)}, rest)...)
	}
	for _, r := range reports {
		row([]string{r.Collection, r.Profile, "all"}, r.Queries, r.Measures, r.Interval, fmt.Sprint(r.Unmeasured()),
			fmt.Sprintf("%.2f", r.P50Ms), fmt.Sprintf("%.2f", r.P99Ms))
		for _, name := range slices.Sorted(maps.Keys(r.Kinds)) {
			k := r.Kinds[name]
			row([]string{"", "", name}, k.Queries, k.Measures, k.Interval, "", "", "")
		}
	}
	return t
}

// comparisonTable has a row per report that was compared with another.
func comparisonTable(reports []Report) Table {
	t := Table{{"collection", "profile", "against", "nDCG@10 difference", "p", "better", "worse"}}
	for _, r := range reports {
		if c := r.Comparison; c != nil {
			t.Add(r.Collection, r.Profile, c.Against, fmt.Sprintf("%+.4f", c.Difference), four(c.P),
				fmt.Sprint(c.Better), fmt.Sprint(c.Worse))
		}
	}
	return t
}

// answersTable shows how many tokens a client reads until the answer.
func answersTable(reports []Report) Table {
	t := Table{{"collection", "profile", "kind", "median tokens", "p90 tokens", "never"}}
	row := func(collection, profile, kind string, a *Answers) {
		t.Add(collection, profile, kind, fmt.Sprint(a.MedianTokens), fmt.Sprint(a.P90Tokens),
			fmt.Sprintf("%.3f", a.Never))
	}
	for _, r := range reports {
		if r.Answers == nil {
			continue
		}
		row(r.Collection, r.Profile, "all", r.Answers)
		for _, name := range slices.Sorted(maps.Keys(r.Kinds)) {
			row("", "", name, r.Kinds[name].Answers)
		}
	}
	return t
}

// stageNames describes the stages; any other is the unchanged profile.
var stageNames = map[string]string{
	"keyword":  "keyword (whole documents)",
	"passages": "passages (best of each document)",
	"dense":    "dense (nearest passages)",
	"rrf":      "rrf (all lists fused)",
	"rerank":   "rerank (copies not collapsed)",
}

// stageTable has a row per stage, a column per collection and their mean.
func stageTable(reports []Report, measure string, cell func(Report) (string, float64)) Table {
	header, rows := []string{"stage, " + measure}, map[string][]string{}
	sums := map[string]float64{}
	var stages []string
	for _, r := range reports {
		if !slices.Contains(header, r.Collection) {
			header = append(header, r.Collection)
		}
		if !slices.Contains(stages, r.Profile) {
			stages = append(stages, r.Profile)
		}
		text, value := cell(r)
		rows[r.Profile] = append(rows[r.Profile], text)
		sums[r.Profile] += value
	}
	collections := len(header) - 1
	if collections > 1 {
		header = append(header, "mean")
	}
	t := Table{header}
	for _, stage := range stages {
		row := []string{stage}
		if name, ok := stageNames[stage]; ok {
			row[0] = name
		}
		row = append(row, rows[stage]...)
		if collections > 1 {
			row = append(row, fmt.Sprintf("%.3f", sums[stage]/float64(collections)))
		}
		t.Add(row...)
	}
	return t
}

func ndcgCell(r Report) (string, float64) {
	return fmt.Sprintf("%.3f (%.3f–%.3f)", r.NDCG10, r.Low, r.High), r.NDCG10
}

func recallCell(r Report) (string, float64) {
	return fmt.Sprintf("%.3f", r.Recall100), r.Recall100
}

func four(x float64) string { return fmt.Sprintf("%.4f", x) }

// baselines are the profiles of single stages, simplest first.
var baselines = []string{"keyword", "passages", "dense", "rrf"}

// Stages returns the profiles that show what each stage adds, from keywords
// alone to the whole profile, the last but one without collapsing copies.
func Stages(whole ranking.Profile) ([]ranking.Profile, error) {
	reranked := whole
	reranked.Name, reranked.Collapse = "rerank", 0
	if slices.Contains(baselines, whole.Name) || whole.Name == reranked.Name {
		return nil, fmt.Errorf("%s is a stage itself", whole.Name)
	}
	var all []ranking.Profile
	for _, name := range baselines {
		p, err := ranking.Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return append(all, reranked, whole), nil
}
