package proposals

import (
	"regexp"
	"slices"
	"strings"
)

// nameText is how far into the text its subject is looked for, in bytes.
const nameText = 3000

var (
	boldSpan = regexp.MustCompile(`\*\*([^*\n]{3,80})\*\*(:?)`)
	// properName is words with capital letters and what may join them.
	properName = regexp.MustCompile(`^\p{Lu}[^\s]*(?:\s+(?:(?:&|and|of|for|on|the)\s+)?[\p{Lu}(][^\s]*){0,7}$`)
	// definition is how a text introduces what it is about: "The Pilot Chart
	// (PC) is an …".
	definition = regexp.MustCompile(`^(?:The\s+)?(\p{L}[\pL\d'.&/-]*(?:\s+(?:for|of|on|and|&|\p{Lu}[\pL\d'.&/-]*)){0,6}(?:\s+\([^()]{2,60}\))?)\s+(?:is|are)\s+(?:a|an|the)\s`)
	// coined finds a word like PilotChart.
	coined = regexp.MustCompile(`(?:^|\s)\p{Lu}\p{Ll}+\p{Lu}`)
	// partName is a part of a proposal, which may be set in bold like a name.
	partName = regexp.MustCompile(`(?i)^(?:milestone|phase|total|problem|note|objective|goal|step|stage|table|why|what|how|who|key|current|existing|no|not|our|this|these|all|part|team|status|open[- ]source|live)\b`)
)

// namedIn is what the beginning of a text calls the thing it proposes: a
// proper name in bold, or one that it defines ("Name is a …"). Texts begin by
// telling what exists, too: so the name must have half the words of the file's,
// or look coined, unless the file has none. Empty if there is none, or none
// that says more than the file's.
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

// isName says whether a phrase can be a proposal's name.
func isName(name string, names map[string]bool) bool {
	return properName.MatchString(name) && !strings.ContainsAny(name, ",:;/") && !partName.MatchString(name) &&
		!sectionName.MatchString(name) && !generic(name, names)
}

// telling lists the words of a name that are not generic, in lower case.
func telling(name string, names map[string]bool) []string {
	words := fields(name)
	return slices.DeleteFunc(words, func(w string) bool { return generic(w, names) })
}
