package mail

import (
	"regexp"
	"slices"
	"strings"
)

// unflow joins the lines of a flowed text (RFC 3676). A line that ends with a
// space continues on the next line of the same quotation depth.
func unflow(text string, deleteSpace bool) string {
	var out strings.Builder
	flows, depth := false, 0
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		rest := strings.TrimLeft(line, ">")
		level := len(line) - len(rest)
		rest = strings.TrimPrefix(rest, " ") // space-stuffed
		signature := rest == "-- "
		if joined := flows && level == depth && !signature; !joined {
			if i > 0 {
				out.WriteByte('\n')
			}
			if level > 0 {
				out.WriteString(strings.Repeat(">", level) + " ")
			}
		}
		if flows, depth = strings.HasSuffix(rest, " ") && !signature, level; flows && deleteSpace {
			rest = rest[:len(rest)-1]
		}
		out.WriteString(rest)
	}
	return out.String()
}

var (
	// below starts what lists and mail programs append to a text: all of it.
	below = regexp.MustCompile(`^(?:(?:-=){3,}-?|_\._,_\._,_|-{3,} ?(?:Original Message|` +
		`Ursprüngliche Nachricht|Message d'origine) ?-{3,})$`)
	// outlook starts a quoted message without quote marks: its sender, date and recipients. Patches have no recipients.
	outlook   = regexp.MustCompile(`^\**(?:From|Von|De):\**\s`)
	dated     = regexp.MustCompile(`(?m)^\s*\**(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado):\**\s`)
	addressed = regexp.MustCompile(`(?m)^\s*\**(?:To|An|À|Para):\**\s`)
	// rule is a line that separates. The footer of a list begins with one, or as a signature, and says right
	// below where people subscribe.
	rule   = regexp.MustCompile(`^(?:_{10,}|-{10,}|={10,}|\*{10,})$`)
	footer = regexp.MustCompile(`(?i)^(?:[_=*-]{10,}|-- ?)\n\S(?s:.*)(?:mailing[ -]?list|unsubscri|listinfo|` +
		`you (?:are )?receiv\w+ (?:this|all)|-(?:request|leave)@|listserv|abmelde|abbestell|désabonn|désinscri)`)
	// machine is a line that a mail program signs with.
	machine     = regexp.MustCompile(`^(?:Sent from my \w+.*|Get Outlook for .*)$`)
	gitVersion  = regexp.MustCompile(`^\d+\.\d+[\w.() -]*$`)
	attribution = regexp.MustCompile(`(?i)(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|写道).{0,60}[:：]\s*$`)
	escaped     = regexp.MustCompile(`(?m)^>(>*From )`)
	gaps        = regexp.MustCompile(`\n{3,}`)
)

// The lines that the ends of a text may have: longer ones were written.
const (
	maxFooter    = 12 // of a list
	maxSignature = 20 // behind "-- "
	maxSigned    = 8  // behind "--", which is also a rule between sections
	outlookHead  = 8  // of a quoted message: the lists of its recipients may be long
)

// own returns what the sender of a message wrote: without the armour of a signed
// text, and at its end without a quoted message, a signature and the footer of the
// list, in any order. Inline replies keep what they quote.
func own(text string) string {
	text = escaped.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "$1")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.ReplaceAll(line, "\u00a0", " ")
		if line != sigDashes {
			line = strings.TrimRight(line, " \t\r")
		}
		lines[i] = line
	}
	lines = unsigned(lines)
	written := false
	for i, line := range lines {
		head := ""
		if outlook.MatchString(line) {
			head = strings.Join(lines[i+1:min(i+outlookHead, len(lines))], "\n")
		}
		if written && (below.MatchString(line) || dated.MatchString(head) && addressed.MatchString(head)) {
			lines = lines[:i]
			break
		}
		written = written || line != ""
	}
	lines = ended(withoutSignature(ended(lines)))
	return strings.Trim(gaps.ReplaceAllString(strings.Join(lines, "\n"), "\n\n"), "\n")
}

