// Package mention finds what a text names: the network's proposals, and issues
// and pull requests of the forge. It reads the text outside fenced code. Sources link what
// it finds, and pages show it as links.
package mention

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/text/markdown"
)

// mentions finds references to the network's proposals in text, in every
// spelling people use: CIP-56, CIP 0056, CIP#56, cip56, CIP_0056, "CIPs 54,
// 55 and 56". Inline code and web addresses count if they spell a proposal;
// fenced code and other numbers in addresses (…/cips/pull/203) do not.
type mentions struct{ of network.Proposals }

// mention is one reference: s[start:end] names the proposal with the number, which
// begins at digits.
type mention struct{ number, start, end, digits int }

// AddProposals appends a mentions link for every proposal of the network that an
// entry names, unless the connector linked it already: then that link only gets
// a snippet if it has none. So an entry has one link to a target unless its
// connector adds more. An entry does not mention itself or its parent. It gets no
// link above the most that it may have: AddProposals returns how many are left out.
func AddProposals(of network.Proposals, e *catalog.Entry, most int) (left int) {
	return mentions{of}.add(e, most)
}

// Cited lists the keys of a network's proposals that texts or addresses
// mention, each once.
func Cited(of network.Proposals, texts ...string) []string {
	m := mentions{of}
	keys, cited := []string{}, map[int]bool{}
	for _, text := range texts {
		for _, at := range m.find(text) {
			if !cited[at.number] {
				cited[at.number] = true
				keys = append(keys, m.key(at.number))
			}
		}
	}
	return keys
}

// Name is a part of a text, text[Start:End], that names a record: one of Refs, whichever
// there is.
type Name struct {
	Start, End int
	Refs       []catalog.Ref
}

// draft is the key of a draft of a proposal.
var draft = regexp.MustCompile(`(?:^|[\s([,;:])(PR-[1-9][0-9]{0,5})\b`)

// Names finds what a text names, in order; no part of the text is in two names. A bare
// number is one of the container, if that is a repository.
func Names(of network.Proposals, container, text string) []Name {
	var all []Name
	proposal := func(key string, start, end int) {
		all = append(all, Name{start, end, []catalog.Ref{{Kind: catalog.KindCIP, Key: key}}})
	}
	m, last := mentions{of}, 0
	for _, at := range m.find(text) {
		start := at.start
		if start < last { // a further number of a list
			start = at.digits
		}
		proposal(m.key(at.number), start, at.end)
		last = at.end
	}
	for _, p := range prose(text) {
		if !strings.Contains(text[p.start:p.end], "PR-") { // faster than the pattern
			continue
		}
		for _, at := range draft.FindAllStringSubmatchIndex(text[p.start:p.end], -1) {
			start, end := p.start+at[2], p.start+at[3]
			proposal(text[start:end], start, end)
		}
	}
	for _, w := range works(container, text) {
		all = append(all, w.Name)
	}
	slices.SortStableFunc(all, func(a, b Name) int { return cmp.Compare(a.Start, b.Start) })
	last = 0
	return slices.DeleteFunc(all, func(n Name) bool {
		if n.Start < last {
			return true
		}
		last = n.End
		return false
	})
}

// key returns the natural key of the proposal with a number.
func (m mentions) key(number int) string { return m.of.Key(strconv.Itoa(number)) }

func (m mentions) add(e *catalog.Entry, most int) (left int) {
	given := linksOf(e)
	done := map[int]bool{}
	for _, text := range []string{e.Record.Body, e.Record.Title, e.Record.Summary} {
		for _, at := range m.find(text) {
			if done[at.number] {
				continue
			}
			done[at.number] = true
			ref := catalog.Ref{Kind: catalog.KindCIP, Key: m.key(at.number)}
			switch links, known := given[ref]; {
			case known:
				for _, i := range links {
					if e.Links[i].Snippet == "" {
						e.Links[i].Snippet = snippet(text, at.start, at.end)
					}
				}
			case len(e.Links) >= most:
				left++
			default:
				e.Links = append(e.Links, catalog.Link{Relation: catalog.Mentions, To: ref,
					Snippet: snippet(text, at.start, at.end)})
			}
		}
	}
	return left
}

// linksOf are the targets of an entry's links, with the places of these, and what
// it needs no link to: itself, by any of its keys, and its parent.
func linksOf(e *catalog.Entry) map[catalog.Ref][]int {
	to := map[catalog.Ref][]int{e.Record.Ref(): nil, e.Parent: nil}
	for _, key := range e.Aliases {
		to[catalog.Ref{Kind: e.Record.Kind, Key: key}] = nil
	}
	for i, l := range e.Links {
		to[l.To] = append(to[l.To], i)
	}
	return to
}

// find returns the mentions in a markdown text, in order.
func (m mentions) find(text string) []mention {
	if m.of.Prefix == "" {
		return nil
	}
	var out []mention
	for _, p := range prose(text) {
		s, wide := narrow(text[p.start:p.end])
		place := func(i int) int { return p.start + i + sort.SearchInts(wide, i)*(wideBytes-1) }
		for i := 0; i+len(m.of.Prefix) < len(s); {
			if lower(s[i]) != lower(m.of.Prefix[0]) || !strings.EqualFold(s[i:i+len(m.of.Prefix)], m.of.Prefix) {
				i++
				continue
			}
			found := m.at(s, i)
			i += len(m.of.Prefix)
			if len(found) > 0 {
				i = found[len(found)-1].end
			}
			for _, f := range found {
				out = append(out, mention{f.number, place(f.start), place(f.end), place(f.digits)})
			}
		}
	}
	return out
}

// wideBytes is the length of a full-width form of an ASCII character in UTF-8.
const wideBytes = 3

