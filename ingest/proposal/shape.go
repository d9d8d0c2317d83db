package proposal

import (
	"regexp"
	"strings"

	"almanac/text/markdown"
)

// The shapes a header comes in. Each returns the fields it found and the
// index of the first line after them.

var (
	preTag  = regexp.MustCompile(`(?i)^\s*</?\s*pre\s*>\s*$`)
	heading = regexp.MustCompile(`^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$`)
	// blockKey is a "Key: value" line of a block; template lines mark optional
	// fields with an asterisk.
	blockKey = regexp.MustCompile(
		`^\s*(?:[*-]\s+)?([\pL][\pL\pN]*(?:[ -]\(?\*?\pL[\pL\pN)]*){0,4}(?:\(s\))?)\s*:(\s*)(.*)$`)
	// boldKey finds **Key:** value, *Key*: value and **[Key](…):** value,
	// several to a line.
	boldKey = regexp.MustCompile(`(?:\*\*?|__)\[?([\pL][\pL\pN /()&-]{0,40}?)\]?(?:\([^()\s]*\))?\s*(?::\s*(?:\*\*?|` +
		`__)|(?:\*\*?|__)\s*:)`)
	tableRow = regexp.MustCompile(`^\s*\|([^|]*)\|(.*?)\|?\s*$`)
	ruleLine = regexp.MustCompile(`^\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$`)
	listMark = regexp.MustCompile(`^\s*(?:[*+-]|>)\s+`)
	colonRow = regexp.MustCompile(`^[\s|:-]*$`)
)

// mailFields reads a header as of a mail (RFC 822) at the very start: "Key:
// value" lines up to an empty one or a heading. A line that begins with a blank
// continues the value above it.
func mailFields(lines []string) ([]field, int) {
	var fields []field
	for i, line := range lines[:min(len(lines), maxHeaderLines)] {
		folded := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		key, value, keyed := keyLine(line)
		switch {
		case strings.TrimSpace(line) == "" || heading.MatchString(line):
			if countKnown(fields) < 2 {
				return nil, 0
			}
			return fields, i
		case folded && len(fields) > 0:
			last := &fields[len(fields)-1]
			last.lines = append(last.lines, line)
		case keyed && !listMark.MatchString(line) && !folded:
			name, _ := canonicalName(key)
			fields = append(fields, field{name: name, lines: []string{value}})
		default:
			return nil, 0
		}
	}
	if countKnown(fields) < 2 || len(lines) > maxHeaderLines {
		return nil, 0
	}
	return fields, len(lines)
}

// blockFields reads the first <pre> or fenced block that holds fields. A
// closing tag in place of the opening one also opens the block.
func blockFields(lines []string) ([]field, int) {
	for i := 0; i < min(len(lines), maxHeaderLines); i++ {
		closes := preTag.MatchString
		fence, opens := markdown.Open(lines[i])
		switch {
		case preTag.MatchString(lines[i]):
		case opens:
			closes = fence.Closes
		case isSection(lines[i]):
			return nil, 0
		default:
			continue
		}
		fields, end, closed := readBlock(lines, i+1, closes)
		if countKnown(fields) >= 2 {
			return fields, end
		}
		if !closed {
			return nil, 0
		}
		i = end - 1
	}
	return nil, 0
}

// readBlock reads key lines with their continuations up to the closing line; a
// heading or too many lines end an unclosed block.
func readBlock(lines []string, start int, closes func(string) bool) (fields []field, end int, closed bool) {
	for i := start; i < min(len(lines), start+maxHeaderLines); i++ {
		line := lines[i]
		if closes(line) {
			return fields, i + 1, true
		}
		if heading.MatchString(line) {
			return fields, i, false
		}
		if key, value, ok := keyLine(line); ok {
			name, _ := canonicalName(key)
			fields = append(fields, field{name: name, lines: []string{value}})
		} else if len(fields) > 0 {
			last := &fields[len(fields)-1]
			last.lines = append(last.lines, line)
		}
	}
	return fields, min(len(lines), start+maxHeaderLines), false
}

// keyLine reads a "Key: value" line. Only known keys may lack the blank after
// their colon.
func keyLine(line string) (key, value string, ok bool) {
	m := blockKey.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[3], "//") {
		return "", "", false
	}
	if m[2] == "" && m[3] != "" {
		if _, known := canonicalName(m[1]); !known {
			return "", "", false
		}
	}
	return m[1], m[3], true
}

