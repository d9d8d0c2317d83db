package tally

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxQuery is the number of characters of a query that is counted; anything
// longer is a pasted text.
const maxQuery = 300

// Query returns a query as it is counted: composed (NFKC), in lower case, with
// single spaces and without invisible characters. It returns false for a text
// that must not be kept: one that is empty, long or Private.
func Query(text string) (query string, ok bool) {
	if len(text) > 4*maxQuery || Private(text) {
		return "", false
	}
	query = strings.Join(strings.Fields(strings.ToLower(visible(text))), " ")
	query = norm.NFKC.String(query) // lower case may be decomposed
	if query == "" || utf8.RuneCountInString(query) > maxQuery || query != text && Private(query) {
		return "", false
	}
	return query, true
}

// visible is a text in composed form; invisible characters are left out, and
// controls are spaces.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

// Private reports whether a text looks as if it held a secret (a key, a token, a
// password, a seed phrase) or something personal (an e-mail address, the number of a
// phone, card or account, an IP address). In doubt it says yes: one query less in a
// list is no loss.
func Private(text string) bool {
	text = visible(text)
	if isPrivate(text) {
		return true
	}
	if plain, err := url.QueryUnescape(text); err == nil && plain != text {
		return isPrivate(visible(plain))
	}
	return false
}

func isPrivate(text string) bool {
	plain := text
	if strings.ContainsAny(text, "[({<") {
		plain = dotSpelling.ReplaceAllString(atSpelling.ReplaceAllString(text, "@"), ".")
	}
	run := longestRun(plain)
	for _, p := range personal {
		if p.in(plain, run) {
			return true
		}
	}
	if hasLongNumber(text) || isSeedPhrase(text) {
		return true
	}
	// Names are cut as they are made: list_books, pkg/mod, a.b.Service.
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isAlphanumeric(r) }) {
		if isRandom(word) {
			return true
		}
	}
	for word := range strings.FieldsSeq(text) {
		if whole := joiner.Replace(word); whole != word && mixesAll(whole) && isRandom(whole) {
			return true // base 64 with its signs
		}
		if isPassword(word) || isGrouped(word) {
			return true
		}
	}
	return false
}

// The spellings that hide an address from programs.
var (
	atSpelling  = regexp.MustCompile(`(?i)\s*[\[({<]\s*(at|@)\s*[\])}>]\s*`)
	dotSpelling = regexp.MustCompile(`(?i)\s*[\[({<]\s*(dot|\.)\s*[\])}>]\s*`)
)

// form is what a secret or an address looks like. Most queries lack what would make it
// worth trying the pattern.
type form struct {
	signs   string // one of them is in it; "": it has none of its own
	run     int    // of as many letters and digits it has at least one
	pattern *regexp.Regexp
}

func newForm(signs string, run int, pattern string) form {
	return form{signs, run, regexp.MustCompile(pattern)}
}

// in reports whether a text has the form; run is its longest run of letters and digits.
func (f form) in(text string, run int) bool {
	return run >= f.run && (f.signs == "" || strings.ContainsAny(text, f.signs)) && f.pattern.MatchString(text)
}