// narrow returns a text with the full-width forms of ASCII (ＬＩＰ－１２) as ASCII, and where in it they
// are. Commas and colons stay: no blank follows the full-width ones, so they are not those of numbers and times.
func narrow(text string) (folded string, wide []int) {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == '\u3000' || '！' <= r && r <= '～' }) {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if n := width.LookupRune(r).Folded(); n > 0 && n < utf8.RuneSelf && r != '，' && r != '：' {
			wide = append(wide, len(out))
			out = append(out, byte(n))
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return string(out), wide
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// startsWith reports whether s begins with a prefix in letters of either case.
func startsWith(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// at reads the mention whose prefix begins at i: one number, or a list of them
// after the plural.
func (m mentions) at(s string, i int) []mention {
	if r, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && isWord(r) && !strings.HasSuffix(s[:i], "%20") {
		return nil
	}
	j := i + len(m.of.Prefix)
	plural := lower(s[j]) == 's'
	if plural {
		j++
	}
	gap := separator(s[j:])
	if plural && !strings.HasPrefix(s[j:], " ") {
		return nil
	}
	digits := j + gap
	number, end, ok := proposalNumber(s, digits, plural)
	if !ok {
		return nil
	}
	out := []mention{{number, i, end, digits}}
	for plural {
		next := end + listSeparator(s[end:])
		if next == end {
			break
		}
		if startsWith(s[next:], m.of.Prefix) {
			break // the next is a mention of its own
		}
		next += separator(s[next:])
		if number, end, ok = proposalNumber(s, next, true); !ok {
			break
		}
		out = append(out, mention{number, i, end, next})
	}
	return out
}

// separator returns the length of the separator between prefix and number.
func separator(s string) int {
	n := 0
	for range 4 {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case strings.HasPrefix(s[n:], "%20"):
			n += len("%20")
		case size > 0 && strings.ContainsRune(" \t\u00a0-_#:：\\‐‑–—", r):
			n += size
		default:
			return n
		}
	}
	return n
}

// listSeparator returns the length of the separator between numbers of a list.
func listSeparator(s string) int {
	n := 0
	for {
		rest := strings.TrimLeft(s[n:], " \u00a0")
		blank := len(s[n:]) - len(rest)
		step := 0
		for _, word := range []string{",", "/", "&", "-", "–", "and ", "or ", "to "} {
			if startsWith(rest, word) {
				step = max(step, len(word))
			}
		}
		if step == 0 {
			if n == 0 {
				return 0
			}
			return n + blank
		}
		n += blank + step
	}
}

// proposalNumber reads digits that are a proposal's number on their own: not
// the start of a word, a decimal, a date or a time.
func proposalNumber(s string, i int, list bool) (number, end int, ok bool) {
	end = i
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		number = number*10 + int(s[end]-'0')
		if end++; end-i > network.MaxDigits {
			return 0, 0, false
		}
	}
	if end == i {
		return 0, 0, false
	}
	r, size := utf8.DecodeRuneInString(s[end:])
	if size > 0 && r != '_' && isWord(r) || r == '%' && !strings.HasPrefix(s[end:], "%20") {
		return 0, 0, false
	}
	after := end + size
	digitFollows := after < len(s) && s[after] >= '0' && s[after] <= '9'
	if digitFollows && (r == '.' || r == ':' || !list && (r == '-' || r == ',')) {
		return 0, 0, false
	}
	return number, end, true
}

// isWord reports whether a character beside a name makes it a part of a word: a digit, or a letter of a
// script with capitals. Scripts without (Han, Kana, Hangul, Thai, Arabic) set words of Latin letters in
// theirs without a blank.
func isWord(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.IsDigit(r)
}

// span is text[start:end].
type span struct{ start, end int }

// prose returns the parts of a markdown text outside fenced code, which may be
// quoted.
func prose(text string) (out []span) {
	start := 0
	for b := range markdown.Blocks(markdown.Unquote(text)) {
		if b.Kind == markdown.Source {
			out = append(out, span{start, b.Start})
			start = b.End
		}
	}
	return append(out, span{start, len(text)})
}

// snippet returns the text around s[start:end] on one line: at most
// catalog.MaxSnippet characters of its paragraph, cut between words.
func snippet(s string, start, end int) string {
	const (
		around = (catalog.MaxSnippet - 40) / 2
		reach  = (around + 1) * utf8.UTFMax // bytes that have more characters than that
	)
	before, cutLeft := tail(paragraphBefore(s[max(0, start-reach):start]), around)
	after, cutRight := head(paragraphAfter(s[end:min(len(s), end+reach)]), around)
	text := strings.Join(strings.Fields(before+s[start:end]+after), " ")
	if cutLeft {
		text = "…" + text
	}
	if cutRight {
		text += "…"
	}
	if clipped, long := head(text, catalog.MaxSnippet-1); long {
		return clipped + "…"
	}
	return text
}

func paragraphBefore(s string) string {
	if i := strings.LastIndex(s, "\n\n"); i >= 0 {
		return s[i:]
	}
	return s
}

func paragraphAfter(s string) string {
	if i := strings.Index(s, "\n\n"); i >= 0 {
		return s[:i]
	}
	return s
}

// tail returns the last words of s within n characters, and whether it cut s.
func tail(s string, n int) (string, bool) {
	i := len(s)
	for range n {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	if i == 0 {
		return s, false
	}
	if j := strings.IndexFunc(s[i:], unicode.IsSpace); j >= 0 {
		return s[i+j:], true
	}
	return s[i:], true
}

// head returns the first words of s within n characters, and whether it cut s.
func head(s string, n int) (string, bool) {
	i := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	if i == len(s) {
		return s, false
	}
	if j := strings.LastIndexFunc(s[:i], unicode.IsSpace); j > 0 {
		return s[:j], true
	}
	return s[:i], true
}
