package mail

import (
	"regexp"
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
	// footers start what lists and mail programs append to a text.
	footers = regexp.MustCompile(`^(?:-- ?|_{20,}|(?:-=){3,}-?|_\._,_\._,_|-{3,} ?(?:Original Message|` +
		`Ursprüngliche Nachricht|Message d'origine) ?-{3,}|Sent from my \w+.*|Get Outlook for .*)$`)
	// outlook starts a quoted message without quote marks.
	outlook     = regexp.MustCompile(`^\**(?:From|Von|De):\**\s`)
	outlookNext = regexp.MustCompile(`^\**(?:Sent|Date|Gesendet|Envoyé|To|An):\**\s`)
	attribution = regexp.MustCompile(`(?i)(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|写道).{0,60}[:：]\s*$`)
	escaped     = regexp.MustCompile(`(?m)^>(>*From )`)
	gaps        = regexp.MustCompile(`\n{3,}`)
)

// own returns what the sender of a message wrote: without a quoted message
// below it, the signature and the footer of the list. Inline replies keep what
// they quote.
func own(text string) string {
	text = escaped.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "$1")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(line, "\u00a0", " "), " \t\r")
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		if footers.MatchString(lines[i]) || outlook.MatchString(lines[i]) && outlookNext.MatchString(next) {
			lines = lines[:i]
			break
		}
	}
	all := lines
	quoted := false
	for n := len(lines) - 1; n >= 0 && (lines[n] == "" || lines[n][0] == '>'); n-- {
		quoted = quoted || lines[n] != ""
		lines = lines[:n]
	}
	if quoted {
		lines = dropAttribution(lines)
	}
	if len(lines) == 0 {
		lines = all // nothing but a quotation
	}
	return strings.Trim(gaps.ReplaceAllString(strings.Join(lines, "\n"), "\n\n"), "\n")
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
