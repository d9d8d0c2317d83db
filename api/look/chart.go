package look

import (
	"cmp"
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
	// Low and High are the ends of the interval that it is known within; both 0: none.
	Low, High float64
}

// Mark is a moment at which something was changed that may have moved the figures.
type Mark struct {
	At   time.Time
	Name string
}

// Series are the points of a list, oldest first. Elements without a time or a value,
// a number or a pointer to one, are left out.
func Series[T any](items []T, at func(T) *time.Time, value func(T) any) (out []Point) {
	for _, x := range items {
		if n, ok := floatOf(value(x)); ok && at(x) != nil {
			out = append(out, Point{At: *at(x), Value: n})
		}
	}
	slices.SortStableFunc(out, func(a, b Point) int { return a.At.Compare(b.At) })
	return out
}

// Chart is a series of figures over time, oldest first.
type Chart struct {
	Name   string
	Format string // number, usd, percent
	Points []Point
	Marks  []Mark
	Top    float64 // the scale is from 0 to this; 0: it is what the figures need
	Dots   bool    // each point is a measurement of its own
}

// The height of a chart in pixels: above the plot are names of marks, below it days.
const (
	chartHeight = 152.0
	chartTop    = 22.0
	chartBase   = chartHeight - 20
)

// plotWidth is that of the drawing's own units: it is stretched to the width there is,
// in which everything else has its place in hundredths, so that texts keep their size.
const plotWidth = 1000.0

// scale says where in a chart things are.
type scale struct {
	first, last time.Time
	low, high   float64
	zero        bool // the scale begins at 0
}

