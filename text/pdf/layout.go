package pdf

import (
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

// The limits of a page.
const (
	maxPageText = 4 << 20 // bytes
	maxSaved    = 256     // graphics states
	maxForms    = 100     // pieces of content that the page draws, also within others
	maxNested   = 8
)

// Distances between glyphs, in heights of the font.
const (
	wordGap    = 0.15 // kerning is less, a blank more, even in a line that is set tight
	roughGap   = 0.3  // where the widths of the font are not known
	backward   = -0.5
	lineHeight = 0.6 // raised and lowered letters are still in the line
)

// layout collects the text of a page. It follows where glyphs are set: most
// programs write the ends of lines as distances, and some the blanks between words.
type layout struct {
	out    strings.Builder
	state  state
	saved  []state
	tm, lm matrix // of the text, of its line
	forms  int
	steps  int          // operators
	check  func() error // an error when the time is over

	begun    bool
	endX     float64 // where the last glyph ends, on the page
	endY     float64
	height   float64 // of the last glyph's font, on the page
	followed bool    // nothing but glyphs and distances since then
}

// state is the part of the graphics state that text depends on.
type state struct {
	ctm                       matrix
	font                      *font
	size, char, word, leading float64
	stretch                   float64 // horizontally
}

// matrix is a transformation as PDF writes it.
type matrix [6]float64

// times returns the transformation that is first m, then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

var unmoved = matrix{1, 0, 0, 1, 0, 0}

// text returns the text of a page. It panics with the error of check.
func text(p pdf.Page, check func() error) (string, error) {
	l := &layout{state: state{ctm: unmoved, stretch: 1}, tm: unmoved, lm: unmoved, check: check}
	if err := l.draw(p.V.Key("Contents"), p.Resources(), 0); err != nil {
		return "", err
	}
	return l.out.String(), nil
}

// draw interprets a piece of content.
func (l *layout) draw(content, resources pdf.Value, depth int) error {
	if kind := content.Kind(); kind != pdf.Stream && kind != pdf.Array {
		return nil
	}
	if err := checkContent(content); err != nil {
		return err
	}
	fonts := map[string]*font{}
	pdf.Interpret(content, func(stack *pdf.Stack, op string) {
		if l.steps++; l.steps%1024 == 0 {
			if err := l.check(); err != nil {
				panic(err)
			}
		}
		args := popAll(stack)
		if op == "Do" && len(args) == 1 {
			l.form(resources.Key("XObject").Key(args[0].Name()), resources, depth)
		} else if op == "Tf" && len(args) == 2 {
			name := args[0].Name()
			if fonts[name] == nil {
				fonts[name] = readFont(resources.Key("Font").Key(name), l.check)
			}
			l.state.font, l.state.size = fonts[name], args[1].Float64()
		} else if l.out.Len() < maxPageText {
			l.operate(op, args)
		}
	})
	return nil
}

// popAll returns the operands of an operator.
func popAll(stack *pdf.Stack) []pdf.Value {
	args := make([]pdf.Value, stack.Len())
	for i := len(args) - 1; i >= 0; i-- {
		args[i] = stack.Pop()
	}
	return args
}

// form draws a piece of content that has a name. One that cannot be read leaves
// the page as it is.
func (l *layout) form(v, resources pdf.Value, depth int) {
	if v.Key("Subtype").Name() != "Form" || l.forms == maxForms || depth == maxNested {
		return
	}
	l.forms++
	before, saved := l.state, l.saved
	if m := v.Key("Matrix"); m.Len() == 6 {
		l.state.ctm = matrixOf(m.Index).times(l.state.ctm)
	}
	if own := v.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	_ = l.draw(v, resources, depth+1)
	l.state, l.saved = before, saved
}

func matrixOf(number func(int) pdf.Value) (m matrix) {
	for i := range m {
		m[i] = number(i).Float64()
	}
	return m
}

// operate follows an operator.
func (l *layout) operate(op string, args []pdf.Value) {
	number := func(i int) float64 {
		if i < len(args) {
			return args[i].Float64()
		}
		return 0
	}
	s := &l.state
	switch op {
	case "q":
		if len(l.saved) < maxSaved {
			l.saved = append(l.saved, *s)
		}
	case "Q":
		if n := len(l.saved); n > 0 {
			*s, l.saved = l.saved[n-1], l.saved[:n-1]
		}
	case "cm":
		if len(args) == 6 {
			s.ctm = matrixOf(func(i int) pdf.Value { return args[i] }).times(s.ctm)
		}
	case "BT":
		l.start(unmoved)
	case "Tm":
		if len(args) == 6 {
			l.start(matrixOf(func(i int) pdf.Value { return args[i] }))
		}
	case "Td":
		l.move(number(0), number(1))
	case "TD":
		s.leading = -number(1)
		l.move(number(0), number(1))
	case "T*":
		l.move(0, -s.leading)
	case "TL":
		s.leading = number(0)
	case "Tc":
		s.char = number(0)
	case "Tw":
		s.word = number(0)
	case "Tz":
		s.stretch = number(0) / 100
	case "Tj", "'", `"`:
		if len(args) == 0 {
			return
		}
		if op == `"` && len(args) == 3 {
			s.word, s.char = number(0), number(1)
		}
		if op != "Tj" {
			l.move(0, -s.leading)
		}
		l.show(args[len(args)-1].RawString())
	case "TJ":
		for i := 0; len(args) == 1 && i < args[0].Len(); i++ {
			if v := args[0].Index(i); v.Kind() == pdf.String {
				l.show(v.RawString())
			} else {
				l.advance(-v.Float64() / 1000 * s.size)
			}
		}
	}
}

func (l *layout) start(m matrix) { l.tm, l.lm, l.followed = m, m, false }

func (l *layout) move(x, y float64) { l.start(matrix{1, 0, 0, 1, x, y}.times(l.lm)) }

func (l *layout) advance(x float64) {
	l.tm = matrix{1, 0, 0, 1, x * l.state.stretch, 0}.times(l.tm)
}

// show sets a string.
func (l *layout) show(raw string) {
	s := l.state
	if s.font == nil {
		s.font = &font{}
	}
	for len(raw) > 0 && l.out.Len() < maxPageText {
		var code string
		code, raw = s.font.next(raw)
		g := s.font.glyph(code)
		if g.text != "" {
			l.separate(s)
			l.out.WriteString(g.text)
		}
		width := g.width*s.size + s.char
		if code == " " {
			width += s.word
		}
		l.advance(width)
		if g.text != "" {
			m := l.tm.times(s.ctm)
			l.begun, l.endX, l.endY, l.followed = true, m[4], m[5], true
		}
	}
}

// separate begins a line or a word if the next glyph does.
func (l *layout) separate(s state) {
	m := l.tm.times(s.ctm)
	along := math.Hypot(m[0], m[1])
	height := math.Abs(s.size) * math.Hypot(m[2], m[3])
	measure := max(height, l.height)
	l.height = height
	if !l.begun || along == 0 || measure == 0 {
		return
	}
	x, y := m[4]-l.endX, m[5]-l.endY
	gap := wordGap
	if s.font.rough && !l.followed {
		gap = roughGap
	}
	// By the direction of the text, and across it.
	switch by, across := (x*m[0]+y*m[1])/along/measure, (y*m[0]-x*m[1])/along/measure; {
	case math.Abs(across) > lineHeight:
		l.out.WriteByte('\n')
	case by > gap || by < backward:
		l.out.WriteByte(' ')
	}
}
