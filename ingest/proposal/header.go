package proposal

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"almanac/catalog/network"
	"almanac/text/dates"
	"almanac/text/markdown"
)

// Header is the parsed header of a proposal. Every part may be empty: authors
// write headers freely.
type Header struct {
	// Fields are all fields by canonical name ("Author", "Superseded-By"; an
	// unknown field keeps its own), values as written without markup and email
	// addresses; lines of a value are joined by "; ", those of a phrase by a blank.
	Fields map[string]string
	Order  []string // the names in the order they first appear
	// Duplicates are the names that appear more than once. The first value
	// that is not blank counts.
	Duplicates []string

	Number      string // in the form of Numeral; empty while none is assigned
	Title       string // the field; Reader finds another if it is blank or generic
	Status      string // as spelled
	Type        string
	Category    string // within the type; a header's only category is its type
	Layer       string
	Authors     []string
	Created     string // as written; see Date
	Approved    string // as written
	License     string
	Discussions string // where the proposal is discussed

	Body string // the text after the header
}

// maxHeaderLines is how many lines are searched for a header.
const maxHeaderLines = 120

// ParseHeader reads the header of a proposal's text. It understands, in this
// order, front matter in YAML or TOML; "Key: value" lines at the very start as in a
// mail (RFC 822); a <pre> or fenced block of them, at the start or after a heading,
// even with a miswritten tag; and "Key: value" lines, bold keys, list items or a
// two-column table above the first section. The first of these that has a known field
// is the whole header, so that code in the text cannot change what front matter says.
// A text without a header yields an empty one, as does one that is too large: then the
// error is ErrTooLarge.
func ParseHeader(text string) (Header, error) {
	text = normalise(text)
	lines := strings.Split(text, "\n")
	h := Header{Fields: map[string]string{}}
	end := 0
	for _, shape := range []func([]string) ([]field, int){frontMatter, mailFields, blockFields, preamble} {
		fields, after := shape(lines)
		if err := tooLarge("header", sizeOf(fields), maxHeader); err != nil {
			return h, err
		}
		if countKnown(fields) > 0 {
			h.set(fields)
			end = after
			break
		}
	}
	for range end {
		_, text, _ = strings.Cut(text, "\n")
	}
	h.Body = strings.TrimSpace(text)
	h.interpret()
	return h, nil
}

var uniform = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u00a0", " ", "\u2028", "\n")

// normalise makes line ends and blanks uniform and the text valid.
func normalise(text string) string {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	return uniform.Replace(text)
}

// field is one line of a header with its continuations.
type field struct {
	name  string   // canonical
	lines []string // of the value
}

// sizeOf returns the bytes of fields.
func sizeOf(fields []field) (n int) {
	for _, f := range fields {
		n += len(f.name)
		for _, line := range f.lines {
			n += len(line) + 1
		}
	}
	return n
}

func (h *Header) set(fields []field) {
	for _, f := range fields {
		value := joinLines(f.name, f.lines)
		old, seen := h.Fields[f.name]
		switch {
		case !seen:
			h.Order = append(h.Order, f.name)
			h.Fields[f.name] = value
		default:
			if !slices.Contains(h.Duplicates, f.name) {
				h.Duplicates = append(h.Duplicates, f.name)
			}
			if old == "" {
				h.Fields[f.name] = value
			}
		}
	}
}

func (h *Header) interpret() {
	f := h.Fields
	h.Number = parseNumber(f["Number"])
	h.Title = plain(f["Title"])
	h.Status = plain(f["Status"])
	h.Type = plain(f["Type"])
	h.Category = plain(f["Category"])
	h.Layer = plain(f["Layer"])
	h.Authors = splitAuthors(cmp.Or(f["Author"], f["Owner"]))
	h.Created = plain(cmp.Or(f["Created"], f["Assigned"], f["Start-Date"]))
	h.Approved = plain(f["Approved"])
	h.License = plain(f["License"])
	h.Discussions = strings.TrimSpace(f["Discussions-To"])
	if h.Discussions == "" && strings.Contains(f["Post-History"], "://") {
		h.Discussions = strings.TrimSpace(f["Post-History"])
	}
	// A template's placeholders ("<list of authors>") are not values.
	for _, s := range []*string{
		&h.Title, &h.Status, &h.Type, &h.Category, &h.Layer, &h.Created, &h.Approved, &h.License,
	} {
		if strings.HasPrefix(*s, "<") {
			*s = ""
		}
	}
	if h.Type == "" {
		h.Type, h.Category = h.Category, ""
	}
}

