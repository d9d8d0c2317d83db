package catalog

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrBadEntry: an entry that no store can keep: without a kind, without a key
// or with one that is too long, or with data that is not JSON.
var ErrBadEntry = errors.New("bad entry")

// Clean makes text that every store returns unchanged: valid UTF-8 without NUL.
// Everything else becomes U+FFFD.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Clean applies the function Clean to both parts.
func (r Ref) Clean() Ref { return Ref{Kind(Clean(string(r.Kind))), Clean(r.Key)} }

// CleanTime returns a time as stores keep it: UTC, in whole microseconds. Years
// outside 1 to 9999, which JSON cannot represent, become unknown.
func CleanTime(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// set returns the clean, distinct, non-empty strings in order; nil if there are
// none.
func set(list []string) []string {
	var out []string
	for _, s := range list {
		if s = Clean(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
