// Package pdf reads the text layer of untrusted PDF files: it bounds the time,
// memory and recursion that a file can cost and turns every failure into an
// error. It imports no other package of this module.
package pdf

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"

	"almanac/text/prose"
)

// Errors of Text, wrapped with the detail.
var (
	// ErrMalformed: the file is not a PDF, or cannot be read.
	ErrMalformed = errors.New("malformed PDF")
	// ErrLimit: reading the file exceeds the limits of time or memory.
	ErrLimit = errors.New("PDF exceeds a limit")
)

const (
	maxBytes  = 64 << 20         // of a file
	maxPages  = 2000             // pages read; further ones are only counted
	maxStream = 16 << 20         // of one decoded stream
	maxTime   = 20 * time.Second // for a file
	maxFrames = 20_000           // of the call stack while parsing; Go's limit is a fatal 1 GB
	// of at most 4 KiB, plus one for every 16 bytes; real files need some hundreds per page
	maxReads = 200_000
)

// budget is how long a processor may read a file of a size: two seconds, and one more for each megabyte. A text of
// 300 pages takes about one.
func budget(bytes int) time.Duration {
	return min(2*time.Second+time.Duration(bytes)*time.Second/1_000_000, maxTime)
}

// Text extracts the text of a PDF, page by page, up to maxChars characters (0 =
// all), and returns its number of pages. A scanned document has pages but no
// text. Unreadable pages are skipped; an error is returned only if nothing can
// be read. It never panics.
func Text(data []byte, maxChars int) (text string, pages int, err error) {
	if len(data) > maxBytes {
		return "", 0, fmt.Errorf("pdf: %d bytes: %w", len(data), ErrLimit)
	}
	if err := inspect(data); err != nil {
		return "", 0, fmt.Errorf("pdf: %w", err)
	}
	type result struct {
		text  string
		pages int
		err   error
	}
	done := make(chan result, 1)
	// In a separate goroutine, so that a loop inside the parser cannot block
	// the caller; guard stops the parser at its next read.
	go func() {
		var r result
		runtime.LockOSThread() // whose processor time is that of the file
		defer runtime.UnlockOSThread()
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("%w: %w", ErrMalformed, cause(p))
			}
			done <- r
		}()
		began := threadTime()
		used := func() time.Duration { return threadTime() - began }
		g := &guard{data: trimmed(data), used: used, most: budget(len(data))}
		if r.text, r.pages, r.err = read(g, maxChars); r.err == nil || errors.Is(r.err, ErrLimit) {
			return
		}
		if again, err := rebuilt(g.data); err == nil {
			text, pages, err := read(&guard{data: again, used: used, most: g.most}, maxChars)
			if err == nil && pages > 0 {
				r = result{text: text, pages: pages}
			}
		}
	}()
	timer := time.NewTimer(maxTime + time.Second)
	defer timer.Stop()
	select {
	case r := <-done:
		if r.err != nil {
			return "", r.pages, fmt.Errorf("pdf: %w", r.err)
		}
		return r.text, r.pages, nil
	case <-timer.C:
		return "", 0, fmt.Errorf("pdf: not finished after %v: %w", maxTime, ErrLimit)
	}
}

// read walks the pages.
func read(g *guard, maxChars int) (string, int, error) {
	r, err := pdf.NewReader(g, int64(len(g.data)))
	if err != nil {
		return "", 0, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	pages := r.NumPage()
	if pages < 0 || pages > len(g.data) {
		return "", 0, fmt.Errorf("%w: %d pages", ErrMalformed, pages)
	}
	var out strings.Builder
	var firstErr error
	chars := 0
	for n := 1; n <= min(pages, maxPages); n++ {
		if err := g.exceeded(); err != nil {
			firstErr = err
			break
		}
		text, err := page(r, n, g.exceeded)
		if err == nil {
			err = g.exceeded() // which a font is left out for
		}
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			continue
		}
		text = tidy(text)
		if text == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
			chars += 2
		}
		if left := maxChars - chars; maxChars > 0 && utf8.RuneCountInString(text) >= left {
			out.WriteString(prose.First(text, left))
			return strings.TrimSpace(out.String()), pages, nil
		}
		out.WriteString(text)
		chars += utf8.RuneCountInString(text)
	}
	if out.Len() == 0 && firstErr != nil {
		return "", pages, fmt.Errorf("%w: %w", ErrMalformed, firstErr)
	}
	return out.String(), pages, nil
}