// ended returns a text without the footers and the quotation at its end.
func ended(lines []string) []string {
	for before := -1; before != len(lines); {
		before = len(lines)
		lines = withoutQuotation(withoutFooter(lines))
	}
	return lines
}

const sigDashes = "-- " // RFC 3676, 4.3

// withoutFooter removes the empty lines at the end of a text and one thing above
// them: a rule, what a mail program signs with, or the footer of a list.
func withoutFooter(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	last := len(lines) - 1
	if last >= 0 && (rule.MatchString(lines[last]) || machine.MatchString(lines[last])) {
		return lines[:last]
	}
	for i := last - 1; i >= 0 && i >= last-maxFooter; i-- {
		if footer.MatchString(strings.Join(lines[i:], "\n")) {
			return lines[:i]
		}
	}
	return lines
}

// withoutSignature removes the signature at the end of a text. Two hyphens that are
// there twice are rules between sections; and git writes its version below a patch.
func withoutSignature(lines []string) []string {
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-1-maxSignature; i-- {
		below := lines[i+1:]
		switch lines[i] {
		case sigDashes:
			if len(below) > 1 && gitVersion.MatchString(below[0]) {
				continue
			}
			return lines[:i]
		case "--":
			if len(below) <= maxSigned && !slices.Contains(lines[:i], "--") {
				return lines[:i]
			}
			return lines
		}
	}
	return lines
}

// withoutQuotation removes the message that is quoted at the end of a text, unless
// there is nothing else.
func withoutQuotation(lines []string) []string {
	n := len(lines)
	for n > 0 && (lines[n-1] == "" || lines[n-1][0] == '>') {
		n--
	}
	if !slices.ContainsFunc(lines[n:], func(line string) bool { return line != "" }) {
		return lines[:n]
	}
	if rest := dropAttribution(lines[:n]); len(rest) > 0 {
		return rest
	}
	return lines
}

// The lines around a text that is signed in the clear (RFC 9580, 7).
const (
	signedStart    = "-----BEGIN PGP SIGNED MESSAGE-----"
	signatureStart = "-----BEGIN PGP SIGNATURE-----"
	signatureEnd   = "-----END PGP SIGNATURE-----"
)

var armourField = regexp.MustCompile(`^[A-Za-z]+: `)

// unsigned removes the armour of signed texts, also of quoted ones.
func unsigned(lines []string) []string {
	mark := func(line string) string { return strings.TrimLeft(line, "> ") }
	out := lines[:0]
	inside := false
	for i := 0; i < len(lines); i++ {
		switch line := lines[i]; mark(line) {
		case signedStart:
			inside = true
			for i+1 < len(lines) && armourField.MatchString(mark(lines[i+1])) {
				i++
			}
		case signatureStart:
			inside = false
			size := slices.IndexFunc(lines[i:], func(line string) bool { return mark(line) == signatureEnd })
			if size < 0 {
				return append(out, lines[i:]...)
			}
			i += size
		default:
			if inside {
				line = strings.TrimPrefix(line, "- ")
			}
			out = append(out, line)
		}
	}
	return out
}

// attributionStart matches the start of an attribution that spans lines.
var attributionStart = regexp.MustCompile(`^(?:On|Am|Le|El|Il|At|In|\d{4}-)\s?\S`)

// dropAttribution removes the lines that name the author of the quotation
// below.
func dropAttribution(lines []string) []string {
	last := len(lines) - 1
	if last < 0 {
		return lines
	}
	for from := last; from >= 0 && from > last-3 && lines[from] != ""; from-- {
		if attributionStart.MatchString(lines[from]) && attribution.MatchString(strings.Join(lines[from:], " ")) {
			return lines[:from]
		}
	}
	if attribution.MatchString(lines[last]) {
		return lines[:last]
	}
	return lines
}
