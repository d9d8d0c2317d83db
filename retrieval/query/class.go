package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
)

// Class says what kind of query it is; relevance profiles choose by it.
type Class string

// The classes, in the order they are tried.
const (
	// Identifier: one or two identifiers and nothing else but stop words, or a
	// plain word and a version ("client 0.5.9").
	Identifier Class = "identifier"
	// Code: source code, a log line or an error message. It has three lines or
	// more, an error code in capitals (or a name that ends in Exception or
	// Error) among other words, a call, a path among other words, or more than
	// one code character in twelve.
	Code Class = "code"
	// Question: natural language. It ends in a question mark, begins with a
	// question word or auxiliary verb, or has more than four content words.
	Question Class = "question"
	// Keyword: up to four content words that are not a question.
	Keyword Class = "keyword"
)

// maxKeywords is the number of content words of a keyword query.
const maxKeywords = 4

func classify(text string, words []word) Class {
	var content, identifiers, versions int
	last := -1 // position of the last content word counted
	for _, w := range words {
		switch {
		case w.identifier && w.Position != last:
			identifiers++
			if strings.Count(w.Term, ".") > 0 && strings.Trim(w.Term, "0123456789.") == "" {
				versions++
			}
		case w.inside || w.Position == last || analysis.IsStop(w.folded):
			continue
		default:
			content++
		}
		last = w.Position
	}
	switch {
	case identifiers > 0 && identifiers <= 2 && content == 0, versions == 1 && identifiers == 1 && content == 1:
		return Identifier
	case isCode(text):
		return Code
	case content+identifiers > maxKeywords || asks(text):
		return Question
	}
	return Keyword
}

// codeShare is the share of code characters, one in so many, from which a
// text is code; below minCode of them they are punctuation.
const (
	codeShare = 12
	minCode   = 3
)

func isCode(text string) bool {
	if strings.Count(text, "\n") >= pastedLines-1 {
		return true
	}
	marks, size := 0, 0
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			continue
		case strings.ContainsRune("{}[]<>;=|\\&$`^*", r), r == '(' && i > 0 && wordBefore(text, i):
			marks++
		}
		size++
	}
	if marks >= minCode && marks*codeShare > size {
		return true
	}
	for _, word := range strings.Fields(text) {
		if isErrorCode(word) || isPath(word) || isCall(word) {
			return true
		}
	}
	return false
}

// isErrorCode reports whether the word has the shape of SOME_CODE, or of
// CODE: in front of a message, or names an exception.
func isErrorCode(word string) bool {
	if i := strings.IndexAny(word, "(/:"); i > 0 && strings.IndexByte(word[:i], '_') > 0 {
		word = word[:i]
	}
	name := strings.TrimRight(word, ".,;:!?)\"'")
	capitals := 0
	for _, r := range name {
		switch {
		case 'A' <= r && r <= 'Z':
			capitals++
		case r != '_' && !unicode.IsDigit(r):
			capitals = -len(name) - 1
		}
	}
	switch {
	case capitals >= 4 && strings.Contains(strings.Trim(name, "_"), "_"):
		return true
	case capitals >= 5 && strings.HasSuffix(word, ":"):
		return true
	}
	for _, end := range []string{"Exception", "Error"} {
		if len(name) > len(end) && strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// isPath reports whether the word is an absolute path or one of a file below
// two folders or more.
func isPath(word string) bool {
	word = strings.Trim(word, "\"'`(),;:?!")
	slashes := strings.Count(word, "/")
	if strings.Contains(word, "://") {
		return false
	}
	return slashes >= 2 && (word[0] == '/' || word[0] == '.' || word[0] == '~' || strings.Contains(word, "."))
}

// isCall reports whether the word is a name directly followed by a pair of
// brackets, or a name after :: or -> or =>.
func isCall(word string) bool {
	i := strings.IndexByte(word, '(')
	if i > 1 && wordBefore(word, i) && strings.IndexByte(word[i:], ')') > 0 && !strings.HasSuffix(word, "(s)") {
		return true
	}
	return strings.Contains(word, "::") || strings.Contains(word, "->") || strings.Contains(word, "=>")
}

func wordBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
}

// asks reports whether a text is a question by its mark or its first word.
func asks(text string) bool {
	text = strings.TrimRight(text, " \n\"')”")
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") {
		return true
	}
	first, rest, _ := strings.Cut(strings.ToLower(text), " ")
	switch strings.ReplaceAll(strings.TrimRight(first, ",'"), "’", "'") {
	case "what", "what's", "whats", "when", "where", "where's", "which", "who", "who's", "whom", "whose", "why", "how",
		"how's", "is", "are", "was", "were", "am", "do", "does", "did", "can", "could", "should", "would", "will",
		"has", "have", "must":
		return rest != ""
	}
	return false
}