// cause returns a panic's value as an error.
func cause(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("%v", p)
}

// page reads a page's text.
func page(r *pdf.Reader, n int, check func() error) (s string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("page %d: %w", n, cause(p))
		}
	}()
	p := r.Page(n)
	if p.V.IsNull() {
		return "", nil
	}
	if s, err = text(p, check); err != nil {
		return "", fmt.Errorf("page %d: %w", n, err)
	}
	return s, nil
}

// checkContent reads a content stream (or an array of them, which is read as
// one) within the size limit and rejects one that ends inside a string: the
// parser would wait for its end forever.
func checkContent(v pdf.Value) error {
	var readers []io.Reader
	switch v.Kind() {
	case pdf.Stream:
		readers = append(readers, v.Reader())
	case pdf.Array:
		for i := range v.Len() {
			readers = append(readers, v.Index(i).Reader())
		}
	default:
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(io.MultiReader(readers...), maxStream+1))
	if err != nil {
		return err
	}
	if len(data) > maxStream {
		return ErrLimit
	}
	if !terminated(data) {
		return fmt.Errorf("%w: a stream ends inside a string", ErrMalformed)
	}
	return nil
}

// guard is the file as seen by the parser. It stops the parser, by panicking,
// when time is up or the parser recurses endlessly.
type guard struct {
	data  []byte
	used  func() time.Duration // of a processor
	most  time.Duration
	reads int
}

func (g *guard) exceeded() error {
	if g.used() > g.most {
		return fmt.Errorf("%w: %v of a processor", ErrLimit, g.most)
	}
	return nil
}

// header replaces a file's, of which the parser knows few versions and one form.
const header = "%PDF-1.7\n"

// ReadAt implements io.ReaderAt. Offsets come from the file and can have any
// value.
func (g *guard) ReadAt(p []byte, off int64) (int, error) {
	g.reads++
	if g.reads > maxReads+len(g.data)/16 {
		panic(fmt.Errorf("%w: the file goes in circles", ErrLimit))
	}
	if g.reads%64 == 0 {
		if err := g.exceeded(); err != nil {
			panic(err)
		}
		if runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
			panic(fmt.Errorf("%w: nesting", ErrLimit))
		}
	}
	if off < 0 || off >= int64(len(g.data)) {
		return 0, io.EOF
	}
	n := copy(p, g.data[off:])
	if off < int64(len(header)) {
		copy(p[:n], header[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// tidy cleans a page's text: valid text without control characters, ligatures or
// blank lines, and words that a line's end divides in one. If the producer
// positioned every word separately, the words of a page become one line.
func tidy(s string) string {
	s = ligatures.Replace(s)
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r':
			return '\n'
		case unicode.IsSpace(r) || r == '\u200b':
			return ' '
		case r == '\u00ad':
			return r
		case unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
	var lines []string
	words := 0
	for line := range strings.Lines(s) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, strings.Join(fields, " "))
			words += len(fields)
		}
	}
	if len(lines) > 20 && words < 2*len(lines) {
		return strings.Join(lines, " ")
	}
	return joined(strings.Join(lines, "\n"))
}

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

var (
	compound = regexp.MustCompile(`\pL+-\pL+`)
	divided  = regexp.MustCompile(`(\pL+)[-\x{2010}\x{00ad}]\n(\p{Ll}+)`)
)

// joined joins the words that are divided at the end of a line. The hyphen stays
// if the text has the word with it elsewhere.
func joined(s string) string {
	hyphenated := map[string]bool{}
	for _, word := range compound.FindAllString(s, -1) {
		hyphenated[strings.ToLower(word)] = true
	}
	s = divided.ReplaceAllStringFunc(s, func(word string) string {
		m := divided.FindStringSubmatch(word)
		if hyphenated[strings.ToLower(m[1]+"-"+m[2])] {
			return m[1] + "-" + m[2]
		}
		return m[1] + m[2]
	})
	return strings.ReplaceAll(s, "\u00ad", "")
}
