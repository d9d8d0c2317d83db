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

	// commonPrefix is the service's own prefix of proposals: clients may use it
	// in every network.
	commonPrefix = "CIP"
	// draftPrefix begins the key of a draft, which is numbered by its pull
	// request.
	draftPrefix = "PR"
)

// Key returns the natural key of a proposal number given in digits: CIP-0056.
// Zeros beyond the network's padding are dropped.
func (p Proposals) Key(number string) string {
	digits := strings.TrimLeft(number, "0")
	width := p.Digits
	if width == 0 {
		width = defaultDigits
	}
	return p.Prefix + "-" + strings.Repeat("0", max(0, width-len(digits))) + digits
}

// DraftKey returns the natural key of a draft by the number of its pull
// request: PR-203.
func DraftKey(pull int) string { return draftPrefix + "-" + strconv.Itoa(pull) }

// ID returns the public id of a proposal: the padded number (0056), or the key
// itself for a draft (PR-203).
func (p Proposals) ID(key string) string {
	if number, ok := strings.CutPrefix(key, p.Prefix+"-"); ok && isNumber(number) {
		return number
	}
	return key
}

// ParseID reads the id of a proposal as people write it and returns its key:
// 56, 0056, CIP-56, cip 0056, CIP#56 and the same with the network's own
// prefix; PR-203 or pr 203 for a draft. Surrounding space is ignored.
func (p Proposals) ParseID(id string) (key string, ok bool) {
	id = strings.TrimSpace(id)
	if number, ok := numberAfter(draftPrefix, id); ok {
		return draftPrefix + "-" + cmp.Or(strings.TrimLeft(number, "0"), "0"), true
	}
	for _, prefix := range []string{p.Prefix, commonPrefix, ""} {
		if number, ok := numberAfter(prefix, id); ok && len(strings.TrimLeft(number, "0")) <= MaxDigits {
			return p.Key(number), true
		}
	}
	return "", false
}

// numberAfter reads the number after a prefix, case-insensitively, with at most
// one separator between them.
func numberAfter(prefix, s string) (number string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	s = s[len(prefix):]
	if prefix != "" && s != "" && strings.IndexByte("-# \t\n", s[0]) >= 0 {
		s = s[1:]
	}
	return s, isNumber(s)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
