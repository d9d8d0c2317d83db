package pdf_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"almanac/text/pdf"
)

// document writes a PDF of numbered objects with a cross-reference table.
func document(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

func deflate(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

const (
	catalogue = "<< /Type /Catalog /Pages 2 0 R >>"
	onePage   = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
	pageDict  = "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
	font      = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
	hello     = "BT /F1 12 Tf 72 712 Td (The harbour opens at six.) Tj ET BT (It closes at nine.) Tj ET"
)

func simple(content string) []byte {
	return document("", catalogue, onePage, pageDict, stream("", content), font)
}

func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		data  []byte
		max   int
		text  string
		pages int
	}{
		"a page's text is read line by line": {simple(hello), 0, "The harbour opens at six.\nIt closes at nine.",
			1},
		"compressed pages are read": {document("", catalogue, onePage, pageDict,
			stream("/Filter /FlateDecode", deflate(hello)), font), 0, "The harbour opens at six.\nIt closes at nine.",
			1},
		"the text ends at the limit":   {simple(hello), 11, "The harbour", 1},
		"a scan has pages and no text": {simple("q 100 0 0 100 0 0 cm /Im1 Do Q"), 0, "", 1},
		"a page without contents has no text": {document("", catalogue, onePage, "<< /Type /Page /Parent 2 0 R >>"),
			0, "", 1},
		"control characters are left out": {simple(`BT /F1 12 Tf (a\001b\003 c) Tj ET`), 0, "ab c", 1},
		"words set one by one become one line": {simple(strings.Repeat("BT /F1 1 Tf (word) Tj ET ", 30)), 0,
			strings.TrimSpace(strings.Repeat("word ", 30)), 1},
		"an unreadable page leaves the others be": {document("", catalogue,
			"<< /Type /Pages /Kids [3 0 R 6 0 R] /Count 2 >>", pageDict, stream("", hello), font,
			"<< /Type /Page /Parent 2 0 R /Contents 7 0 R >>", stream("/Filter /LZWDecode", "x")), 0,
			"The harbour opens at six.\nIt closes at nine.", 2},
	} {
		t.Run(name, func(t *testing.T) {
			text, pages, err := pdf.Text(c.data, c.max)
			if err != nil || text != c.text || pages != c.pages {
				t.Errorf("Text = %q, %d, %v; want %q, %d", text, pages, err, c.text, c.pages)
			}
		})
	}
}

// even is a font of which every letter is half as wide as the font is high.
const even = "<< /Type /Font /Subtype /Type1 /BaseFont /Quay /FirstChar 0 /LastChar 255 /Widths ["

func evenFont(rest string) string { return even + strings.Repeat("500 ", 256) + "] " + rest + " >>" }

// with makes a page whose font is the fifth object; more objects follow it.
func with(content, font string, more ...string) []byte {
	return document("", append([]string{catalogue, onePage, strings.Replace(pageDict, ">> >> >>",
		">> /XObject << /X 6 0 R >> >> >>", 1), stream("", content), font}, more...)...)
}

