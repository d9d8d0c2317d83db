package form

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/workbench"
)

// funcs are what the templates may call besides those of package look.
var funcs = template.FuncMap{"took": took, "isoday": isoDay, "edition": edition, "change": ShiftOf, "span": span,
	"figure": figure, "signed": signed, "chance": chance, "kappa": kappa, "width": width,
	"address": Address, "has": slices.Contains[[]string], "headline": headline,
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

// width is that of the bar of a value, in hundredths of the largest.
func width(value, largest float64) int {
	return int(100*math.Abs(value)/max(math.Abs(largest), 1e-9) + .5)
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

// strip draws the grades of the first ten as columns, the better the higher and darker;
// what nobody judged is a dash.
func strip(places []workbench.Place) template.HTML {
	var b strings.Builder
	said := make([]string, len(places))
	for i, p := range places {
		class, height := "g"+strconv.Itoa(p.Grade), 4*(p.Grade+1)
		said[i] = strconv.Itoa(p.Grade)
		if p.Grade < 0 {
			class, height, said[i] = "gx", 2, "–"
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="9" height="%d"><title>%d: %s</title></rect>`, class, 10*i,
			16-height, height, i+1, template.HTMLEscapeString(p.Target+", "+said[i]))
	}
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers, and texts escaped above
		`<svg class="strip" viewBox="0 0 100 16" role="img" aria-label="grades of the first ten: %s">%s</svg>`,
		strings.Join(said, " "), b.String()))
}

// spark draws values between 0 and 1, oldest first, as a line.
func spark(values []float64) template.HTML {
	if len(values) < 2 {
		return ""
	}
	points, said := make([]string, len(values)), make([]string, len(values))
	for i, v := range values {
		points[i] = fmt.Sprintf("%.1f,%.1f", 1+58*float64(i)/float64(len(values)-1), 15-14*v)
		said[i] = figure(v)
	}
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers
		`<svg class="spark" viewBox="0 0 60 16" role="img" aria-label="%s"><title>%[1]s</title><polyline points="%s"/></svg>`,
		strings.Join(said, ", "), strings.Join(points, " ")))
}

// deltas draws how every query of a comparison changed, the largest loss on the left, as
// bars above and below a line.
func deltas(changes []workbench.Change) template.HTML {
	if len(changes) == 0 {
		return ""
	}
	most := .02 // less is drawn as small as it is
	for _, c := range changes {
		most = max(most, math.Abs(c.By))
	}
	var b strings.Builder
	width := 1000 / float64(len(changes))
	for i, c := range changes {
		height := max(.4, 50*math.Abs(c.By)/most)
		class, y := "good", 50-height
		if c.By < 0 {
			class, y = "bad", 50
		} else if c.By == 0 {
			class = "calm"
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: %s</title></rect>`, class,
			width*float64(i), y, max(.6, width-min(2, width/4)), height,
			template.HTMLEscapeString(c.Ours.Query.Text), signed(c.By))
	}
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers, and texts escaped above
		`<svg class="deltas" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="change of each of `+
			`%d queries; the table below has them">%s<line x1="0" x2="1000" y1="50" y2="50"/></svg>`, len(changes), b.String()))
}

// Words are those of a text as searches see them, each between spaces.
func Words(text string) string {
	var out strings.Builder
	out.WriteByte(' ')
	for _, t := range analysis.Analyze(text) {
		out.WriteString(t.Word(text))
		out.WriteByte(' ')
	}
	return out.String()
}
