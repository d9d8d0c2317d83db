package network

import (
	"cmp"
	"strconv"
	"strings"
)

const (
	// defaultDigits is the width of a proposal's number in a network that sets
	// none.
	defaultDigits = 4
	// MaxDigits is the maximum length of a proposal number.
	MaxDigits = 6
	// partDigits is the length of the number of a part of a proposal.
	partDigits = 2

	// commonPrefix is the service's own prefix of proposals: clients may use it
	// in every network.
	commonPrefix = "CIP"
	// draftPrefix begins the key of a draft, which is numbered by its pull
	// request.
	draftPrefix = "PR"
)

// Key returns the natural key of a proposal number given in digits: CIP-0056, or
// CIP-0056-01 for a part of it, 56-1. Zeros beyond the network's padding are
// dropped; a part has two digits.
func (p Proposals) Key(number string) string {
	number, part, _ := strings.Cut(number, "-")
	if part != "" {
		part = "-" + padded(part, partDigits)
	}
	width := p.Digits
	if width == 0 {
		width = defaultDigits
	}
	return p.Prefix + "-" + padded(number, width) + part
}

// padded returns digits with zeros in front, up to a width.
func padded(digits string, width int) string {
	digits = strings.TrimLeft(digits, "0")
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}

// DraftKey returns the natural key of a draft by the number of its pull
// request: PR-203.
func DraftKey(pull int) string { return draftPrefix + "-" + strconv.Itoa(pull) }

// ID returns the public id of a proposal: the padded number (0056, 0056-01), or
// the key itself for a draft (PR-203).
func (p Proposals) ID(key string) string {
	if id, ok := strings.CutPrefix(key, p.Prefix+"-"); ok {
		if number, part, _ := strings.Cut(id, "-"); isNumber(number) && isPart(id, part) {
			return id
		}
	}
	return key
}

// ParseID reads the id of a proposal as people write it and returns its key:
// 56, 0056, CIP-56, cip 0056, CIP#56 and the same with the network's own
// prefix, each also with the number of a part, 56-1; PR-203 or pr 203 for a
// draft. Surrounding space is ignored.
func (p Proposals) ParseID(id string) (key string, ok bool) {
	id = strings.TrimSpace(id)
	if number, ok := numberAfter(draftPrefix, id); ok && isNumber(number) {
		return draftPrefix + "-" + cmp.Or(strings.TrimLeft(number, "0"), "0"), true
	}
	for _, prefix := range []string{p.Prefix, commonPrefix, ""} {
		id, ok := numberAfter(prefix, id)
		number, part, _ := strings.Cut(id, "-")
		if ok && isNumber(number) && isPart(id, part) && len(strings.TrimLeft(number, "0")) <= MaxDigits {
			return p.Key(id), true
		}
	}
	return "", false
}

// numberAfter reads what follows a prefix, case-insensitively, with at most one
// separator between them.
func numberAfter(prefix, s string) (number string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	s = s[len(prefix):]
	if prefix != "" && s != "" && strings.IndexByte("-# \t\n", s[0]) >= 0 {
		s = s[1:]
	}
	return s, true
}

// isPart reports whether an id ends in the number of a part, or has none.
func isPart(id, part string) bool {
	return isNumber(part) && len(part) <= partDigits || !strings.Contains(id, "-")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
