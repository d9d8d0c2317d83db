package onboarding

import (
	"almanac/catalog/derive"
	"regexp"
	"strings"
)

// claim says which name a text uses: the replacement if it has that, or says
// that the deprecated one ends; the deprecated one if it is in a block of code
// or in a sentence that tells to use it.
func (n deprecatedName) claim(title string, sentences []string, blocks []derive.CodeBlock) (claim, bool) {
	current := func(text string) (claim, bool) {
		return claim{aspectName, strings.ToLower(n.Name), n.Replacement, text, "current"}, true
	}
	if text := n.replacedIn(sentences, blocks); text != "" {
		return current(text)
	}
	use := ""
	for _, s := range sentences {
		at := n.in(s)
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
		if n.in(b.Code) < 0 {
			continue
		}
		if fails.MatchString(b.Code) || acknowledged.MatchString(title+"\n"+b.Code) {
			return current(n.lineOf(b.Code))
		}
		if use == "" {
			use = n.lineOf(b.Code)
		}
	}
	return claim{aspectName, strings.ToLower(n.Name), n.Name, use, "deprecated"}, use != ""
}

// replacedIn returns the sentence or line that has the replacement, "" if none
// has.
func (n deprecatedName) replacedIn(sentences []string, blocks []derive.CodeBlock) string {
	for _, s := range sentences {
		if index(s, n.Replacement) >= 0 {
			return s
		}
	}
	for _, b := range blocks {
		for line := range strings.Lines(b.Code) {
			if index(line, n.Replacement) >= 0 {
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

// in returns where a text has one of the name's spellings, -1 if nowhere.
func (n deprecatedName) in(text string) int {
	for _, p := range n.Patterns {
		if at := index(text, p); at >= 0 {
			return at
		}
	}
	return -1
}

func (n deprecatedName) lineOf(code string) string {
	for line := range strings.Lines(code) {
		if n.in(line) >= 0 {
			return strings.TrimSpace(line)
		}
	}
	return "" // a spelling over two lines
}

// index returns where a text has a name that is not part of a longer word, -1
// if nowhere.
func index(text, name string) int {
	for from := 0; name != ""; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			break
		}
		at += from
		end := at + len(name)
		if !(wordByte(name[0]) && at > 0 && wordByte(text[at-1])) &&
			!(wordByte(name[len(name)-1]) && end < len(text) && wordByte(text[end])) {
			return at
		}
		from = end
	}
	return -1
}