// scale fits the figures. Figures that are far from 0 beside their differences are
// drawn without it, and without an area, which would claim a proportion.
func (c Chart) scale() scale {
	s := scale{first: c.Points[0].At, last: c.Points[len(c.Points)-1].At, low: math.Inf(1), high: math.Inf(-1)}
	for _, p := range c.Points {
		for _, v := range p.reach() {
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
	flat := s.low == s.high
	if s.zero = c.Top > 0 || s.low >= 0 && (flat || s.low <= s.high/3); s.zero {
		s.low, s.high = 0, cmp.Or(max(s.high, c.Top), 1)
	} else if flat {
		s.high++
	}
	return s
}

// reach are the figure and the ends of its interval.
func (p Point) reach() []float64 {
	if p.Low == 0 && p.High == 0 {
		return []float64{p.Value}
	}
	return []float64{p.Value, p.Low, p.High}
}

// x is a place in hundredths of the width.
func (s scale) x(at time.Time) float64 {
	if !s.last.After(s.first) {
		return 0
	}
	return 100 * at.Sub(s.first).Seconds() / s.last.Sub(s.first).Seconds()
}

// y is a place in pixels. Below figures without a 0 there is room for the least of them.
func (s scale) y(v float64) float64 {
	base := chartBase
	if !s.zero {
		base -= 20
	}
	return chartTop + (base-chartTop)*(1-(v-s.low)/(s.high-s.low))
}

// Draw draws the series as a line with its first and last day, its least, its greatest
// and its last value beside it; "" if there is no line.
func (c Chart) Draw() template.HTML {
	if len(c.Points) < 2 {
		return ""
	}
	write := writers[c.Format]
	if write == nil {
		write = number
	}
	s := c.scale()
	first, last := c.Points[0], c.Points[len(c.Points)-1]
	said := write(last.Value)
	from, to := first.At.Format("2 Jan 2006"), last.At.Format("2 Jan 2006")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart r%d" width="100%%" height="%g" role="img" aria-label="%s">`,
		min(3, 1+len(said)/4), chartHeight, template.HTMLEscapeString(fmt.Sprintf("%s: from %s on %s to %s on %s", c.Name,
			write(first.Value), from, said, to)))
	fmt.Fprintf(&b, `<line class="axis" x1="0" x2="100%%" y1="%g" y2="%[1]g"/>`, chartBase)
	label := func(x, y float64, class, text string) {
		anchor := "middle"
		switch {
		case class == "value" || x < 12:
			anchor = "start"
		case x > 88:
			anchor = "end"
		}
		fmt.Fprintf(&b, `<text class="%s" x="%.1f%%" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor,
			template.HTMLEscapeString(text))
	}
	c.marks(&b, s, label)
	c.plot(&b, s)
	if c.Dots {
		for _, p := range c.Points {
			fmt.Fprintf(&b, `<circle class="dot" cx="%.1f%%" cy="%.1f" r="2.5"/>`, s.x(p.At), s.y(p.Value))
		}
	}
	fmt.Fprintf(&b, `<circle class="dot" cx="100%%" cy="%.1f" r="3.5"/>`, s.y(last.Value))
	fmt.Fprintf(&b, `<text class="value" x="100%%" dx="9" y="%.1f">%s</text>`, s.y(last.Value)+4,
		template.HTMLEscapeString(said))
	byValue := func(a, b Point) int { return cmp.Compare(a.Value, b.Value) }
	low, high := slices.MinFunc(c.Points, byValue), slices.MaxFunc(c.Points, byValue)
	if high.Value > low.Value {
		if x := s.x(high.At); x < 90 {
			label(x, s.y(high.Value)-7, "note", write(high.Value))
		}
		if x := s.x(low.At); x < 90 && !s.zero {
			label(x, s.y(low.Value)+15, "note", write(low.Value))
		}
	}
	if from == to {
		from, to = first.At.UTC().Format("2 Jan 2006, 15:04"), last.At.UTC().Format("15:04 UTC")
	}
	label(0, chartHeight-4, "note", from)
	label(100, chartHeight-4, "note", to)
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // numbers, and texts escaped above
}

// plot draws the line, the intervals around it, and the area below it.
func (c Chart) plot(b *strings.Builder, s scale) {
	var line, above, below strings.Builder
	for i, p := range c.Points {
		x, known := plotWidth/100*s.x(p.At), p.reach()
		fmt.Fprintf(&line, "%c%.0f %.1f", "ML"[min(i, 1)], x, s.y(p.Value))
		fmt.Fprintf(&above, "%c%.0f %.1f", "ML"[min(i, 1)], x, s.y(slices.Max(known)))
	}
	for _, p := range slices.Backward(c.Points) {
		fmt.Fprintf(&below, "L%.0f %.1f", plotWidth/100*s.x(p.At), s.y(slices.Min(p.reach())))
	}
	fmt.Fprintf(b, `<svg width="100%%" height="%g" viewBox="0 0 %g %[1]g" preserveAspectRatio="none">`,
		chartHeight, plotWidth)
	if slices.ContainsFunc(c.Points, func(p Point) bool { return len(p.reach()) > 1 }) {
		fmt.Fprintf(b, `<path class="band" d="%s%sZ"/>`, above.String(), below.String())
	} else if s.zero {
		fmt.Fprintf(b, `<path class="area" d="%sL%g %gL0 %[3]gZ"/>`, line.String(), plotWidth, chartBase)
	}
	fmt.Fprintf(b, `<path class="stroke" d="%s"/></svg>`, line.String())
}

// marks draws the moments of changes, with their names where there is room.
func (c Chart) marks(b *strings.Builder, s scale, label func(x, y float64, class, text string)) {
	named := math.Inf(-1)
	for _, m := range c.Marks {
		x := math.Round(10*s.x(m.At)) / 10
		if x < 0 || x > 100 {
			continue
		}
		fmt.Fprintf(b, `<line class="mark" x1="%[1]g%%" x2="%[1]g%%" y1="%[2]g" y2="%[3]g"><title>%[4]s</title></line>`, x,
			chartTop-6, chartBase, template.HTMLEscapeString(m.Name))
		if x-named >= 25 {
			label(x, chartTop-10, "note", m.Name)
			named = x
		}
	}
}

var writers = map[string]func(any) string{"number": number, "usd": usd, "percent": percent}

// Bars draws one share of a whole as a bar; value is in hundredths.
func Bars(value int, tone string) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // a number and a word of ours
		`<svg class="bar %s" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">`+
			`<rect class="rest" width="100" height="6"/><rect class="part" width="%d" height="6"/></svg>`, tone, value))
}