func TestTextIsReadWhereItIsSet(t *testing.T) {
	const begin = "BT /F1 10 Tf 72 700 Td "
	table := func(body string) string {
		return stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"+body+
			"\nendcmap CMapName currentdict /CMap defineresource pop end end")
	}
	descriptor := func(program string) []string {
		return []string{"<< /Type /FontDescriptor /FontFile 7 0 R >>", stream("", program)}
	}
	for name, c := range map[string]struct {
		content, font string
		more          []string
		want          string
	}{
		"blanks as distances": {begin + "[(T)80(ides)-333(and)-250(ebb)-30(s)]TJ ET", evenFont(""), nil,
			"Tides and ebbs"},
		"blanks as distances, without widths": {begin + "[(T)80(ides)-200(and)-333(ebbs)]TJ ET", font, nil, "Tides and ebbs"},
		"lines as distances": {begin + "(One) Tj 0 -12 Td (two) Tj 14 TL T* (three) Tj (four) ' 1 0 (five) \" ET",
			evenFont(""), nil, "One\ntwo\nthree\nfour\nfive"},
		"words set one by one": {begin + "(One) Tj 20 0 Td (two) Tj 15 0 Td (th) Tj 10 0 Td (ree) Tj ET", evenFont(""), nil,
			"One twothree"},
		"letters set one by one": {"BT /F1 1 Tf 10 0 0 10 72 700 Tm (g) Tj 10 0 0 10 77 700 Tm (a) Tj 10 0 0 10 82 700 Tm " +
			"(t) Tj 10 0 0 10 87 700 Tm (e) Tj 10 0 0 10 95 700 Tm (s) Tj ET", evenFont(""), nil, "gate s"},
		"spaced letters": {begin + "3 Tc (Gate) Tj 0 Tc (s) Tj ET", evenFont(""), nil, "Gates"},
		"narrow letters": {begin + "50 Tz (Gate) Tj 10 0 Td (s) Tj 100 Tz ( shut) Tj ET", evenFont(""), nil, "Gates shut"},
		"raised letters": {begin + "(x) Tj /F1 7 Tf 5 4 Td (2) Tj /F1 10 Tf 3.5 -4 Td (+) Tj ET", evenFont(""), nil, "x2+"},
		"back in a line": {begin + "50 0 Td (two) Tj -50 0 Td (one) Tj ET", evenFont(""), nil, "two one"},
		"a page that is turned": {"0 1 -1 0 0 0 cm " + begin + "(One) Tj 15 0 Td (s) Tj 0 -12 Td (two) Tj ET", evenFont(""),
			nil, "Ones\ntwo"},
		"states are saved": {"q 5 0 0 5 0 0 cm Q Q " + begin + "(One) Tj ET q 2 0 0 2 0 0 cm BT 43.5 350 Td (s) Tj ET Q",
			evenFont(""), nil, "Ones"},
		"a form": {begin + "(One) Tj ET q /X Do Q BT 72 676 Td (three) Tj ET", evenFont(""),
			[]string{stream("/Subtype /Form /Matrix [1 0 0 1 0 -12]", "BT /F1 10 Tf 72 700 Td (two) Tj ET")}, "One\ntwo\nthree"},
		"a form that draws itself": {begin + "(One) Tj ET /X Do", evenFont(""),
			[]string{stream("/Subtype /Form", "q BT 0 -12 Td (two) Tj ET /X Do /X Do Q")},
			"One\n" + strings.TrimSpace(strings.Repeat("two ", 100))},
		"names of glyphs": {begin + "(\\001\\002 \\003\\004 caf\\005 \\221no\\222) Tj ET",
			evenFont("/Encoding << /Differences [1 /fi /f_f_l.alt /uni2013 /alpha /eacute] >>"), nil,
			"fiffl –α café ‘no’"},
		"the encoding of the font's program": {begin + "(e\\016cient a\\014x\\017) Tj ET", evenFont("/FontDescriptor 6 0 R"),
			descriptor("%!PS\n/Encoding 256 array\ndup 14 /ffi put dup 12/fi put\ndup 15 /dagger put\n"), "efficient afix"},
		"a table of codes": {begin + "(ab\\003) Tj ET", evenFont("/ToUnicode 6 0 R /Encoding << /Differences [97 /x /y] >>"),
			[]string{table("1 beginbfchar <61> <00470061> endbfchar 1 beginbfrange <02> <03> <00740065> endbfrange")}, "Gaytf"},
		"wide codes": {begin + "[<00010002> -300 <0003> <FFFF>]TJ ET",
			"<< /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [7 0 R] >>",
			[]string{table("2 beginbfrange <0001> <0002> [<D83DDEA2> <0061>] <0003> <0200> <0062> endbfrange"),
				"<< /DW 700 /W [1 [800] 2 3 500] >>"}, "🚢a b"},
		"wide codes without a table": {begin + "<00410042> Tj ET", "<< /Subtype /Type0 /Encoding /Identity-H >>", nil, ""},
		"codes that are text":        {begin + "<6F6E> Tj ET", "<< /Subtype /Type0 /Encoding /UniGB-UCS2-H >>", nil, "潮"},
		"words that a line divides": {begin + "14 TL (Two-phase tides, har-) Tj (bours and two-) ' (phase gates of the sea-) ' " +
			"(Side) ' (quay) ' ET", evenFont(""), nil, "Two-phase tides, harbours and two-phase gates of the sea-\nSide\nquay"},
		"ligatures": {begin + "<0001> Tj ET", "<< /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R >>",
			[]string{table("1 beginbfchar <0001> <FB03> endbfchar")}, "ffi"},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, err := pdf.Text(with(c.content, c.font, c.more...), 0)
			if err != nil || text != c.want {
				t.Errorf("Text = %q, %v; want %q", text, err, c.want)
			}
		})
	}
}

