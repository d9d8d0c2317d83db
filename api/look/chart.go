package look

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
)

// Point is a figure at a time.
type Point struct {
	At    time.Time
	Value float64
}

// Series are the points of a list, oldest first. Elements without a time or a value,
// a number or a pointer to one, are left out.
func Series[T any](items []T, at func(T) *time.Time, value func(T) any) (out []Point) {
	for _, x := range items {
		if n, ok := floatOf(value(x)); ok && at(x) != nil {
			out = append(out, Point{*at(x), n})
		}
	}
	slices.SortStableFunc(out, func(a, b Point) int { return a.At.Compare(b.At) })
	return out
}

// The size of a chart in its own units.
const (
	chartWidth, chartHeight = 640.0, 168.0
	chartTop, chartBottom   = 18.0, 40.0
	chartBase               = chartHeight - 20 // below which the days stand
	chartLeft               = 2.0
)

// Line draws a series as a line with its first and last day, its least, its
// greatest and its last value beside it. format writes values.
func Line(name string, points []Point, format string) template.HTML {
	if len(points) < 2 {
		return ""
	}
	write := writers[format]
	if write == nil {
		write = number
	}
	low, high := points[0], points[0]
	for _, p := range points {
		if p.Value < low.Value {
			low = p
		}
		if p.Value > high.Value {
			high = p
		}
	}
	first, last := points[0], points[len(points)-1]
	right := chartWidth - 16 - 8*float64(len(write(last.Value))) // the last value stands on the right
	x := func(p Point) float64 {
		span := last.At.Sub(first.At).Seconds()
		if span == 0 {
			return chartLeft
		}
		return chartLeft + (right-chartLeft)*p.At.Sub(first.At).Seconds()/span
	}
	y := func(p Point) float64 {
		inner := chartHeight - chartTop - chartBottom
		if high.Value == low.Value {
			return chartTop + inner/2
		}
		return chartTop + inner*(1-(p.Value-low.Value)/(high.Value-low.Value))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, chartWidth, chartHeight,
		template.HTMLEscapeString(fmt.Sprintf("%s: from %s on %s to %s on %s", name, write(first.Value),
			first.At.Format("2 Jan 2006"), write(last.Value), last.At.Format("2 Jan 2006"))))
	fmt.Fprintf(&b, `<line class="axis" x1="0" x2="%g" y1="%g" y2="%[2]g"/>`, right, chartBase)
	var path strings.Builder
	for i, p := range points {
		fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], x(p), y(p))
	}
	fmt.Fprintf(&b, `<path class="area" d="%sL%.1f %g L%g %[3]gZ"/>`, path.String(), x(last), chartBase, chartLeft)
	fmt.Fprintf(&b, `<path class="stroke" d="%s"/>`, path.String())
	fmt.Fprintf(&b, `<circle class="dot" cx="%.1f" cy="%.1f" r="3"/>`, x(last), y(last))
	label := func(px, py float64, anchor, class, text string) {
		fmt.Fprintf(&b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, px, py, anchor,
			template.HTMLEscapeString(text))
	}
	label(x(last)+8, y(last)+4, "start", "value", write(last.Value))
	for _, p := range []Point{low, high} {
		if d := math.Abs(x(p) - x(last)); p != last && d > 40 {
			anchor := "middle"
			if x(p) < 40 {
				anchor = "start"
			}
			dy := -7.0
			if p == low {
				dy = 14
			}
			label(x(p), y(p)+dy, anchor, "note", write(p.Value))
		}
	}
	label(0, chartHeight-4, "start", "note", first.At.Format("2 Jan 2006"))
	label(right, chartHeight-4, "end", "note", last.At.Format("2 Jan 2006"))
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // numbers, and texts escaped above
}

var writers = map[string]func(any) string{"number": number, "usd": usd, "percent": percent}

// Bars draws one share of a whole as a bar; value is in hundredths.
func Bars(value int, tone string) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // a number and a word of ours
		`<svg class="bar %s" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">`+
			`<rect class="rest" width="100" height="6"/><rect class="part" width="%d" height="6"/></svg>`, tone, value))
}