// frontMatter reads YAML or TOML at the very start.
func frontMatter(lines []string) ([]field, int) {
	above := strings.Join(lines[:min(len(lines), maxHeaderLines)], "\n")
	front, body, ok := markdown.CutFront(above)
	switch {
	case len(front.Block) > markdown.MaxFront:
		return []field{{lines: []string{strings.TrimSuffix(front.Block, "\n")}}}, 0 // too large, as its size tells
	case !ok || !front.Closed:
		return nil, 0
	}
	end := strings.Count(above, "\n") + 1 // of all that was read
	if body != "" {
		end = strings.Count(above[:len(above)-len(body)], "\n")
	}
	values, err := front.Fields()
	if err != nil {
		// Not YAML, but perhaps lines that resemble it.
		fields, _, _ := readBlock(lines[:end], 1, ruleLine.MatchString)
		return fields, end
	}
	var fields []field
	for _, v := range values {
		name, _ := canonicalName(v.Key)
		fields = append(fields, field{name: name, lines: v.Lines})
	}
	return fields, end
}

// preamble reads the lines above the first section: bold keys, table rows,
// list items, and plain lines whose key is a known one.
func preamble(lines []string) (fields []field, end int) {
	for i := 0; i < min(len(lines), maxHeaderLines); i++ {
		line := lines[i]
		switch {
		case strings.TrimSpace(line) == "", ruleLine.MatchString(line), preTag.MatchString(line):
			if len(fields) > 0 && end == i {
				end = i + 1
			}
			continue
		case heading.MatchString(line):
			if isSection(line) || len(fields) > 1 {
				return fields, end
			}
			continue
		}
		found, keyed := lineFields(line)
		if len(found) > 0 || keyed && len(fields) > 0 && end == i {
			fields = append(fields, found...)
			end = i + 1
		} else if len(fields) >= 3 {
			return fields, end // prose ends a header
		}
	}
	return fields, end
}

// lineFields reads the known fields of a line of a preamble, and reports
// whether the line has keys at all.
func lineFields(line string) (fields []field, keyed bool) {
	if m := tableRow.FindStringSubmatch(line); m != nil {
		if colonRow.MatchString(line) {
			return nil, true
		}
		return known(m[1], m[2]), true
	}
	line = listMark.ReplaceAllString(line, "")
	at := boldKey.FindAllStringSubmatchIndex(line, -1)
	for i, m := range at {
		end := len(line)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		fields = append(fields, known(line[m[2]:m[3]], strings.TrimRight(line[m[1]:end], " |·"))...)
	}
	if len(at) > 0 {
		return fields, true
	}
	if key, value, ok := keyLine(plain(line)); ok {
		fields = known(key, value)
		return fields, len(fields) > 0
	}
	return nil, false
}

// known returns a field if its key is known. Otherwise, outside a block, any
// phrase before a colon would pass for a key; but capitals with a number may be
// the network's prefix.
func known(key, value string) []field {
	name, ok := canonicalName(strings.TrimRight(strings.TrimSpace(key), ":"))
	switch {
	case prefixKey.MatchString(name) && parseNumber(value) != "":
	case !ok || plain(value) == "" && !headerWithoutValue[name]:
		return nil
	}
	return []field{{name: name, lines: []string{value}}}
}

var prefixKey = regexp.MustCompile(`^[A-Z]{2,8}$`)

// headerWithoutValue are the fields that are kept even if blank: a blank status
// is a finding.
var headerWithoutValue = map[string]bool{"Status": true, "Approved": true}

// sectionName are the headings that start a proposal's text.
var sectionName = regexp.MustCompile(`(?i)^(?:[\divx]+(?:\.\d+)*[.):]?\s+)?(?:abstract|summary|executive summary|` +
	`tl;?dr|overview|introduction|background(?: and .*)?|motivation(?: .*)?|specification|objectives?(?: .*)?|` +
	`problem(?: .*)?|rationale(?: .*)?|table of contents|contents|goals?(?: .*)?|scope(?: .*)?|copyright|` +
	`proposal summary|project overview|milestones?(?: .*)?|about .*|the problem.*)$`)

func isSection(line string) bool {
	m := heading.FindStringSubmatch(line)
	return m != nil && sectionName.MatchString(plain(m[2]))
}
