package analysis

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsIdentifier reports whether a piece of text, as a token spans it, is a
// coined name rather than words: it mixes letters and digits (CIP-56, ERC20,
// 1220ab, "cip 56"), joins words by _ or :: or case or inner dots, is a path, a
// version of three numbers, # and a number, or a name with a mark (C#, C++). Hyphenated words, dates,
// decimals, ordinals and quantities (2nd, 10kb) are not.
func IsIdentifier(text string) bool {
	text, _ = normalize(strings.TrimSpace(text))
	text = strings.TrimSuffix(text, "'s")
	if rest, ok := strings.CutPrefix(text, "#"); ok {
		return rest != "" && trailingDigits(rest) == len(rest)
	}
	if text != "" && marked(text) == len(text) {
		return true
	}
	slashed := strings.HasPrefix(text, "/")
	text = strings.Trim(text, "/._-:@")
	var class uint8
	camel := false
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return false
		}
		if classes[c] == upper && i > 0 && classes[text[i-1]] == lower {
			camel = true
		}
		if c == ' ' || c == '\t' || c == '\n' {
			return spacedIdentifier(text)
		}
		class |= classes[c]
	}
	letters, digits := class&(lower|upper) != 0, class&digit != 0
	switch {
	case !letters:
		return strings.Count(text, ".") >= 2 && !strings.ContainsAny(text, "-/:")
	case camel, strings.Contains(text, "_"), strings.Contains(text, "::"), strings.Contains(text, "@"):
		return true
	case digits:
		return !quantity(text)
	case strings.Contains(text, "/"):
		return slashed || strings.Count(text, "/") >= 2 || strings.Contains(text, ".")
	case slashed:
		return true
	}
	first, rest, dotted := strings.Cut(text, ".")
	return dotted && len(first) > 1 && len(rest) > 1
}

// coinedCapitals is how many capitals make a word a name: SDK and API are in too many headings.
const coinedCapitals = 5

// IsCoined reports whether a piece of text, as a token spans it, is an identifier or a
// word in capitals, such as the error code UNAUTHENTICATED.
func IsCoined(text string) bool {
	capitals := strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && len(text) >= coinedCapitals
	return capitals || IsIdentifier(text)
}

// CoinedTerm returns the term of a text that is nothing but one coined name; "" of others.
func CoinedTerm(text string) string {
	tokens := Analyze(text)
	if len(tokens) == 0 {
		return ""
	}
	whole := tokens[0] // its parts follow it
	if tokens[len(tokens)-1].Start >= whole.End || !IsCoined(text[whole.Start:whole.End]) {
		return ""
	}
	return whole.Term
}

// Options returns the terms of a text that stand as a whole behind a hyphen, as options of
// commands do: the hyphen is the first of its line, or follows a space or a mark that opens.
func Options(text string, tokens []Token) iter.Seq[string] {
	return func(yield func(string) bool) {
		var whole Token
		for _, t := range tokens {
			if t.Start < whole.End && (t.Start != whole.Start || t.End != whole.End) {
				continue // a part
			}
			whole = t
			before, hyphen := strings.CutSuffix(text[:t.Start], "-")
			last, _ := utf8.DecodeLastRuneInString(before)
			opens := before == "" || unicode.IsSpace(last) || strings.ContainsRune("`'\"([{", last)
			if hyphen && opens && !yield(t.Term) {
				return
			}
		}
	}
}

// spacedIdentifier reports whether the text is letters, a space and a number
// that Analyze folds.
func spacedIdentifier(text string) bool {
	t := tokenizer{text: text}
	l := t.leafAt(0)
	return l.end > 0 && l.end < len(text) && text[l.end] == ' ' && t.numberAfter(l) == len(text)
}

// quantity reports whether the text is a number of up to three digits and a
// unit or ordinal ending of up to three lower-case letters.
func quantity(text string) bool {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	unit := text[n:]
	if n == 0 || n > 3 || len(unit) > 3 {
		return false
	}
	for i := range len(unit) {
		if classes[unit[i]] != lower {
			return false
		}
	}
	return true
}
