package pdf

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// The limits of a font.
const (
	maxGlyphs  = 1 << 18 // that it maps to text or gives widths of, each once or more often
	maxProgram = 64 << 10
)

// font is what the text of a page needs of a font.
type font struct {
	wide    bool              // its codes have two bytes
	unicode map[string]string // by code, as the file says (ToUnicode)
	names   map[byte]string   // of glyphs, by code
	program bool              // the names are those of the font's program, the only encoding
	base    pdf.TextEncoding  // of the codes without a name
	utf16   bool              // its codes are UTF-16
	widths  map[int]float64   // by code, in heights of the font
	missing float64           // width of the others
	rough   bool              // the widths are guessed
	left    int               // entries that may still be read
	check   func() error      // an error when the time is over
	known   map[string]glyph
}

type glyph struct {
	text  string
	width float64
}

// readFont reads a font. What of it cannot be read, or is not when the time is over, is
// left out.
func readFont(v pdf.Value, check func() error) *font {
	f := &font{unicode: map[string]string{}, names: map[byte]string{}, widths: map[int]float64{},
		known: map[string]glyph{}, left: maxGlyphs, check: check}
	encoding := v.Key("Encoding")
	f.wide = v.Key("Subtype").Name() == "Type0"
	f.utf16 = strings.Contains(encoding.Name(), "UCS2") || strings.Contains(encoding.Name(), "UTF16")
	read := []func(){func() { f.readUnicode(v.Key("ToUnicode"), v) }}
	if f.wide {
		read = append(read, func() { f.readWideWidths(v.Key("DescendantFonts").Index(0)) })
	} else {
		read = append(read, func() { f.readWidths(v) }, func() { f.readNames(v) }, func() { f.base = baseEncoding(v) })
	}
	for _, part := range read {
		func() {
			defer func() { _ = recover() }() // the parser's errors; guard repeats its own
			part()
		}()
	}
	return f
}

// next cuts the first code off a string.
func (f *font) next(raw string) (code, rest string) {
	n := 1
	if f.wide {
		n = min(2, len(raw))
	}
	return raw[:n], raw[n:]
}

func (f *font) glyph(code string) glyph {
	g, ok := f.known[code]
	if !ok {
		g = glyph{f.text(code), f.width(code)}
		if f.known != nil {
			f.known[code] = g
		}
	}
	return g
}

func (f *font) text(code string) string {
	if text, ok := f.unicode[code]; ok {
		return text
	}
	if text, ok := f.unicode["\x00"+code]; ok && !f.wide {
		return text
	}
	switch {
	case f.utf16 && len(code) == 2:
		return string(utf16.Decode([]uint16{uint16(code[0])<<8 | uint16(code[1])}))
	case f.wide:
		return "" // a glyph's number
	}
	name, ok := f.names[code[0]]
	if text := named(name); text != "" || ok && f.program {
		return text
	}
	if f.base == nil {
		return code
	}
	return f.base.Decode(code)
}

func (f *font) width(code string) float64 {
	if w, ok := f.widths[codeOf(code)]; ok {
		return w
	}
	if f.rough {
		return roughWidth(code[0])
	}
	return f.missing
}

// roughWidth is about that of a letter in Helvetica.
func roughWidth(c byte) float64 {
	switch {
	case strings.IndexByte("mwMW@%", c) >= 0:
		return 0.83
	case strings.IndexByte(" fijlrtI.,:;!|'`()[]/-", c) >= 0:
		return 0.28
	case 'A' <= c && c <= 'Z':
		return 0.68
	}
	return 0.55
}

func (f *font) readWidths(v pdf.Value) {
	scale := 0.001
	if m := v.Key("FontMatrix"); m.Len() == 6 {
		scale = m.Index(0).Float64()
	}
	first, widths := int(v.Key("FirstChar").Int64()), v.Key("Widths")
	for i := range min(widths.Len(), 256) {
		f.widths[first+i] = widths.Index(i).Float64() * scale
	}
	f.missing = v.Key("FontDescriptor").Key("MissingWidth").Float64() * scale
	if f.rough = len(f.widths) == 0; f.rough && strings.Contains(v.Key("BaseFont").Name(), "Courier") {
		f.missing, f.rough = 0.6, false
	}
}

