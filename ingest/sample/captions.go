package sample

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A transcript is paragraphs that begin with the time at which they are spoken, and mostly with who speaks:
//
//	[0:01] Mirela Eelgrass: I have two chairs and a teapot.
var turnStart = regexp.MustCompile(`^\[(\d+):([0-5]\d)\] (?:([A-Z][\p{L}]+ [A-Z][\p{L}]+|Causeway Foundation): )?`)

const (
	wordsOfCue  = 16
	timeOfWord  = 410 * time.Millisecond
	betweenCues = 100 * time.Millisecond
)

// captions cuts a transcript into those of WebVTT, as long as they take to say.
func captions(text string) (string, error) {
	var out strings.Builder
	var end time.Duration
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		m := turnStart.FindStringSubmatch(paragraph)
		if m == nil {
			return "", fmt.Errorf("%.40q begins with no time such as [3:10]", paragraph)
		}
		minutes, _ := strconv.Atoi(m[1]) // digits
		seconds, _ := strconv.Atoi(m[2])
		start := time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
		if start < end {
			return "", fmt.Errorf("%.40q begins before the paragraph above it is said, at %s", paragraph, end)
		}
		voice := ""
		if m[3] != "" {
			voice = "<v " + m[3] + ">"
		}
		for words := range slices.Chunk(strings.Fields(paragraph[len(m[0]):]), wordsOfCue) {
			end = start + time.Duration(len(words))*timeOfWord
			fmt.Fprintf(&out, "\n%s --> %s\n%s%s\n", clock(start), clock(end), voice, strings.Join(words, " "))
			start = end + betweenCues
		}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d:%06.3f", int(d.Hours()), int(d.Minutes())%60, (d % time.Minute).Seconds())
}
