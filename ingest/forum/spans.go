package forum

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// spans are the numbers of a topic's posts: ascending ranges with gaps for
// deleted posts. Nearly every topic is one range.
type spans []span

type span struct{ from, to int64 } // inclusive

// with returns the spans and one more number.
func (s spans) with(n int64) spans {
	if last := len(s) - 1; last >= 0 && s[last].to+1 == n {
		s[last].to = n
		return s
	}
	i, found := slices.BinarySearchFunc(s, n, func(a span, n int64) int {
		switch {
		case a.to < n:
			return -1
		case a.from > n:
			return 1
		}
		return 0
	})
	if found {
		return s
	}
	return slices.Insert(s, i, span{n, n}).joined()
}

// union returns the numbers of both.
func (s spans) union(t spans) spans {
	all := slices.Concat(s, t)
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all.joined()
}

// joined merges ranges, sorted by their beginnings, that touch or overlap.
func (s spans) joined() spans {
	out := s[:0]
	for _, r := range s {
		if last := len(out) - 1; last >= 0 && r.from <= out[last].to+1 {
			out[last].to = max(out[last].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}

// has reports whether a number is among them.
func (s spans) has(n int64) bool {
	return slices.ContainsFunc(s, func(r span) bool { return r.from <= n && n <= r.to })
}

// all yields the numbers.
func (s spans) all() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, r := range s {
			for n := r.from; n <= r.to; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// String writes the numbers as 1-20,22; "-" for none.
func (s spans) String() string {
	if len(s) == 0 {
		return "-"
	}
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = strconv.FormatInt(r.from, 10)
		if r.to > r.from {
			parts[i] += "-" + strconv.FormatInt(r.to, 10)
		}
	}
	return strings.Join(parts, ",")
}

func parseSpans(text string) (spans, error) {
	if text == "-" {
		return nil, nil
	}
	var s spans
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		a, errA := strconv.ParseInt(from, 10, 64)
		b, errB := strconv.ParseInt(to, 10, 64)
		if err := errors.Join(errA, errB); err != nil {
			return nil, err
		}
		if a < 1 || b < a || len(s) > 0 && a <= s[len(s)-1].to {
			return nil, errors.New("numbers out of order")
		}
		s = append(s, span{a, b})
	}
	return s, nil
}
