package desk

import "almanac/retrieval/analysis"

// Words are those of a text as searches see them, each between spaces.
func Words(text string) string {
	out := " "
	for _, t := range analysis.Analyze(text) {
		out += t.Word(text) + " "
	}
	return out
}