// packedDocument has its catalog and page in an object stream, found by a
// cross-reference stream.
func packedDocument() []byte {
	objects := []string{catalogue, onePage, pageDict}
	var numbers, bodies string
	for i, o := range objects {
		numbers += fmt.Sprintf("%d %d ", i+1, len(bodies))
		bodies += o + "\n"
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	offsets := map[int]int{}
	add := func(id int, object string) {
		offsets[id] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", id, object)
	}
	add(4, stream("/Filter /FlateDecode", deflate(hello)))
	add(5, font)
	add(6, stream(fmt.Sprintf("/Type /ObjStm /N 3 /First %d /Filter /FlateDecode", len(numbers)), deflate(numbers+bodies)))
	var rows []byte
	for id := range 8 {
		switch {
		case id >= 1 && id <= 3:
			rows = append(rows, 2, 0, 6, byte(id-1))
		case id == 7:
			rows = append(rows, 1, byte(b.Len()>>8), byte(b.Len()), 0)
		default:
			rows = append(rows, 1, byte(offsets[id]>>8), byte(offsets[id]), 0)
		}
	}
	at := b.Len()
	add(7, stream("/Type /XRef /Size 8 /W [1 2 1] /Root 1 0 R", string(rows)))
	fmt.Fprintf(&b, "startxref\n%d\n%%%%EOF\n", at)
	return b.Bytes()
}

func TestFilesWithFaultsAreRead(t *testing.T) {
	whole, packed := simple(hello), packedDocument()
	replaced := func(data []byte, old, new string) []byte {
		if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("nothing to replace: %q", old)
		}
		return bytes.ReplaceAll(data, []byte(old), []byte(new))
	}
	before := []byte("HTTP/1.1 200 OK\r\n\r\n")
	for name, data := range map[string][]byte{
		"with object streams":           packed,
		"bytes before the header":       append(bytes.Clone(before), whole...),
		"bytes that the offsets count":  replaced(whole, "%PDF-1.4\n", "%PDF-1.4\n% some more words\n"),
		"bytes below the end":           append(bytes.Clone(whole), strings.Repeat("\x00", 500)...),
		"a newer version":               replaced(whole, "%PDF-1.4", "%PDF-2.0"),
		"a header with more to it":      replaced(whole, "%PDF-1.4\n", "%PDF-1.4 \n"),
		"no cross-references":           whole[:bytes.Index(whole, []byte("startxref"))],
		"no end":                        replaced(whole, "%%EOF", ""),
		"a wrong place for them":        replaced(whole, "startxref\n", "startxref\n1"),
		"object streams and no place":   replaced(packed, "startxref\n", "startxref\n1"),
		"object streams, bytes between": replaced(packed, "%PDF-1.5\n", "%PDF-1.5\n% some more words\n"),
	} {
		t.Run(name, func(t *testing.T) {
			text, pages, err := pdf.Text(data, 0)
			if err != nil || pages != 1 || text != "The harbour opens at six.\nIt closes at nine." {
				t.Errorf("Text = %q, %d, %v", text, pages, err)
			}
		})
	}
}

