package proposal

import (
	"regexp"
	"slices"
	"strings"

	"almanac/text/markdown"
)

// nameText is how many bytes of a text are searched for its subject.
const nameText = 3000

var (
	boldSpan = regexp.MustCompile(`\*\*([^*\n]{3,80})\*\*(:?)`)
	// properName matches words with capital letters and their connectives.
	properName = regexp.MustCompile(`^\p{Lu}[^\s]*(?:\s+(?:(?:&|and|of|for|on|the)\s+)?[\p{Lu}(][^\s]*){0,7}$`)
	// definition matches how a text introduces its subject: "The Pilot Chart
	// (PC) is an …".
	definition = regexp.MustCompile(`^(?:The\s+)?(\p{L}[\pL\d'.&/-]*(?:\s+(?:for|of|on|and|&|` +
		`\p{Lu}[\pL\d'.&/-]*)){0,6}(?:\s+\([^()]{2,60}\))?)\s+(?:is|are)\s+(?:a|an|the)\s`)
	// coined matches a word like PilotChart.
	coined = regexp.MustCompile(`(?:^|\s)\p{Lu}\p{Ll}+\p{Lu}`)
	// partName matches a part of a proposal, which may be in bold like a name.
	partName = regexp.MustCompile(`(?i)^(?:milestone|phase|total|problem|note|objective|goal|step|stage|table|why|` +
		`what|how|who|key|current|existing|no|not|our|this|these|all|part|team|status|open[- ]source|live)\b`)
)

// namedIn returns the name of the proposed thing from the start of a text: a
// proper name in bold, or one that it defines ("Name is a …"). Texts also start
// by describing what exists: so the name must contain half the words of the
// file name, or look coined, unless the file has no name. It is empty if no
// name says more than the file name.
func namedIn(body, fileName string, names map[string]bool) string {
	words := telling(fileName, names)
	fits := func(name string) bool {
		if !isName(name, names) {
			return false
		}
		own, shared := telling(name, names), 0
		for _, w := range own {
			if slices.Contains(words, w) {
				shared++
			}
		}
		return len(words) == 0 || shared < len(own) && 2*shared >= len(words) || shared == 0 && coined.MatchString(name)
	}
	body = cutBytes(body, nameText)
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if heading.MatchString(line) {
			continue
		}
		for _, m := range boldSpan.FindAllStringSubmatch(line, -1) {
			if name := strings.Trim(plain(m[1]), " .,"); len(m[0]) < len(line) && m[2] == "" && fits(name) {
				return name
			}
		}
		if m := definition.FindStringSubmatch(plain(line)); m != nil && fits(m[1]) {
			return m[1]
		}
	}
	return ""
}

// isName reports whether a phrase can be a proposal's name.
func isName(name string, names map[string]bool) bool {
	return properName.MatchString(name) && !strings.ContainsAny(name, ",:;/") && !partName.MatchString(name) &&
		!sectionName.MatchString(name) && !generic(name, names)
}

// telling returns the words of a name that are not generic, in lower case.
func telling(name string, names map[string]bool) []string {
	words := markdown.Words(name)
	return slices.DeleteFunc(words, func(w string) bool { return generic(w, names) })
}