// readWideWidths reads [first [w w] first last w …].
func (f *font) readWideWidths(v pdf.Value) {
	f.missing = 1
	if w := v.Key("DW"); !w.IsNull() {
		f.missing = w.Float64() / 1000
	}
	widths := v.Key("W")
	for i := 0; i+1 < widths.Len(); {
		first, second := max(0, int(widths.Index(i).Int64())), widths.Index(i+1)
		if second.Kind() == pdf.Array {
			for j := 0; j < second.Len() && f.spend(); j++ {
				f.widths[first+j] = second.Index(j).Float64() / 1000
			}
			i += 2
			continue
		}
		width := widths.Index(i+2).Float64() / 1000
		for code := first; code <= int(second.Int64()) && f.spend(); code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// readNames reads the names of the glyphs: from the differences to an encoding, or
// from the font's own program.
func (f *font) readNames(v pdf.Value) {
	if encoding := v.Key("Encoding"); encoding.IsNull() {
		f.readProgram(v.Key("FontDescriptor").Key("FontFile"))
	} else {
		differences, code := encoding.Key("Differences"), 0
		for i := range differences.Len() {
			if x := differences.Index(i); x.Kind() == pdf.Name {
				f.names[byte(code)] = x.Name()
				code++
			} else {
				code = int(x.Int64())
			}
		}
	}
}

// slot matches an entry of the encoding in a font's program (Type 1).
var slot = regexp.MustCompile(`dup\s+(\d{1,3})\s*/([A-Za-z0-9._]+)\s+put`)

func (f *font) readProgram(v pdf.Value) {
	if v.Kind() != pdf.Stream {
		return
	}
	program, err := io.ReadAll(io.LimitReader(v.Reader(), maxProgram))
	if err != nil {
		return
	}
	for _, m := range slot.FindAllSubmatch(program, 256) {
		f.program = true
		if code, err := strconv.ParseUint(string(m[1]), 10, 8); err == nil {
			f.names[byte(code)] = string(m[2])
		}
	}
}

// letters are names of glyphs that are no letters themselves: those that papers
// have in their texts.
var letters = map[string]string{
	"ff": "ff", "fi": "fi", "fl": "fl", "ffi": "ffi", "ffl": "ffl", "space": " ", "hyphen": "-", "minus": "−",
	"endash": "–", "emdash": "—", "quoteright": "’", "quoteleft": "‘", "quotedblleft": "“", "quotedblright": "”",
	"quotesingle": "'", "comma": ",", "period": ".", "colon": ":", "semicolon": ";", "parenleft": "(", "parenright": ")",
	"slash": "/", "bracketleft": "[", "bracketright": "]", "question": "?", "exclam": "!", "plus": "+", "equal": "=",
	"percent": "%", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9", "bullet": "•", "ampersand": "&", "asterisk": "*", "at": "@", "numbersign": "#",
	"dollar": "$",
}

// named returns the text of a glyph by its name, "" if the name does not tell.
func named(name string) string {
	name, _, _ = strings.Cut(name, ".") // .alt
	if text, ok := letters[name]; ok {
		return text
	}
	if hex, ok := strings.CutPrefix(name, "uni"); ok && len(hex)%4 == 0 && len(hex) <= 32 {
		var text strings.Builder
		for ; hex != ""; hex = hex[4:] {
			r, err := strconv.ParseUint(hex[:4], 16, 16)
			if err != nil {
				return ""
			}
			text.WriteRune(rune(r))
		}
		return text.String()
	}
	var text strings.Builder
	for part := range strings.SplitSeq(name, "_") { // f_f_i
		if len(part) != 1 {
			return ""
		}
		text.WriteString(part)
	}
	return text.String()
}

// baseEncoding returns the encoding of codes without a name.
func baseEncoding(v pdf.Value) pdf.TextEncoding {
	f := pdf.Font{V: v}
	if v.Key("Encoding").Kind() != pdf.Dict {
		return f.Encoder()
	}
	if v.Key("Encoding").Key("BaseEncoding").Name() == "MacRomanEncoding" {
		return single{f.Encoder(), charmap.Macintosh}
	}
	return single{f.Encoder(), charmap.Windows1252}
}

// single decodes what names of glyphs do not.
type single struct {
	named pdf.TextEncoding
	codes *charmap.Charmap
}

func (s single) Decode(raw string) string {
	if text := s.named.Decode(raw); len(raw) != 1 || text != string(rune(raw[0])) {
		return text
	}
	return string(s.codes.DecodeByte(raw[0]))
}

// readUnicode reads the table of the text of the codes. The program that it is
// begins with a dictionary of the interpreter's own, for which any does.
func (f *font) readUnicode(v, dictionary pdf.Value) {
	if v.Kind() != pdf.Stream || checkContent(v) != nil {
		return
	}
	pdf.Interpret(v, func(stack *pdf.Stack, op string) {
		switch args := popAll(stack); op {
		case "findresource":
			stack.Push(dictionary)
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.put(args[i].RawString(), args[i+1].RawString())
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				f.putRange(args[i].RawString(), args[i+1].RawString(), args[i+2])
			}
		}
	})
}

// put maps a code to a text in UTF-16. A longer one than a glyph can stand for is not converted, as a range would
// do that for each of its codes.
func (f *font) put(code, units string) {
	if f.spend() && len(code) > 0 && len(units) <= 128 {
		if text := fromUTF16(units); len(text) <= 64 {
			f.unicode[code] = text
		}
	}
}

// spend reports whether one more entry may be read.
func (f *font) spend() bool {
	if f.left--; f.left%64 == 0 {
		if err := f.check(); err != nil {
			panic(err)
		}
	}
	return f.left >= 0
}

// putRange maps the codes from one to another.
func (f *font) putRange(from, to string, texts pdf.Value) {
	if len(from) == 0 || len(from) > 2 || len(to) != len(from) {
		return
	}
	first, last := codeOf(from), codeOf(to)
	units := []byte(texts.RawString())
	for i := 0; first+i <= last && f.left > 0; i++ {
		code := string([]byte{byte((first + i) >> 8), byte(first + i)}[2-len(from):])
		if texts.Kind() == pdf.Array {
			f.put(code, texts.Index(i).RawString())
		} else if n := len(units); n >= 2 && n <= 128 {
			unit := codeOf(string(units[n-2:])) + i
			f.put(code, string(units[:n-2])+string([]byte{byte(unit >> 8), byte(unit)}))
		}
	}
}

// codeOf returns the number of a code of one or two bytes.
func codeOf(code string) int {
	n := 0
	for i := range len(code) {
		n = n<<8 | int(code[i])
	}
	return n
}

func fromUTF16(raw string) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
	}
	return string(utf16.Decode(units))
}
