package pdf_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"strings"
	"testing"
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

func FuzzText(f *testing.F) {
	f.Add(simple(hello))
	f.Add(simple("BT /F1 1 Tf <41 42> Tj [(a) 10 (b)] TJ T* (x) ' ET"))
	f.Add(document("", catalogue, onePage, pageDict, stream("/Filter /FlateDecode", deflate(hello)), font))
	f.Add(document("/Prev 9 ", catalogue, onePage, pageDict, stream("", hello), font))
	f.Add(document("", catalogue, "<< /Type /Pages /Kids [2 0 R] /Count 1 /Parent 2 0 R >>"))
	f.Add([]byte("%PDF-1.7\n%%EOF"))
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
