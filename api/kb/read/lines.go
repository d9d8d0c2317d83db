package read

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"almanac/api/op"
	"almanac/text/prose"
)

// linesMark ends an id that reads lines: 1000054:120-160, 1000054:120 or 1000054:120-.
var linesMark = regexp.MustCompile(`:([1-9]\d{0,8})(-(\d{0,9}))?$`)

// cutLines splits an id into that of the record and the lines in it, with their mark.
func cutLines(id string) (record, lines string, ok bool) {
	at := linesMark.FindStringIndex(id)
	if at == nil || at[0] == 0 {
		return id, "", false
	}
	return id[:at[0]], id[at[0]:], true
}

// lineRange reads what cutLines returns: to is beyond every line if the last is not said.
func lineRange(lines string) (from, to int, ok bool) {
	m := linesMark.FindStringSubmatch(lines)
	if m == nil || m[0] != lines {
		return 0, 0, false
	}
	from, _ = strconv.Atoi(m[1]) // the pattern has digits
	switch to = from; {
	case m[2] == "-":
		to = 1 << 30
	case m[3] != "":
		to, _ = strconv.Atoi(m[3])
	}
	return from, to, true
}

// lineID is what reads lines of a record.
func lineID(record int64, from, to int) string { return fmt.Sprintf("%d:%d-%d", record, from, to) }

// readLines returns lines of a text, each behind its number, as many as an answer holds.
// Of one that is longer than that it returns the beginning, with the cursor that goes on
// in the text.
func readLines(record int64, body string, from, to int) (p Part, err error) {
	if to < from {
		return p, op.InvalidField("id", "must have the first line before the last, as in %s", lineID(record, to, from))
	}
	all := strings.SplitAfter(strings.TrimSuffix(body, "\n"), "\n")
	if from > len(all) {
		return p, op.NotFound("there is no line %d: the text has %d", from, len(all))
	}
	p.Lines, to = len(all), min(to, len(all))
	var rows strings.Builder
	start := 0 // of the first line, in the text
	for i, line := range all[:to] {
		if i+1 < from {
			start += len(line)
		} else if rows.Len() < 4*textLimit {
			fmt.Fprintf(&rows, "%d\t%s\n", i+1, strings.TrimSuffix(line, "\n"))
		}
	}
	p.Content = rows.String()
	p.Content = p.Content[:min(len(prose.First(p.Content, textLimit)), op.Within(p.Content, threadTokens))]
	whole := strings.LastIndex(p.Content, "\n") + 1
	last := from + strings.Count(p.Content, "\n") - 1
	if whole == 0 { // one line is more than an answer holds
		last = from
		p.Truncated, p.NextCursor = true, strconv.Itoa(start+len(p.Content)-len(strconv.Itoa(from)+"\t"))
	} else {
		p.Content = p.Content[:whole]
	}
	count := last - from + 1
	p.Section = lineID(record, from, last)
	if from > 1 {
		p.Before = lineID(record, max(1, from-count), from-1)
	}
	if last < p.Lines {
		p.After = lineID(record, last+1, min(p.Lines, max(to, last+count)))
	}
	return p, nil
}
