package desk

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// funcs are what the templates may call besides those of package look.
var funcs = template.FuncMap{"took": took, "isoday": isoDay, "edition": edition, "change": ShiftOf, "span": span,
	"figure": figure, "signed": signed, "chance": chance, "kappa": kappa, "headline": headline,
	"strip": strip, "spark": spark, "deltas": deltas,
	"machine": func(judge string) bool { return !workbench.ByPeople(judge) }}

// headline is the first line of a description, which is Markdown; the rest are guidelines.
func headline(description string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	return strings.TrimSpace(strings.TrimLeft(line, "# "))
}

// figure writes a measure.
func figure(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// chance writes how likely something is by chance alone.
func chance(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return figure(p)
}

// signed writes a difference of measures with its sign.
func signed(x float64) string {
	if math.Abs(x) < .0005 {
		return figure(0)
	}
	return strings.Replace(fmt.Sprintf("%+.3f", x), "-", "−", 1)
}

// took writes a duration in milliseconds.
func took(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
}

// span writes a time in seconds, minutes or hours.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"), "0m")
}

// isoDay writes a day as forms have it, "" for none.
func isoDay(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// edition writes a revision of the audit log, NAME/NUMBER of a subject, as people name
// it.
func edition(subject, s string) string {
	name, number, ok := strings.Cut(s, "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return s
	}
	return catalog.Publication{Kind: catalog.RevisionKind(subject), Name: name, Number: n}.String()
}

// Shift is how a result moved.
type Shift struct{ Class, Text string }

// ShiftOf compares the place of a result, from 0, with the one it had, from 1; 0:
// it had none. nil: it did not move.
func ShiftOf(at, from int) *Shift {
	switch up := from - (at + 1); {
	case from == 0:
		return &Shift{"new", "new"}
	case up > 0:
		return &Shift{"up", fmt.Sprintf("↑ %d", up)}
	case up < 0:
		return &Shift{"down", fmt.Sprintf("↓ %d", -up)}
	}
	return nil
}

// kappa writes an agreement; what cannot be computed is a dash.
func kappa(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}
