package releases

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/markdown"
)

// Diagnosis is what explains an error.
type Diagnosis struct {
	Searched    string   `json:"searched" doc:"what is left of the text without frames, times and paths"`
	Identifiers []string `json:"identifiers" doc:"error codes and names in it"`
	Total       int      `json:"total" doc:"number of records found"`
	Degraded    []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint        string   `json:"hint,omitempty" doc:"if nothing was found: what to try"`
	evidence.Grounds
}

// explanations is how many records are returned.
const explanations = 10

type errorIn struct {
	Text string `json:"error_text" required:"true" maxLength:"20000" doc:"message, log lines or stack trace as printed"`
}

var diagnose = kb.New(op.Spec{
	ID: "diagnose_error", Tool: "diagnose_error", Extra: true, MayFail: unavailable,
	Doc: `
Diagnose an error
Known issues, documentation, release notes and answers that explain an error.

Finds the issues, documentation, release notes, frequent questions and forum answers that explain an error message or a
stack trace. For problems described in words use find_known_issues.
`,
}, func(ctx context.Context, b kb.Base, in errorIn) (Diagnosis, error) {
	out := Diagnosis{Grounds: evidence.Grounds{
		Method: "Frames, times and paths are cut from the text, and what is left is searched for by words and meaning; " +
			"the weight is the score of the search, relative to the best, and half of it without any of the identifiers.",
	}}
	out.Searched, out.Identifiers = errorText(in.Text)
	s := find.Search{
		Field: "error_text", Query: out.Searched, Plain: true, Kinds: explainingKinds(), Limit: explanations,
		Bodies: true,
	}
	found, err := s.Run(ctx, b)
	if err != nil {
		return out, err
	}
	out.Total, out.Degraded, out.Hint = found.Total, found.Degraded, found.Hint
	out.Evidence = evidence.Of(b, explain(found.Items, out.Identifiers))
	return out, err
})

// explaining are the kinds of records that explain errors, as answers name them.
var explaining = map[catalog.Kind]string{
	catalog.KindIssue: "issue", catalog.KindPull: "pull request", catalog.KindDiscussion: "discussion on the forge",
	catalog.KindComment: "comment on the forge", catalog.KindDoc: "documentation", catalog.KindFAQ: "answer of the FAQ",
	catalog.KindRelease: "release note", catalog.KindRadar: "known change or flaw", catalog.KindTopic: "forum thread",
	catalog.KindPost: "forum post", catalog.KindMailMessage: "mail", catalog.KindAPIReference: "API reference",
	catalog.KindDeprecation: "item of the toolchain",
}

// explainingKinds are the kinds of records that explain errors, in the
// catalog's order.
func explainingKinds() (kinds []catalog.Kind) {
	for _, info := range catalog.Kinds {
		if explaining[info.Kind] != "" {
			kinds = append(kinds, info.Kind)
		}
	}
	return kinds
}

// explain says of each record that was found for an error, with its body,
// what it is and which of the error's identifiers it names. It weighs as much
// as it is relevant, and half of that if it names none of them.
func explain(found []find.Match, identifiers []string) (out []evidence.Proof) {
	for _, m := range found {
		r := m.Record
		p := evidence.Proof{Record: r, Snippet: m.Result.Snippet, Weight: m.Relevance}
		named := slices.DeleteFunc(slices.Clone(identifiers), func(id string) bool {
			return !strings.Contains(r.Title+"\n"+r.Body, id)
		})
		p.Why = strings.TrimSpace(r.State + " " + explaining[r.Kind])
		switch {
		case len(named) > 0:
			p.Why += " that names " + strings.Join(named, ", ")
		case len(identifiers) > 0:
			p.Weight /= 2
			fallthrough
		default:
			p.Why += " that is near in words or meaning"
		}
		out = append(out, p)
	}
	return out
}

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
