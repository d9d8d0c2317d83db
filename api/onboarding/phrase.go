package onboarding

import (
	"almanac/api/kb"
	"regexp"
	"slices"
	"strings"
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
		if w == "" || kb.StopWords[strings.ToLower(w)] || !phraseWord.MatchString(w) {
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
var generic = kb.WordSet(`default value interval period time duration limit size number amount delivery criteria
	criterion total average acceptance estimated current initial minimum maximum max min threshold setting rate
	response request timeout latency delay length count price cost fee change result usual typical acceptable
	expected target first last next whole remaining additional simple entire`)