// canonical names by their spelling without case, blanks and punctuation.
var canonical = map[string]string{
	"number": "Number", "no": "Number",
	"title": "Title", "proposaltitle": "Title", "projecttitle": "Title",
	"author": "Author", "authors": "Author", "submittedby": "Author", "submitter": "Author", "applicant": "Author",
	"proposer": "Author", "owner": "Owner", "owners": "Owner",
	"status": "Status", "proposalstatus": "Status", "type": "Type", "track": "Type", "category": "Category",
	"layer":   "Layer",
	"created": "Created", "date": "Created", "submitted": "Created", "submissiondate": "Created",
	"datesubmitted": "Created", "assigned": "Assigned", "startdate": "Start-Date",
	"approved": "Approved", "approvaldate": "Approved", "updated": "Updated",
	"lastupdated": "Updated", "license": "License", "licence": "License", "licensecode": "License-Code",
	"discussionsto": "Discussions-To", "discussions": "Discussions-To", "discussion": "Discussions-To",
	"commentssummary": "Comments-Summary", "commentsuri": "Comments-URI",
	"posthistory": "Post-History",
	"requires":    "Requires", "require": "Requires", "dependson": "Requires",
	"replaces": "Replaces", "supersedes": "Replaces",
	"supersededby": "Superseded-By", "replacedby": "Superseded-By",
	"label": "Label", "labels": "Label",
	"champion": "Champion", "sponsor": "Champion", "champions": "Champion", "techopschampion": "Champion",
	"sigchampion": "Champion", "org": "Organisation", "organization": "Organisation", "organisation": "Organisation",
	"company": "Organisation", "contact": "Contact", "website": "Website", "github": "Repository",
	"repository": "Repository", "pr": "Pull-Request", "pullrequest": "Pull-Request", "sig": "SIG", "version": "Version",
	"funding": "Funding", "fundingrequested": "Funding", "fundingrequest": "Funding", "requestedfunding": "Funding",
	"totalfundingrequest": "Funding", "totalfundingrequested": "Funding", "requestedamount": "Funding",
	"totalrequested": "Funding", "budget": "Funding",
}

// numberKey matches networks' names of the number field: the prefix of their
// proposals, in capitals.
var numberKey = regexp.MustCompile(`^[A-Z]{1,4}IP$`)

// keyRemark matches what a template says behind the key of a field.
var keyRemark = regexp.MustCompile(`(?i)\s*\(\*?\s*(?:optional|required)\s*\)$`)

// canonicalName returns the canonical name of a key and whether it is known.
func canonicalName(key string) (string, bool) {
	key = strings.TrimSpace(plain(key))
	if numberKey.MatchString(key) {
		return "Number", true
	}
	folded := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSuffix(keyRemark.ReplaceAllString(key, ""), "(s)"))
	if name, ok := canonical[folded]; ok {
		return name, true
	}
	return key, false
}

func countKnown(fields []field) (n int) {
	for _, f := range fields {
		if _, known := canonicalName(f.name); known {
			n++
		}
	}
	return n
}

var (
	htmlBreak = regexp.MustCompile(`(?i)<\s*/?\s*br\s*/?\s*>`)
	htmlTag   = regexp.MustCompile(`</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]*)?/?>`)
	mdLink    = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)`)
	mail      = regexp.MustCompile(
		`\s*[<(\[]?\s*(?:mailto:)?([\pL\pN._%+-]+)@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.[\pL]{2,}\s*[>)\]]?`)
	mdEscape = regexp.MustCompile("\\\\([\\\\`*_{}\\[\\]()#+.!&|<>~$-])")
	marks    = strings.NewReplacer("**", "", "`", "")
	// underlined matches __Strong__, and names of programs such as __main__, which
	// are not.
	underlined = regexp.MustCompile(`__(.*?)__`)
	dunder     = regexp.MustCompile(`^[a-z][a-z\d_]*$`)
	manyBlanks = regexp.MustCompile(`[ \t]+`)
)

