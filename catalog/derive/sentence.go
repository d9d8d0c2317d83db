package derive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviations never end a sentence, whatever follows.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "cf": true, "vs": true, "approx": true, "no": true, "nr": true, "fig": true, "figs": true,
	"eq": true, "sec": true, "dr": true, "mr": true, "mrs": true, "ms": true, "prof": true, "st": true, "resp": true,
	"incl": true,
	"eg":   true, "ie": true,
	"aka": true, "a.k.a": true, "viz": true, "vol": true, "ca": true,
}

// weakAbbreviations may end a sentence: they do if a capital follows.
var weakAbbreviations = map[string]bool{
	"etc": true, "inc": true, "ltd": true, "co": true, "corp": true, "al": true, "jr": true, "sr": true, "u.s": true,
	"u.k": true, "e.u": true, "a.m": true, "p.m": true,
}

// Sentences splits plain text into sentences. Dots within versions, numbers,
// addresses and file names, after abbreviations and after initials do not end
// one. It takes time linear in the size of the text.
func Sentences(text string) []string {
	var out []string
	text = strings.TrimSpace(text)
	start := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
		start = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if r != '.' && r != '!' && r != '?' && r != '…' {
			continue
		}
		dot := i - n
		for i < len(text) && strings.IndexByte(".!?", text[i]) >= 0 {
			i++
		}
		i += len(text[i:]) - len(strings.TrimLeft(text[i:], `"'”’)]»*`))
		if i < len(text) && !startsBlank(text[i:]) {
			continue
		}
		if r == '.' && i == dot+1 && !dotEnds(text[start:dot], text[i:]) {
			continue
		}
		if (r == '…' || strings.HasPrefix(text[dot:], "...")) && !startsSentence(text[i:]) {
			continue
		}
		add(i)
	}
	add(len(text))
	return out
}

func startsBlank(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// dotEnds reports whether a single dot between before and after ends a
// sentence.
func dotEnds(before, after string) bool {
	if after == "" {
		return true
	}
	word := before
	if i := strings.LastIndexFunc(before, beforeWord); i >= 0 {
		_, n := utf8.DecodeRuneInString(before[i:])
		word = before[i+n:]
	}
	word = strings.ToLower(word)
	switch {
	case abbreviations[word]:
		return word == "no" && startsSentence(after) && !startsDigit(after)
	case weakAbbreviations[word]:
		return startsSentence(after)
	case utf8.RuneCountInString(word) == 1 && unicode.IsLetter(firstRune(word)) && word != "i" && endsUpper(before):
		return false // an initial
	case isEnumerator(word, before):
		return false
	}
	return startsSentence(after)
}

func beforeWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(\"“[", r) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func endsUpper(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsUpper(r)
}

// isEnumerator reports whether the word is a number that starts the sentence
// ("1. First").
func isEnumerator(word, before string) bool {
	return strings.TrimSpace(before) == word && strings.Trim(word, "0123456789") == ""
}

func startsDigit(s string) bool {
	return unicode.IsDigit(firstRune(strings.TrimLeft(s, " \t\n")))
}

// startsSentence reports whether what follows can start a sentence. A
// lower-case word cannot, unless it is an identifier with a capital inside
// (dApp).
func startsSentence(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'“‘([«*-–—`, r)
	})
	r := firstRune(s)
	if !unicode.IsLower(r) {
		return true
	}
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		s = s[:i]
	}
	return strings.IndexFunc(s, unicode.IsUpper) > 0
}
