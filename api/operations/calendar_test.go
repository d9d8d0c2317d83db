package operations

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"almanac/api/kb"
)

// TestCalendarLines holds the form of content lines (RFC 5545 3.1): each ends in
// CRLF, the last one too, and has at most 75 octets; longer ones go on behind a
// space, never inside a character.
func TestCalendarLines(t *testing.T) {
	starts := time.Date(2030, 5, 18, 12, 0, 0, 0, time.UTC)
	title := "Upgrade of the gauges: " + strings.Repeat("Größe, ", 30) + "ends"
	text, err := writeCalendar(Calendar{Title: "Tidewater", Network: "tidewater", Items: []Scheduled{
		{Item: kb.Item{Key: "op-1", Title: title, URL: "https://tide.example/" + strings.Repeat("berth/", 30)},
			Type: "upgrade", Environments: []string{"mainnet"}, Starts: &starts},
		{Item: kb.Item{Key: "op-2", Title: "Two\nlines", URL: "https://tide.example/\r\nATTACH:https://reef.example/"},
			Starts: &starts, AllDay: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := strings.CutSuffix(string(text), "\r\n")
	if !ok {
		t.Errorf("the last line ends otherwise: %q", text[max(0, len(text)-20):])
	}
	unfolded := strings.ReplaceAll(rest, "\r\n ", "")
	for line := range strings.SplitSeq(rest, "\r\n") {
		if strings.HasPrefix(line, "ATTACH") || len(line) > 75 || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
			t.Errorf("a line of %d octets: %q", len(line), line)
		}
	}
	for _, want := range []string{
		"SUMMARY:" + strings.ReplaceAll(title, ",", `\,`) + "\r\n", `SUMMARY:Two\nlines` + "\r\n",
	} {
		if !strings.Contains(unfolded, want) {
			t.Errorf("no %q in %s", want, unfolded)
		}
	}
}