// plain strips markdown and HTML from a single line.
func plain(s string) string {
	s = htmlBreak.ReplaceAllString(s, " ")
	s = mdLink.ReplaceAllString(s, "$1")
	s = html.UnescapeString(htmlTag.ReplaceAllString(s, ""))
	s = underlined.ReplaceAllStringFunc(marks.Replace(s), func(strong string) string {
		if text := strings.Trim(strong, "_"); strong == s || !dunder.MatchString(text) {
			return text
		}
		return strong
	})
	s = mdEscape.ReplaceAllString(s, "$1")
	s = strings.TrimSuffix(strings.TrimSpace(s), "\\")
	s = manyBlanks.ReplaceAllString(s, " ")
	s = strings.TrimSpace(s)
	if n := len(s); n > 2 && s[0] == '*' && s[n-1] == '*' {
		s = strings.TrimSpace(s[1 : n-1])
	}
	return s
}

// phrases are the fields whose value is one phrase, however many lines it has.
var phrases = map[string]bool{"Title": true, "Status": true, "Type": true, "Category": true, "Created": true}

// joinLines joins a field's lines into one value.
func joinLines(name string, lines []string) string {
	var kept []string
	for _, l := range lines {
		l = htmlBreak.ReplaceAllString(l, " ")
		if name == "Author" || name == "Owner" {
			l = withoutContacts(l, mail)
		} else {
			l = mail.ReplaceAllString(l, "")
		}
		l = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(l), "\\"))
		if l != "" {
			kept = append(kept, l)
		}
	}
	if phrases[name] {
		return strings.Join(kept, " ")
	}
	return strings.Join(kept, "; ")
}

var assigned = regexp.MustCompile(`^(?:[A-Za-z]+[\s_-]+)?(\d+(?:-\d{1,2})?)\s*[;.,:]?$`)

// parseNumber parses "0056", "CIP 0056", "CIP-105" and the number of a part,
// "0046-01"; "00XX", "?", "<to be assigned>" and "Uint64" are not numbers.
func parseNumber(s string) string {
	m := assigned.FindStringSubmatch(plain(s))
	if m == nil {
		return ""
	}
	return Numeral(m[1])
}

