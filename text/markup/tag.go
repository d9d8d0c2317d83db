package markup

import "strings"

// tag is an HTML tag or a JSX element tag.
type tag struct {
	name    string
	attrs   map[string]string // string values only
	closing bool              // </x>
	void    bool              // <x />
	size    int               // bytes from "<" to after ">"
}

// parseTag parses the tag at the start of s.
func parseTag(s string) (t tag, ok bool) {
	s = s[:min(len(s), maxTag)]
	i := 1
	if i < len(s) && s[i] == '/' {
		t.closing = true
		i++
	}
	start := i
	for i < len(s) && isNameByte(s[i]) {
		i++
	}
	t.name = s[start:i]
	if t.name == "" || !isLetter(t.name[0]) {
		return t, false
	}
	for i < len(s) {
		switch c := s[i]; {
		case c == '>':
			t.size = i + 1
			return t, true
		case c == '/':
			t.void = i+1 < len(s) && s[i+1] == '>'
			i++
		case c == ' ' || c == '\t' || c == '\n':
			i++
		case c == '{': // spread
			n := braces(s[i:])
			if n == 0 {
				return t, false
			}
			i += n
		case isLetter(c) || c == '_' || c == ':' || c == '@' || c == '-':
			if s[i-1] != ' ' && s[i-1] != '\t' && s[i-1] != '\n' && s[i-1] != '"' && s[i-1] != '\'' && s[i-1] != '}' {
				return t, false
			}
			n, ok := t.attribute(s[i:])
			if !ok {
				return t, false
			}
			i += n
		default:
			return t, false
		}
	}
	return t, false
}

// attribute reads name, name=value, name="value" or name={value}.
func (t *tag) attribute(s string) (size int, ok bool) {
	i := 0
	for i < len(s) && (isNameByte(s[i]) || s[i] == '@') {
		i++
	}
	name, blank := s[:i], " \t\n" // which may stand around the sign
	sign := i + len(s[i:]) - len(strings.TrimLeft(s[i:], blank))
	if sign >= len(s) || s[sign] != '=' {
		return i, i > 0
	}
	i = sign + 1
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], blank))
	if i >= len(s) {
		return 0, false
	}
	value, n := "", 0
	switch s[i] {
	case '"', '\'':
		n = strings.IndexByte(s[i+1:], s[i]) + 2
		if n < 2 {
			return 0, false
		}
		value = s[i+1 : i+n-1]
	case '{':
		if n = braces(s[i:]); n == 0 {
			return 0, false
		}
		value, _ = unquote(strings.TrimSpace(s[i+1 : i+n-1]))
	default:
		for i+n < len(s) && strings.IndexByte(" \t\n>\"'<", s[i+n]) < 0 {
			n++
		}
		value = s[i : i+n]
	}
	if value != "" {
		if t.attrs == nil {
			t.attrs = map[string]string{}
		}
		t.attrs[name] = value
	}
	return i + n, true
}

// braces returns the size of the {…} at the start of s, or 0. It respects
// quotes.
func braces(s string) int {
	depth := 0
	var quote byte
	for i := 0; i < min(len(s), maxSpan); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote || c == '\n' && quote != '`' {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			if depth++; depth > maxNestedTags {
				return 0
			}
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '\n' && depth == 1 && strings.HasPrefix(s[i+1:], "\n"):
			return 0 // an expression contains no empty line
		}
	}
	return 0
}

// unquote returns the value of a JavaScript string literal.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != s[len(s)-1] || strings.IndexByte("\"'`", s[0]) < 0 {
		return "", false
	}
	inner := s[1 : len(s)-1]
	if strings.IndexByte(inner, s[0]) >= 0 || strings.Contains(inner, "${") {
		return "", false
	}
	return inner, true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isNameByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '-' || c == '.' || c == ':' || c == '_'
}
