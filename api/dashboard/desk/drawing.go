package desk

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"almanac/retrieval/workbench"
)

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
