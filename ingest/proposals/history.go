package proposals

import (
	"regexp"
	"strings"
)

// statusChanges returns the status changes along the branch, in order: for each
// commit those of the headers, then those of the index table's rows.
func (s *syncRun) statusChanges() []Change {
	var changes []Change
	headers := map[string]string{} // path → status
	rows := map[string]IndexRow{}  // number → row
	for _, st := range s.line {
		c := st.commit
		at := Change{At: c.Committer.When, Commit: c.Hash.String(), Subject: subject(c)}
		for _, f := range st.changes {
			if f.old != "" && f.old != f.new {
				delete(headers, f.old)
			}
			number, h := s.past(f)
			if number == "" {
				continue
			}
			status := h.Status
			if _, said := h.Fields["Status"]; !said {
				delete(headers, f.new)
				continue
			}
			before, known := headers[f.new]
			headers[f.new] = status
			if !known || status != before {
				ch := at
				ch.Number, ch.From, ch.To, ch.Initial, ch.Path = number, before, status, !known, f.new
				ch.URL = s.opts.URL.file(ch.Commit, f.new)
				changes = append(changes, ch)
			}
		}
		changes = append(changes, s.indexChanges(st, at, rows)...)
	}
	s.rows = rows
	return changes
}

// past reads the header of a former version of a file, and its number: the one
// that the file has now, else the one that it had. The number is empty if it was
// not a proposal.
func (s *syncRun) past(f fileChange) (number string, h Header) {
	if f.new == "" || !s.isText(f.new) || !s.included(f.new) {
		return "", Header{}
	}
	number = s.numberOf[f.new]
	text, err := s.text(f.newHash)
	if err != nil {
		if number != "" {
			s.skip(f.new, err)
		}
		return "", Header{}
	}
	_, h, _ = s.reader.parse(File{Path: f.new, Text: text}) // one that is too large has no status
	if number == "" {
		if c, err := s.reader.candidate(f.new, h, s.named()); err == nil {
			number = c.number
		}
	}
	return number, h
}

// indexChanges compares the index table before and after a commit.
func (s *syncRun) indexChanges(st step, at Change, rows map[string]IndexRow) (changes []Change) {
	for _, f := range st.changes {
		if f.new == "" || f.new != s.opts.Index {
			continue
		}
		text, ok := s.version(f.new, f.newHash)
		if !ok {
			continue
		}
		for _, row := range IndexTable(asMarkdown(f.new, text)) {
			before, known := rows[row.Number]
			rows[row.Number] = row
			if known && before.Status == row.Status {
				continue
			}
			ch := at
			ch.Number, ch.From, ch.To, ch.Initial, ch.Index, ch.Path = row.Number, before.Status, row.Status, !known,
				true, f.new
			ch.URL = s.opts.URL.file(ch.Commit, f.new)
			changes = append(changes, ch)
		}
	}
	return changes
}

// IndexRow is a proposal's row in a repository's index table.
type IndexRow struct {
	Number string // in the form of Numeral
	Title  string
	Author string
	Type   string
	Status string // as spelled
}

var rowNumber = regexp.MustCompile(`(?i)^\s*\[?\s*(?:[a-z]+[-_ ]?)?(\d{1,6}(?:-\d\d)?)\b`)

// IndexTable reads the table of a text that has a Status column: one row for
// each number in the first cell. Rows without a number or a status are skipped;
// of several rows with a number the first counts.
func IndexTable(text string) []IndexRow {
	var rows []IndexRow
	var columns map[string]int
	seen := map[string]bool{}
	for line := range strings.Lines(normalise(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue // a stray line does not end the table
		}
		cells := tableCells(line)
		if named := columnNames(cells); named != nil {
			columns = named
			continue
		}
		m := rowNumber.FindStringSubmatch(cells[0])
		if m == nil || columns == nil {
			continue
		}
		cell := func(name string) string {
			if i, ok := columns[name]; ok && i < len(cells) {
				return plain(cells[i])
			}
			return ""
		}
		row := IndexRow{Numeral(m[1]), cell("Title"), cell("Author"), cell("Type"), cell("Status")}
		if row.Status != "" && !seen[row.Number] {
			seen[row.Number] = true
			rows = append(rows, row)
		}
	}
	return rows
}

// columnNames returns the columns of a heading row by canonical name; nil for
// a row without a Status column.
func columnNames(cells []string) map[string]int {
	columns := map[string]int{}
	for i, c := range cells {
		name, _ := canonicalName(c)
		columns[name] = i
	}
	if _, ok := columns["Status"]; !ok {
		return nil
	}
	return columns
}

// tableCells splits a table row at its unescaped bars.
func tableCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	var cells []string
	start := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			cells = append(cells, strings.TrimSpace(line[start:i]))
			start = i + 1
		}
	}
	return append(cells, strings.TrimSpace(line[start:]))
}
