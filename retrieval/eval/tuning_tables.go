package eval

import (
	"fmt"
	"slices"

	"almanac/retrieval/rerank"
)

// Tables shows a tuning: its gain by collection and by class of query, the
// classes with weights of their own, and the weights.
func (t Tuning) Tables() []Table {
	collections := valueTable(t, "nDCG@10", t.Collections(), func(x Example) string { return x.Collection })
	addMeans(&collections, "mean", t, func(Example) bool { return true })
	classes := valueTable(t, "class of query", t.ClassNames(), func(x Example) string { return x.Class })
	return []Table{collections, classes, ownTable(t), weightTable(t)}
}

// addMeans adds the means of a part of the examples to a table of values.
func addMeans(to *Table, name string, t Tuning, part func(Example) bool) {
	m := t.Means(part)
	orNone := func(mean *float64) string {
		if mean == nil {
			return "-"
		}
		return four(*mean)
	}
	to.Add(name, fmt.Sprint(m.Queries), four(m.Before), four(m.Fitted), four(m.OutOfFold), orNone(m.LeftOut),
		fmt.Sprintf("%+.4f", m.Comparison.Difference), four(m.Comparison.P), four(m.ShownOutOfFold),
		orNone(m.ShownLeftOut))
}

// valueHeader names the columns of addMeans; the difference is between out of
// fold and before.
var valueHeader = []string{
	"queries", "before", "fitted", "out of fold", "collection left out", "difference", "p",
	"out of fold, collapsed", "left out, collapsed",
}

// valueTable has a row per part of the examples; of returns the part of an
// example. In each part all collections have the same weight.
func valueTable(t Tuning, title string, parts []string, of func(Example) string) Table {
	to := Table{slices.Concat([]string{title}, valueHeader)}
	for _, name := range parts {
		addMeans(&to, name, t, func(x Example) bool { return of(x) == name })
	}
	return to
}

// ownTable shows the gain of classes by their own weights, out of fold.
func ownTable(t Tuning) Table {
	to := Table{{"own weights for", "queries", "gain out of fold", "p", "taken"}}
	for _, f := range t.Classes {
		verdict := "no"
		if f.Taken() {
			verdict = "yes"
		}
		to.Add(f.Class, fmt.Sprint(f.Queries), fmt.Sprintf("%+.4f", f.Difference), four(f.P), verdict)
	}
	return to
}

// weightTable shows the weights before and after.
func weightTable(t Tuning) Table {
	to := Table{{"feature", "before", fmt.Sprintf("fitted (L2 %g)", t.L2)}}
	own := t.TakenClasses()
	for _, f := range own {
		to[0] = append(to[0], f.Class)
	}
	weight := func(m rerank.Model, f int) string { return fmt.Sprintf("%.3f", m.Weights[f]) }
	for i := range rerank.NumFeatures {
		row := []string{rerank.Feature(i).String(), weight(t.Before, i), weight(t.Model, i)}
		for _, f := range own {
			row = append(row, weight(f.Model, i))
		}
		to.Add(row...)
	}
	return to
}