// longestRun returns the length of a text's longest run of ASCII letters and digits.
func longestRun(text string) (longest int) {
	n := 0
	for _, r := range text {
		if n++; !isAlphanumeric(r) {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// personal are the forms of secrets and addresses. Prefixes of keys are those
// that services publish for secret scanners.
var personal = []form{
	// E-mail addresses; an address with a password or a token in front of its host.
	newForm("@", 0, `[^\s@]@[^\s@]*[^\s@\d.]\.\pL{2,}`),
	newForm("@", 0, `[^\s@]@(\[|localhost\b|xn--)`),
	newForm("@", 0, `(?i)[a-z][a-z0-9+.-]*://[^\s/@]+@`),
	// Keys and tokens by their prefixes.
	newForm("-_", 0, `(?i)\b(sk|pk|rk)[-_](live|test|proj|ant|or)[-_][\w-]{6}|\bsk-[a-z0-9]{16}`),
	newForm("-_.Cc", 12, `(?i)\b(gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_|pypi-|hf_|shpat_|whsec_|dop_v1_|`+
		`ya29\.|SG\.|EAAC)[a-z0-9_-]{0,8}[a-z0-9]{12}`),
	newForm("", 16, `(?i)\b(A3T[A-Z0-9]|AKIA|ASIA|AROA)[A-Z0-9]{12}`),
	newForm("Zz", 0, `(?i)\bAIza[\w-]{20}`),
	newForm("Jj", 0, `(?i)\beyJ[\w-]{6,}`), // {"… in base64: a JSON Web Token
	newForm("-", 0, `(?i)-----BEGIN|\bssh-(rsa|ed25519)\s+AAAA`),
	// Values that are named as secrets.
	newForm("0123456789", 0, `(?i)\b(bearer|basic)\s+[\w+/.~-]*\d[\w+/.~-]*`),
	newForm(":=", 0, `(?i)(^|[^a-z])((password|passwd|passphrase|passcode|pwd|secret|token|credentials?|pin|`+
		`api[ _-]?key|access[ _-]?key|private[ _-]?key)["']?\s*|authorization["']?)[:=]\s*\S`),
	newForm("Pp", 0, `(?i)\b(password|passphrase|passcode|pwd|pin)\s+is\s+\S`),
	// Numbers in base 16, fingerprints, UUIDs.
	newForm("", 20, `[0-9a-fA-F]{20}`),
	newForm(":-", 0, `(?i)([0-9a-f]{2}[:-]){7}`),
	newForm("-", 0, `(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-`),
	// IP addresses.
	newForm(".", 0, `\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`),
	newForm(":", 0, `(?i)\b[0-9a-f]{1,4}(:[0-9a-f]{0,4}){3,}`),
}

// Numbers that are not those of a person: dates, times, and versions of
// pre-releases such as 3.4.0-snapshot.20300501.1234.
var (
	harmless = regexp.MustCompile(`\b(19|20)\d\d-[01]?\d-[0-3]?\d([T ][0-2]?\d:\d\d(:\d\d)?)?` +
		`|\bv?\d{1,3}\.\d{1,3}\.\d{1,3}-\pL[\w.-]*`)
	digits = regexp.MustCompile(`\d(?:[\s().\-/]{0,3}\d)*`)
)

// hasLongNumber reports whether there are nine digits or more in a row, in
// groups or not, as numbers of phones, cards and accounts have.
func hasLongNumber(text string) bool {
	if !strings.ContainsAny(text, "0123456789") {
		return false
	}
	for _, run := range digits.FindAllString(harmless.ReplaceAllString(text, "x"), -1) {
		n := 0
		for _, r := range run {
			if r >= '0' && r <= '9' {
				n++
			}
		}
		if n >= 9 {
			return true
		}
	}
	return false
}

// joiner leaves out the signs of base 64.
var joiner = strings.NewReplacer("-", "", "_", "", "+", "", "/", "", "=", "")

// mixesAll reports whether a word of letters and digits has capitals, small
// letters and three digits at least.
func mixesAll(word string) bool {
	counts := map[rune]int{}
	for _, r := range word {
		counts[classOf(r)]++
	}
	return longestRun(word) == len(word) && counts['a'] > 0 && counts['A'] > 0 && counts['0'] >= 3
}

// isRandom reports whether a run of letters and digits looks like base 62, 36 or
// 32 rather than like a name: those change between upper case, lower case and
// digits more often than camelCase, or have no vowels.
func isRandom(word string) bool {
	if len(word) < 16 {
		return false
	}
	var changes, numbers, consonants, longest int
	var last rune
	classes := map[rune]bool{}
	for i, r := range word {
		class := classOf(r)
		classes[class] = true
		if class == '0' {
			numbers++
		}
		if i > 0 && class != last {
			changes++
		}
		last = class
		if consonants++; class == '0' || strings.ContainsRune("aeiouyAEIOUY", r) {
			consonants = 0
		}
		longest = max(longest, consonants)
	}
	rate := float64(changes) / float64(len(word)-1)
	switch {
	case classes['a'] && classes['A'] && classes['0']:
		return rate > 0.45 || numbers >= 3 && rate > 0.3 || longest >= 8
	case classes['a'] && classes['A']:
		return rate > 0.4 || longest >= 8
	case classes['0']:
		return changes >= 4
	}
	return len(word) >= 20 && longest >= 6
}

func classOf(r rune) rune {
	switch {
	case r >= '0' && r <= '9':
		return '0'
	case r >= 'A' && r <= 'Z':
		return 'A'
	}
	return 'a'
}

// isPassword reports whether a word of eight characters or more has capital and
// small letters, digits and a sign that names do not have.
func isPassword(word string) bool {
	return len(word) >= 8 && strings.ContainsAny(word, "!$%^&*?~#@+") && strings.ContainsAny(word, "0123456789") &&
		strings.IndexFunc(word, unicode.IsUpper) >= 0 && strings.IndexFunc(word, unicode.IsLower) >= 0
}

// isGrouped reports whether a word is a key in groups, such as
// ABCD1-EFG2H-3IJKL-MN4OP: four groups or more of four to eight letters and
// digits, two of them with a digit.
func isGrouped(word string) bool {
	groups, mixed := 0, 0
	for group := range strings.SplitSeq(word, "-") {
		if len(group) < 4 || len(group) > 8 || longestRun(group) < len(group) {
			continue
		}
		groups++
		if strings.ContainsAny(group, "0123456789") && strings.Trim(group, "0123456789") != "" {
			mixed++
		}
	}
	return groups >= 4 && mixed >= 2
}

// function are words that no list for seed phrases has (BIP-39 and others), and
// that a question of twelve words does.
var function = map[string]bool{
	"the": true, "and": true, "for": true, "how": true, "are": true, "not": true, "from": true, "does": true,
	"was": true, "which": true, "where": true, "why": true, "who": true, "should": true, "between": true, "has": true,
	"its": true, "their": true, "our": true, "your": true, "been": true, "were": true, "did": true, "each": true,
}

// isSeedPhrase reports whether a text is twelve words or more of three to eight
// letters and no function word, as a wallet's recovery phrase is.
func isSeedPhrase(text string) bool {
	row := 0
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		word = strings.Trim(word, ".,;:0123456789")
		plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
		if word == "" {
			continue // a number of the list
		}
		if row++; !plain || len(word) < 3 || len(word) > 8 || function[word] {
			row = 0
		}
		if row >= 12 {
			return true
		}
	}
	return false
}
