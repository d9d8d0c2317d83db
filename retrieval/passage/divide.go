package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// divide cuts a unit into smaller ones, each of at most room pieces if
// possible: lines of code and lists, else sentences, words, characters. It
// returns one part if nothing can be divided.
func divide(u unit, room int) []unit {
	lines := strings.Split(u.text, "\n")
	if len(lines) > 1 && (u.fence != nil || listed(lines)) {
		return u.parts(lines, "\n")
	}
	if u.fence == nil {
		if sentences := sentences(u.text); len(sentences) > 1 {
			return u.parts(sentences, " ")
		}
	}
	if u.pieces <= room && u.words <= targetWords {
		return nil
	}
	if len(lines) > 1 {
		return u.parts(lines, "\n")
	}
	var parts []string
	for rest := u.text; rest != ""; {
		head := firstPieces(rest, room)
		if head == "" {
			break
		}
		parts = append(parts, head)
		rest = strings.TrimLeftFunc(rest[len(head):], unicode.IsSpace)
	}
	return u.parts(parts, " ")
}

// parts makes units of the texts of a divided one.
func (u unit) parts(texts []string, join string) []unit {
	units := make([]unit, 0, len(texts))
	done, length := 0, u.end-u.start // of the text; of its source, which has link targets too
	for _, text := range texts {
		p := newUnit(u.section, text, u.fence)
		p.join = join
		p.start = u.start + length*done/max(len(u.text), 1)
		done = min(done+len(text)+len(join), len(u.text))
		p.end = u.start + length*done/max(len(u.text), 1)
		if len(units) == 0 {
			p.first, p.join = u.first, u.join
		}
		units = append(units, p)
	}
	return units
}

// listed reports whether a paragraph is a list: its second line begins like
// an item.
func listed(lines []string) bool {
	line := strings.TrimLeft(lines[1], " \t")
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") {
		return true
	}
	n := 0
	for n < len(line) && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	return n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && line[n+1] == ' '
}

// sentences cuts a text after full stops, question and exclamation marks that
// a space and anything but a lower-case letter follow, and after those of
// Chinese and Japanese.
func sentences(text string) []string {
	var list []string
	start, ended := 0, -1 // ended: where a sentence may have ended
	for i, r := range text {
		switch r {
		case '.', '?', '!':
			ended = i + 1
			continue
		case '"', '\'', ')', ']', '”', '’', '*':
			if ended >= 0 {
				ended = i + utf8.RuneLen(r)
			}
			continue
		case '。', '！', '？':
			end := i + utf8.RuneLen(r)
			list, start, ended = append(list, text[start:end]), end, -1
			continue
		}
		if ended < 0 || unicode.IsSpace(r) {
			continue
		}
		if ended < i && !unicode.IsLower(r) {
			list, start = append(list, strings.TrimSpace(text[start:ended])), ended
		}
		ended = -1
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		list = append(list, rest)
	}
	return list
}

// firstPieces returns the longest beginning of a text of at most n pieces,
// cut after a word, or, if its first word is longer, inside it.
func firstPieces(text string, n int) string {
	count, end := 0, 0 // end of the last word that fits
	for i := 0; i < len(text); {
		c, size := nextRun(text[i:])
		if count+c > n {
			if end > 0 {
				return text[:end]
			}
			return text[:i+part(text[i:i+size], c, n-count)]
		}
		count += c
		i += size
		if r, _ := utf8.DecodeRuneInString(text[i:]); i == len(text) || unicode.IsSpace(r) || c == 1 && ideograph(r) {
			end = i
		}
	}
	return text
}

// part returns how many bytes of a run of letters and digits, of which the
// number of pieces is given, are n pieces, at least one character.
func part(run string, pieces, n int) int {
	end := max(1, len(run)*n/pieces)
	for end < len(run) && !utf8.RuneStart(run[end]) {
		end++
	}
	return end
}

// lastPieces returns the end of a heading path of at most n pieces, whole
// headings where possible.
func lastPieces(path string, n int) string {
	for pieceCount(path) > n {
		_, rest, found := strings.Cut(path, " › ")
		if !found {
			return firstPieces(path, n)
		}
		path = rest
	}
	return path
}
