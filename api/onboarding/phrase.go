package onboarding

import (
	"regexp"
	"slices"
	"strings"

	"almanac/api/kb/deprecated"
	"almanac/catalog/derive"
	"almanac/text/prose"
)

// nounPhrase returns the phrase at the end of a text, folded: up to three words
// without one that cannot be in it. A single word is too general, unless it is
// an identifier; so are words such as default value, which mean what was spoken
// of before.
func nounPhrase(before string) string {
	words := strings.Fields(before)
	var phrase []string
	for i := len(words) - 1; i >= 0 && len(phrase) < 3; i-- {
		w := strings.Trim(words[i], `"'“”‘’*`)
		if w == "" || prose.StopWords[strings.ToLower(w)] || !phraseWord.MatchString(w) {
			break
		}
		phrase = append([]string{w}, phrase...)
	}
	if len(phrase) == 0 || len(phrase) == 1 && !joinedWord.MatchString(phrase[0]) ||
		!slices.ContainsFunc(phrase, func(w string) bool { return !generic[strings.ToLower(w)] }) {
		return ""
	}
	folded := strings.ToLower(strings.Join(phrase, " "))
	if joinedWord.MatchString(phrase[len(phrase)-1]) || strings.HasSuffix(folded, "ss") ||
		strings.HasSuffix(folded, "us") {
		return folded
	}
	return singular(folded)
}

var (
	phraseWord = regexp.MustCompile(`^[\pL_][\pL\d_./-]*$|^\d+-[\pL-]+$`)
	joinedWord = regexp.MustCompile(`[\pL\d][_.][\pL\d]|\p{Ll}\p{Lu}`)
)

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// generic are words that alone name nothing.
var generic = prose.WordSet(`default value interval period time duration limit size number amount delivery criteria
	criterion total average acceptance estimated current initial minimum maximum max min threshold setting rate
	response request timeout latency delay length count price cost fee change result usual typical acceptable
	expected target first last next whole remaining additional simple entire`)

// nameClaim says which name a text uses: the replacement if it has that, or says
// that the deprecated one ends; the deprecated one if it is in a block of code
// or in a sentence that tells to use it.
func nameClaim(n deprecated.Name, title string, sentences []string, blocks []derive.CodeBlock) (claim, bool) {
	if n.Data.Replacement == "" || len(n.Data.Patterns) == 0 {
		return claim{}, false
	}
	current := func(text string) (claim, bool) {
		return claim{aspectName, strings.ToLower(n.Record.Title), n.Data.Replacement, text, "current"}, true
	}
	if text := replacedIn(n, sentences, blocks); text != "" {
		return current(text)
	}
	use := ""
	for _, s := range sentences {
		at := n.In(s)
		if at < 0 {
			continue
		}
		if acknowledged.MatchString(s) {
			return current(s)
		}
		if use == "" && toUse.MatchString(s[:at]) {
			use = s
		}
	}
	for _, b := range blocks {
		if n.In(b.Code) < 0 {
			continue
		}
		if fails.MatchString(b.Code) || acknowledged.MatchString(title+"\n"+b.Code) {
			return current(lineOf(n, b.Code))
		}
		if use == "" {
			use = lineOf(n, b.Code)
		}
	}
	return claim{aspectName, strings.ToLower(n.Record.Title), n.Record.Title, use, "deprecated"}, use != ""
}

// replacedIn returns the sentence or line that has the replacement, "" if none
// has.
func replacedIn(n deprecated.Name, sentences []string, blocks []derive.CodeBlock) string {
	for _, s := range sentences {
		if n.Replaced(s) >= 0 {
			return s
		}
	}
	for _, b := range blocks {
		for line := range strings.Lines(b.Code) {
			if n.Replaced(line) >= 0 {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

var (
	// acknowledged are words of texts that know that a name ends.
	acknowledged = regexp.MustCompile(`(?i)\b(?:deprecat\w*|remov\w*|replac\w*|instead|no longer|any ?more|ends?|ended|` +
		`former\w*|legacy|obsolete|migrat\w*|used to|was|were|gone|unmaintained|leav\w+|mov(?:e|ed|ing)|chang\w+|` +
		`convert\w*|old|older|before|until|not|don't|never|from \S+ to)\b|→`)
	// fails are words of what a terminal printed.
	fails = regexp.MustCompile(`(?i)\b(?:errors?|unknown|not found|warning|warn|failed)\b`)
	// toUse ends what stands before a name if it tells to use it.
	toUse = regexp.MustCompile(`(?i)\b(?:run|use|call|install|import|type|start|try|execute)(?: \S+){0,3} ?\W*$`)
)

func lineOf(n deprecated.Name, code string) string {
	for line := range strings.Lines(code) {
		if n.In(line) >= 0 {
			return strings.TrimSpace(line)
		}
	}
	return "" // a spelling over two lines
}
