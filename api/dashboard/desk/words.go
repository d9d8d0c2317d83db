package desk

import (
	"strings"

	"almanac/retrieval/analysis"
)

// Words are those of a text as searches see them, each between spaces.
func Words(text string) string {
	var out strings.Builder
	out.WriteByte(' ')
	for _, t := range analysis.Analyze(text) {
		out.WriteString(t.Word(text))
		out.WriteByte(' ')
	}
	return out.String()
}
