package releases

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"almanac/text/markdown"
)

// Bounds of errorText, in characters and identifiers.
const (
	maxErrorText   = 1_000
	maxIdentifiers = 12
	maxIdentifier  = 80
)

// errorText reduces what a program printed to what can be searched for: the
// messages with the identifiers in them, without stack frames, times, levels,
// addresses in memory, hashes and the directories of paths, each line once, on
// one line of at most 1,000 characters and what identifiers are beyond them. It
// also returns the identifiers: error codes (TOO_OLD, ERR-17) and names of types
// (ParseError), in the order of the text. Text of nothing but frames is kept as
// it is.
func errorText(printed string) (text string, identifiers []string) {
	printed = strings.Map(printable, escapeCode.ReplaceAllString(strings.ToValidUTF8(printed, " "), ""))
	var kept []string
	for line := range strings.Lines(printed) {
		if frame.MatchString(line) {
			continue
		}
		if line = message(line); line != "" && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	text = strings.Join(kept, " ")
	if text == "" {
		text = message(strings.Join(strings.Fields(printed), " "))
	}
	all := identifiersIn(text)
	text = strings.TrimSpace(markdown.Cut(text, maxErrorText))
	for _, id := range all {
		if !strings.Contains(text, id) {
			text += " " + id
		}
	}
	return text, all
}

func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' {
		return ' '
	}
	return r
}

var (
	escapeCode = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// frame is a line that says where, not what: of Java and JavaScript (at …),
	// Python, Go, Rust and gdb, and what stands around frames.
	frame = regexp.MustCompile(`^\s*(?:` + strings.Join([]string{
		`at (?:async )?[\w.$<>/@-]+ ?\([^()]*\)\s*$`, `at (?:async )?[\w.$<>/\\:-]+:\d+`, `\.\.\. \d+ (?:more|common)`,
		`File ".*", line \d+`, `Traceback \(most recent`,
		`goroutine \d+`, `\S+\.go:\d+(?: \+0x[0-9a-f]+)?\s*$`, `created by \S+`, `[\w./*]+\(\)\s*$`,
		`[\w./*()-]+\((?:0x[0-9a-f]+|\{|\.\.\.).*\)\s*$`,
		`#?\d+:?\s+0x[0-9a-f]+`, `\d+:\s+[\w:<>]+::`, `stack (?:backtrace|trace):?\s*$`, `[\^~\s|=*-]+$`,
	}, "|") + `)`)

	times = regexp.MustCompile(`\b\d{4}[-/]\d\d[-/]\d\d[T ]?(?:\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|` +
		`\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b`)
	logLevel  = regexp.MustCompile(`^[\s\[(]*(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|PANIC)\b[\s\])]*:?`)
	thread    = regexp.MustCompile(`\[[A-Za-z][\w.#:/-]*\d[\w.#:/-]*\]`)
	anonymous = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|` +
		`\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b|@[0-9a-f]{6,}\b|\(\d+,[0-9a-f]{4,}\)`)
	place = regexp.MustCompile(`(?:[A-Za-z]:[\\/]|~/|\.{1,2}/|/(?:home|root|Users|usr|var|opt|etc|tmp|app|srv|mnt)/)` +
		`[^\s"'` + "`" + `:;,()<>]+(?::\d+){0,2}|(?:[\w.@+-]+/){2,}[\w@+-]+\.[A-Za-z]{1,6}(?::\d+){0,2}\b`)
	position = regexp.MustCompile(`(?::\d+){1,2}$`)
	operator = regexp.MustCompile(`(?i)\b(kind|source):`)
)

// message is a line without what differs from one machine, time and request to
// the next, and without what a search would read as its operators.
func message(line string) string {
	line = times.ReplaceAllString(line, " ")
	line = place.ReplaceAllStringFunc(line, func(p string) string {
		return path.Base(strings.ReplaceAll(position.ReplaceAllString(p, ""), `\`, "/"))
	})
	line = anonymous.ReplaceAllString(line, " ")
	line = thread.ReplaceAllString(line, " ")
	line = logLevel.ReplaceAllString(strings.TrimSpace(line), "")
	words := strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"“”„`, r) {
			return ' '
		}
		return r
	}, line))
	var kept []string
	for _, w := range words {
		w = strings.TrimLeft(w, "-")
		w = operator.ReplaceAllString(w, "$1 ")
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

var identifier = regexp.MustCompile(`\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{2,}-\d+|` +
	`(?:[A-Z][a-z0-9]+){2,}|[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+)\b`)

// identifiersIn returns the error codes and names in a text, each once.
func identifiersIn(text string) []string {
	var out []string
	for _, id := range identifier.FindAllString(text, -1) {
		if len(id) <= maxIdentifier && !slices.Contains(out, id) && len(out) < maxIdentifiers {
			out = append(out, id)
		}
	}
	return out
}