// Numeral returns a number in the form that this package compares: four digits,
// or more without leading zeros; the number of a part has two more (0046-01). It
// is empty if the number is too long.
func Numeral(number string) string {
	digits, part, _ := strings.Cut(number, "-")
	if digits == "" {
		return ""
	}
	if part != "" {
		part = "-" + strings.Repeat("0", max(0, 2-len(part))) + part
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > network.MaxDigits {
		return ""
	}
	return strings.Repeat("0", max(0, 4-len(digits))) + digits + part
}

var dateStart = regexp.MustCompile(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2})(?:\D|$)`)

// Date parses a date as written in headers: at the start of the value,
// year-month-day or in English words. A placeholder or an impossible date
// ("2025-06-203") yields the zero time.
func Date(s string) time.Time {
	s = strings.TrimSpace(s)
	if m := dateStart.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	return dates.At(s, dates.Day|dates.Month|dates.Free)
}

var (
	handle     = regexp.MustCompile(`\s*[<(\[]?@([\w-]+(?:\.[\w-]+)*)[>)\]]?`)
	bareURL    = regexp.MustCompile(`\s*[<(\[]?https?://[^\s<>()\[\]]+[>)\]]?`)
	emptyEnd   = regexp.MustCompile(`\s*[,;][\s,;]*([)\]])`)
	authorJoin = regexp.MustCompile(`(?i)^\s*(?:&|and\b|w/|with\b|feat\.)\s*`)
	unnamed    = regexp.MustCompile(`(?i)^others$|(?:^|\s)et\.? al(?:ii|ia)?\.?$`)
	corporate  = regexp.MustCompile(`(?i)^(?:inc|llc|ltd|limited|gmbh|ag|sa|plc|corp|co|phd|jr|sr|iii?)\.?$`)
)

// withoutContacts removes addresses or handles, which m matches, from a list of
// authors. One that no name stands before, and no bracket holds, is all that an
// author says of themselves: its name, in m's group, stays.
func withoutContacts(s string, m *regexp.Regexp) string {
	var out strings.Builder
	end, kept := 0, false // of the last match; whether its name stayed
	for _, at := range m.FindAllStringSubmatchIndex(s, -1) {
		between, match := s[end:at[0]], s[at[0]:at[1]]
		out.WriteString(between)
		before := out.String()[strings.LastIndexAny(out.String(), ",;&/|")+1:]
		beside := kept && strings.TrimSpace(between) == ""
		within := opens(s[:at[0]])
		kept = !within &&
			(beside || strings.IndexFunc(authorJoin.ReplaceAllString(before, ""), unicode.IsLetter) < 0)
		switch {
		case kept && beside:
			out.WriteString(", " + s[at[2]:at[3]])
		case kept:
			out.WriteString(" " + s[at[2]:at[3]])
		case strings.HasSuffix(match, ")") && !strings.Contains(match, "(") && opens(out.String()):
			out.WriteByte(')') // of what stands before
		}
		end = at[1]
	}
	return out.String() + s[end:]
}

// opens reports whether a bracket is open at the end of a text.
func opens(s string) bool { return strings.Count(s, "(") > strings.Count(s, ")") }

// splitAuthors lists the authors of a value, by their handles or the names of their
// addresses only where they have no others.
// Commas inside parentheses or before a company's legal form do not separate
// authors.
func splitAuthors(s string) []string {
	if strings.HasPrefix(s, "<") {
		return nil
	}
	s = withoutContacts(mdLink.ReplaceAllString(s, "$1"), mail)
	s = withoutContacts(bareURL.ReplaceAllString(s, ""), handle)
	var authors []string
	add := func(part string) {
		part = strings.Trim(plain(authorJoin.ReplaceAllString(part, "")), " ,;:|[]–—-")
		part = unnamed.ReplaceAllString(part, "")
		part = strings.TrimSpace(emptyEnd.ReplaceAllString(strings.ReplaceAll(part, "()", ""), "$1"))
		switch {
		case part == "" || strings.IndexFunc(part, unicode.IsLetter) < 0:
		case corporate.MatchString(part) && len(authors) > 0:
			authors[len(authors)-1] += ", " + part
		case !slices.Contains(authors, part):
			authors = append(authors, part)
		}
	}
	depth, start := 0, 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '(' || r == '[':
			depth++
		case (r == ')' || r == ']') && depth > 0:
			depth--
		case depth > 0:
		case r == ',' || r == ';':
			add(s[start:i])
			start = i + n
		case (r == '&' || r == '/') && spaced(s, i, n):
			add(s[start:i])
			start = i + n
		case r == ' ' && hasFoldPrefix(s[i:], " and "):
			add(s[start:i])
			start = i + len(" and ")
			n = len(" and")
		}
		i += n
	}
	add(s[min(start, len(s)):])
	return authors
}

// spaced reports whether the n bytes at i are between blanks.
func spaced(s string, i, n int) bool {
	return i > 0 && s[i-1] == ' ' && i+n < len(s) && s[i+n] == ' '
}

func hasFoldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// maxHeader is the most bytes of a proposal's header, wherever it comes from: anybody
// may propose.
const maxHeader = markdown.MaxFront

// ErrTooLarge: a text, or its header, is larger than what is parsed.
var ErrTooLarge = errors.New("larger than the limit")

func tooLarge(what string, size, limit int) error {
	if size <= limit {
		return nil
	}
	return fmt.Errorf("its %s has %d bytes, %w of %d", what, size, ErrTooLarge, limit)
}
