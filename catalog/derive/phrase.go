package derive

import (
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
		if w == "" || stopWords[strings.ToLower(w)] || !phraseWord.MatchString(w) {
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

// stopWords are words that no noun phrase has.
var stopWords = wordSetOf(`a an the this that these those its their our your his her my it they we you i he she
	and or but nor so of in on at to for from with by per as than then when where while if is are was were be
	been being has have had do does did can could may might must shall should will would not no yes each every
	all any some only own same other both few more most such also just still now there here which who whose what
	how about after before between into over under up down out new old version versions release least requires
	require provides provide serves serve exposes expose uses use runs run one two three four five six seven
	eight nine ten re`)

// generic are words that alone name nothing.
var generic = wordSetOf(`default value interval period time duration limit size number amount delivery criteria
	criterion total average acceptance estimated current initial minimum maximum max min threshold setting rate
	response request timeout latency delay length count price cost fee change result usual typical acceptable
	expected target first last next whole remaining additional simple entire`)

func wordSetOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
