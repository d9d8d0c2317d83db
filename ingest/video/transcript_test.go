package video

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

func TestParseTranscript(t *testing.T) {
	tests := map[string]struct {
		data string
		want transcript
	}{
		"WebVTT": {
			"\xef\xbb\xbfWEBVTT - a title\nKind: captions\nLanguage: en-GB\n\nSTYLE\n::cue { color: red }\n\nNOTE " +
				"made by hand\n\n" +
				"intro\n00:01.000 --> 00:03.500 align:start position:0% line:-1\n<v.loud Ada Quay>Good " +
				"morning,</v>\n<i>everybody</i> &amp; welcome.\n\n" +
				"1:00:04.000 --> 1:00:06.000\n<v Bram Pier>Thank you.\n\n",
			transcript{
				text: "## 0:01 {#t=1}\n\nAda Quay: Good morning, everybody & welcome.\n\n## 1:00:04 " +
					"{#t=3604}\n\nBram Pier: Thank you.", language: "en-GB",
				cues: []catalog.Cue{{Seconds: 1, Offset: 16}, {Seconds: 3604, Offset: 84}},
			},
		},
		"SubRip": {
			"1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}<font " +
				"color=\"#fff\">Hello.</font>\r\n\r\n2\r\n00:00:02,500 --> 00:00:04,000 X1:10\r\n- Who is it?\r\n- " +
				"The keeper.\r\n" +
				"3\r\n00:00:04,000 --> 00:00:05,000\r\nFine.\r\n",
			transcript{
				text: "## 0:01 {#t=1}\n\nHello.\n\nWho is it?\n\nThe keeper. Fine.",
				cues: []catalog.Cue{{Seconds: 1, Offset: 16}, {Seconds: 2.5, Offset: 24}, {Seconds: 4, Offset: 48}},
			},
		},
		"captions that scroll": {
			"WEBVTT\nKind: captions\nLanguage: en\n\n00:00:00.000 --> 00:00:02.000 align:start position:0%\n " +
				"\nso<00:00:00.300><c> the</c><00:00:00.900><c> gate</c>\n\n" +
				"00:00:02.000 --> 00:00:02.010 align:start position:0%\nso the gate\n \n\n" +
				"00:00:02.010 --> 00:00:05.000 align:start position:0%\nso the gate\nopens<00:00:02.300><c> " +
				"twice</c>\n\n" +
				"00:00:05.000 --> 00:00:05.010\nopens twice\n \n\n00:00:05.010 --> 00:00:07.000\nopens twice\n[Music]\n",
			transcript{
				text: "## 0:00 {#t=0}\n\nso the gate opens twice", language: "en", automatic: true,
				cues: []catalog.Cue{{Offset: 16}, {Seconds: 2.01, Offset: 28}},
			},
		},
		"a pause": {
			"WEBVTT\n\n00:01.000 --> 00:02.000\nOne\n\n00:02.000 --> 00:03.000\ntwo\n\n00:10.000 --> 00:11.000\n♪ " +
				"music ♪\n\n00:12.000 --> 00:13.000\nthree\n",
			transcript{text: "## 0:01 {#t=1}\n\nOne two\n\nthree", cues: []catalog.Cue{{Seconds: 1, Offset: 16},
				{Seconds: 2, Offset: 20}, {Seconds: 12, Offset: 25}}},
		},
		"broken captions": {
			"WEBVTT\n\n00:01.000 -->\nlost\n\n99 --> x\nlost\n\n00:01,5 --> 00:02.25\nK\xf6ln\x00\n00:03.000 --> " +
				"00:02.000\n\n",
			transcript{text: "## 0:01 {#t=1}\n\nKöln", cues: []catalog.Cue{{Seconds: 1.5, Offset: 16}}},
		},
		"nothing said": {"WEBVTT\n\n00:01.000 --> 00:02.000\n[Music]\n", transcript{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseTranscript([]byte(tt.data), "text/vtt")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(transcript{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for name, data := range map[string]string{"nothing": "", "a page": "<!doctype html><p>Sign in",
		"a header alone": "WEBVTT\n\n", "binary": "\x00\xff\xfe"} {
		if _, err := parseTranscript([]byte(data), ""); !errors.Is(err, errNoTranscript) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParagraphs(t *testing.T) {
	var b strings.Builder
	b.WriteString("WEBVTT\n\n")
	for i := range 100 {
		sentence := "ten words of a talk that nobody interrupts for long"
		if i%3 == 2 {
			sentence += "."
		}
		b.WriteString(strings.ReplaceAll("00:MM:SS.000 --> 00:MM:SS.900\n"+sentence+"\n\n", "MM:SS", clockOf(i)))
	}
	got, err := parseTranscript([]byte(b.String()), "")
	if err != nil || len(got.cues) != 100 {
		t.Fatalf("%d cues, %v", len(got.cues), err)
	}
	var paragraphs, headings []string
	for p := range strings.SplitSeq(got.text, "\n\n") {
		if strings.HasPrefix(p, "## ") {
			headings = append(headings, p)
		} else {
			paragraphs = append(paragraphs, p)
		}
	}
	if diff := cmp.Diff([]string{"## 0:00 {#t=0}", "## 1:00 {#t=60}"}, headings); diff != "" {
		t.Errorf("headings (-want +got)\n%s", diff)
	}
	for _, p := range paragraphs[:len(paragraphs)-1] {
		if n := len(strings.Fields(p)); n < 60 || n > 100 || !strings.HasSuffix(p, ".") {
			t.Errorf("a paragraph of %d words: %q", n, p)
		}
	}
	for i, c := range got.cues {
		if c.Seconds != float64(i) || !strings.HasPrefix(got.text[c.Offset:], "ten words") {
			t.Errorf("cue %d: %+v", i, c)
		}
	}
}

func clockOf(seconds int) string {
	return string([]byte{'0', byte('0' + seconds/60), ':', byte('0' + seconds%60/10), byte('0' + seconds%10)})
}

func FuzzTranscript(f *testing.F) {
	for _, seed := range []string{
		"WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>x</v>\n", "1\n00:00:01,000 --> 00:00:02,000\nx\n\n",
		"999:99:99.999 --> 00:00.0\n>> \n- \n♪", "00:00.0 --> 00:00.0\n<<<<{\\{\\\n&#0;&lt;",
		"Language: \nKind: asr\n0:0.0 --> 0:0.0\nx\n0:0.0 --> 0:0.0\nx\n1\n0:0.0 --> 0:0.0\n\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseTranscript(data, "")
		if err != nil {
			return
		}
		if !utf8.ValidString(got.text) {
			t.Errorf("text %q", got.text)
		}
		before := -1
		for _, c := range got.cues {
			if c.Offset <= before || c.Offset >= len(got.text) || c.Seconds < 0 || !utf8.RuneStart(got.text[c.Offset]) {
				t.Fatalf("cue %+v after %d in a text of %d bytes", c, before, len(got.text))
			}
			before = c.Offset
		}
	})
}