// Each of these would hang, exhaust memory or overflow the stack of the
// parser if it were let through.
func TestHarmfulFilesAreErrors(t *testing.T) {
	selfLength := document("", catalogue, onePage, pageDict, "<< /Length 4 0 R >>\nstream\nx\nendstream", font)
	objects := "<< /Type /ObjStm /N 1 /First 4 /Length 7 >>\nstream\n9 0 <41\nendstream"
	escaped := strings.Replace(objects, "/ObjStm", "/Obj#53tm", 1)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":                       {nil, pdf.ErrMalformed},
		"no PDF":                        {[]byte("GIF89a"), pdf.ErrMalformed},
		"a header alone":                {[]byte("%PDF-1.4\n"), pdf.ErrMalformed},
		"no end":                        {[]byte("%PDF-1.4\n" + strings.Repeat("x", 300)), pdf.ErrMalformed},
		"a page ends in a string":       {simple("BT <41"), pdf.ErrMalformed},
		"objects end in a string":       {document("", catalogue, objects), pdf.ErrMalformed},
		"an escaped name hides nothing": {document("", catalogue, escaped), pdf.ErrMalformed},
		"a huge cross-reference stream": {document("", catalogue, "<< /Type /XRef /Size 9999999999 /W [1 2 1] >>"),
			pdf.ErrLimit},
		"huge widths":  {document("", catalogue, "<< /Type /XRef /W [1 99999999999 1] >>"), pdf.ErrLimit},
		"huge rows":    {document("", catalogue, "<< /Predictor 12 /Columns 4000000000 >>"), pdf.ErrLimit},
		"a huge table": {[]byte("%PDF-1.4\nxref\n0 1\n4000000000 1\n"), pdf.ErrLimit},
		"pages beyond the file": {document("", catalogue, "<< /Type /Pages /Kids [] /Count 123456 >>"),
			pdf.ErrMalformed},
		"a length that is its own": {selfLength, nil},
		"a table of more codes than there are": {with("BT /F1 1 Tf <01> Tj ET", evenFont("/ToUnicode 6 0 R"), stream("",
			"1 beginbfrange "+strings.Repeat("<0000> <FFFF> <0000> ", 1000)+" endbfrange")), nil},
		"texts of codes that are as long as a page": {with("BT /F1 1 Tf <01> Tj ET", evenFont("/ToUnicode 6 0 R"),
			stream("/Filter /FlateDecode", deflate("1 beginbfrange "+strings.Repeat("<0000> <FFFF> <"+
				strings.Repeat("0041", 20_000)+"> ", 100)+" endbfrange"))), nil},
		"states without end": {simple(strings.Repeat("q ", 1<<20)), nil},
		"objects of far ids": {[]byte("%PDF-1.4\n262143 0 obj null endobj 9999999 0 obj null endobj /Root 262143 0 R"),
			pdf.ErrMalformed},
		"nothing but objects": {[]byte("%PDF-1.4\n" + strings.Repeat("1 0 obj /ObjStm /N 999999 stream\n", 1000) +
			"/Root 1 0 R"), pdf.ErrMalformed},
		"a compression bomb": {document("", catalogue, onePage, pageDict,
			stream("/Filter /FlateDecode", deflate(strings.Repeat(" ", 20<<20))), font), pdf.ErrLimit},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, err := pdf.Text(c.data, 0)
			if text != "" || !errors.Is(err, c.want) {
				t.Errorf("Text = %q, %v; want error %v", text, err, c.want)
			}
		})
	}
}

func TestTheTimeOfAFileIsThatOfItsSize(t *testing.T) {
	for size, want := range map[int]time.Duration{0: 2, 1_000_000: 3, 5_000_000: 7, 18_000_000: 20, 64 << 20: 20} {
		if got := pdf.Budget(size); got != want*time.Second {
			t.Errorf("%d bytes: %v, want %d s", size, got, want)
		}
	}
	small := simple(hello)
	for used, want := range map[time.Duration]error{time.Second: nil, 3 * time.Second: pdf.ErrLimit} {
		text, _, err := pdf.Read(small, used)
		if (text == "") != (want != nil) || !errors.Is(err, want) ||
			err != nil && !strings.Contains(err.Error(), "PDF exceeds a limit: 2.0") {
			t.Errorf("after %v: %q, %v", used, text, err)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(simple(hello))
	f.Add(simple("BT /F1 1 Tf <41 42> Tj [(a) 10 (b)] TJ T* (x) ' ET"))
	f.Add(document("", catalogue, onePage, pageDict, stream("/Filter /FlateDecode", deflate(hello)), font))
	f.Add(document("/Prev 9 ", catalogue, onePage, pageDict, stream("", hello), font))
	f.Add(document("", catalogue, "<< /Type /Pages /Kids [2 0 R] /Count 1 /Parent 2 0 R >>"))
	f.Add([]byte("%PDF-1.7\n%%EOF"))
	f.Add(packedDocument())
	f.Add(bytes.ReplaceAll(packedDocument(), []byte("startxref"), nil))
	f.Add(with("BT /F1 1 Tf (a) Tj /X Do ET", evenFont("/ToUnicode 7 0 R"), stream("/Subtype /Form", "/X Do (a) Tj"),
		stream("", "1 beginbfrange <00> <ff> <0061> endbfrange 1 beginbfchar <61> <0062> endbfchar")))
	f.Add(with("BT /F1 1 Tf <0041> Tj ET", "<< /Subtype /Type0 /DescendantFonts [<< /W [1 [2] 3 4 5] >>] >>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip()
		}
		text, pages, err := pdf.Text(data, 1000)
		if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 1000 || pages < 0 {
			t.Errorf("Text = %q, %d", text, pages)
		}
		if err != nil && text != "" {
			t.Errorf("text %q with %v", text, err)
		}
	})
}
