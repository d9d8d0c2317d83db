package meilitest

import (
	"fmt"
	"strconv"
	"strings"
)

// parser reads the filter language as far as package meili writes it:
//
//	or        = and { "OR" and }
//	and       = condition { "AND" condition }
//	condition = "(" or ")" | name "EXISTS" | name "IN" "[" value { "," value } "]" | name (">=" | "<") number
type parser struct {
	index  *index
	tokens []string
}

// lex splits a filter into names, numbers, quoted values and signs.
func lex(text string) []string {
	var tokens []string
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ':
			i++
		case strings.IndexByte("()[],", c) >= 0:
			tokens, i = append(tokens, text[i:i+1]), i+1
		case c == '"':
			end := strings.IndexByte(text[i+1:], '"')
			if end < 0 {
				end = len(text) - i - 2
			}
			tokens, i = append(tokens, text[i:i+end+2]), i+end+2
		default:
			end := strings.IndexAny(text[i:], " ()[],\"")
			if end < 0 {
				end = len(text) - i
			}
			tokens, i = append(tokens, text[i:i+end]), i+end
		}
	}
	return tokens
}

func (p *parser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

// takes consumes the next token if it is this one, and reports whether it was.
func (p *parser) takes(token string) bool {
	if len(p.tokens) == 0 || p.tokens[0] != token {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) or() (func(document) bool, error) {
	f, err := p.and()
	for err == nil && p.takes("OR") {
		left := f
		var right func(document) bool
		right, err = p.and()
		f = func(d document) bool { return left(d) || right(d) }
	}
	return f, err
}

func (p *parser) and() (func(document) bool, error) {
	f, err := p.condition()
	for err == nil && p.takes("AND") {
		left := f
		var right func(document) bool
		right, err = p.condition()
		f = func(d document) bool { return left(d) && right(d) }
	}
	return f, err
}

func (p *parser) condition() (func(document) bool, error) {
	if p.takes("(") {
		f, err := p.or()
		if err == nil && !p.takes(")") {
			err = fmt.Errorf("unbalanced parenthesis")
		}
		return f, err
	}
	name := p.next()
	if !p.index.lists("filterableAttributes", name) {
		return nil, fmt.Errorf("attribute `%s` is not filterable", name)
	}
	switch sign := p.next(); sign {
	case "EXISTS":
		return func(d document) bool { _, ok := d[name]; return ok }, nil
	case "IN":
		return p.in(name)
	case ">=", "<":
		limit, err := strconv.ParseFloat(p.next(), 64)
		return func(d document) bool {
			n, ok := d[name].(float64)
			return ok && (n < limit) == (sign == "<")
		}, err
	default:
		return nil, fmt.Errorf("unknown operator %q", sign)
	}
}

func (p *parser) in(name string) (func(document) bool, error) {
	if !p.takes("[") {
		return nil, fmt.Errorf("IN without a list")
	}
	values := map[string]bool{}
	for !p.takes("]") {
		if len(p.tokens) == 0 {
			return nil, fmt.Errorf("a list without an end")
		}
		if t := p.next(); t != "," {
			values[strings.Trim(t, `"`)] = true
		}
	}
	return func(d document) bool {
		switch v := d[name].(type) {
		case float64:
			return values[strconv.FormatFloat(v, 'f', -1, 64)]
		case string:
			return values[v]
		}
		return false
	}, nil
}
