package video

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"almanac/catalog"
	"almanac/text/markup"
	"almanac/text/webpage"
)

// errNoTranscript: the bytes are neither WebVTT nor SubRip.
var errNoTranscript = errors.New("not a transcript: no line has times such as 00:01.000 --> 00:02.000")

// transcript is the spoken text of a recording.
type transcript struct {
	text      string
	cues      []catalog.Cue
	language  string // as declared in the file
	automatic bool   // generated, as far as can be detected
}

// caption is a caption of a transcript with its times.
type caption struct {
	start, end time.Duration
	speaker    string
	lines      []string
}

const (
	maxTranscript = 8 << 20 // bytes
	maxCaptions   = 100_000
)

var (
	timing = regexp.MustCompile(
		`^\s*((?:\d{1,3}:)?\d{1,2}:\d{1,2}[.,]\d{1,3})\s*-->\s*((?:\d{1,3}:)?\d{1,2}:\d{1,2}[.,]\d{1,3})`)
	header = regexp.MustCompile(`(?i)^\s*(kind|language)\s*[:=]\s*(\S.*?)\s*$`)
	digits = regexp.MustCompile(`^\s*\d+\s*$`)
	voice  = regexp.MustCompile(`<v(?:\.[^\s>]*)?\s+([^>]+)>`)
	timed  = regexp.MustCompile(`<\d+:\d\d(?::\d\d)?\.\d{3}>`)
	tags   = regexp.MustCompile(`<[^>]{0,200}>|\{\\[^}]{0,200}\}`)
	// sound matches descriptions of sounds.
	sound = regexp.MustCompile(`^(?:[\[(][^\])]*[\])]|[♪♫#\s]+|♪.*♪)$`)
	// turn matches the marks of a change of speaker.
	turn = regexp.MustCompile(`^(?:>>+|[-–—])\s*(\S)`)
)

// parseTranscript reads WebVTT (W3C) or SubRip. It is lenient with malformed
// files: every line with times begins a caption that ends with an empty line,
// and everything else is skipped.
func parseTranscript(data []byte, contentType string) (transcript, error) {
	var t transcript
	var captions []caption
	var open *caption
	begun := false
	for line := range strings.SplitSeq(markup.Clean(webpage.Decode(data, contentType)), "\n") {
		m := timing.FindStringSubmatch(line)
		switch {
		case m != nil && len(captions) < maxCaptions:
			if open != nil && len(open.lines) > 0 && digits.MatchString(open.lines[len(open.lines)-1]) {
				open.lines = open.lines[:len(open.lines)-1] // the number of this caption
			}
			captions = append(captions, caption{start: clock(m[1]), end: clock(m[2])})
			open, begun = &captions[len(captions)-1], true
		case line == "": // a line of blanks has scrolled away
			open = nil
		case open != nil:
			t.automatic = t.automatic || timed.MatchString(line)
			open.read(line)
		case !begun:
			if h := header.FindStringSubmatch(line); h != nil && strings.EqualFold(h[1], "language") {
				t.language = h[2]
			} else if h != nil {
				t.automatic = t.automatic || strings.EqualFold(h[2], "asr")
			}
		}
	}
	if !begun {
		return t, errNoTranscript
	}
	t.write(unroll(captions, t.automatic))
	return t, nil
}

// read adds a line, without its markup, to the caption.
func (c *caption) read(line string) {
	if m := voice.FindStringSubmatch(line); m != nil {
		c.speaker = strings.Join(strings.Fields(html.UnescapeString(m[1])), " ")
	}
	line = strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(line, ""))), " ")
	if line != "" {
		c.lines = append(c.lines, markup.Clean(line))
	}
}

// clock parses hours, minutes and seconds.
func clock(s string) time.Duration {
	whole, fraction, _ := strings.Cut(strings.ReplaceAll(s, ",", "."), ".")
	var seconds int64
	for part := range strings.SplitSeq(whole, ":") {
		n, _ := strconv.ParseInt(part, 10, 64) // at most three digits
		seconds = seconds*60 + n
	}
	millis, _ := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	return time.Duration(seconds)*time.Second + time.Duration(millis)*time.Millisecond
}

const (
	// contiguous is the maximum gap between two captions of which the second
	// repeats the first.
	contiguous = 100 * time.Millisecond
	// brief is the maximum duration of a caption that only scrolls.
	brief = 50 * time.Millisecond
)

// unroll removes the repetitions in captions that scroll up: each begins with
// the last lines of the previous one. In captions written by a person, an exact
// repetition may really be spoken twice.
func unroll(captions []caption, automatic bool) []caption {
	var before caption
	for i, c := range captions {
		most := min(len(before.lines), len(c.lines))
		if !automatic && c.end-c.start > brief {
			most = min(most, len(c.lines)-1)
		}
		if i > 0 && c.start-before.end <= contiguous {
			for n := most; n > 0; n-- {
				if slices.Equal(before.lines[len(before.lines)-n:], c.lines[:n]) {
					captions[i].lines = c.lines[n:]
					break
				}
			}
		}
		before = c
	}
	return captions
}

const (
	pause         = 4 * time.Second // of silence ends a paragraph
	paragraph     = 60              // words, after which a sentence ends one
	longParagraph = 150             // words, after which it ends anywhere
	section       = time.Minute     // at least, between two headings
)

// write makes the text: paragraphs that end at a change of speaker, at a pause
// or after enough words, under headings with the time. Their anchors are media
// fragments (W3C Media Fragments URI 1.0, 4.2.1), so that the recording's
// address with an anchor leads to the place.
func (t *transcript) write(captions []caption) {
	var b strings.Builder
	words := 0
	speaker := ""
	var end, heading time.Duration
	for _, c := range captions {
		begun := false
		for _, line := range c.lines {
			if sound.MatchString(line) {
				continue
			}
			rest := turn.ReplaceAllString(line, "$1")
			said := strings.TrimRightFunc(b.String()[max(0, b.Len()-8):], unicode.IsSpace)
			sentence := strings.HasSuffix(said, ".") || strings.HasSuffix(said, "?") || strings.HasSuffix(said, "!")
			switch first := b.Len() == 0; {
			case first || rest != line || c.speaker != speaker || c.start-end > pause ||
				words >= paragraph && sentence || words >= longParagraph:
				if !first {
					b.WriteString("\n\n")
				}
				if first || c.start-heading >= section {
					heading = c.start
					seconds := int(c.start / time.Second)
					fmt.Fprintf(&b, "## %s {#t=%d}\n\n", clockTime(seconds), seconds)
				}
				words = 0
			default:
				b.WriteByte(' ')
			}
			if !begun {
				t.cues = append(t.cues, catalog.Cue{Seconds: c.start.Seconds(), Offset: b.Len()})
				begun = true
			}
			if c.speaker != speaker && c.speaker != "" {
				b.WriteString(c.speaker + ": ")
			}
			speaker = c.speaker
			b.WriteString(rest)
			words += len(strings.Fields(rest))
			end = c.end
		}
	}
	t.text = b.String()
}

// clockTime formats seconds as players do.
func clockTime(seconds int) string {
	if seconds < 3600 {
		return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}
