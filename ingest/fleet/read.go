package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/dates"
	"almanac/text/dotpath"
)

// Options are the addresses of reports and the names of their columns.
type Options struct {
	URLs    []string     `yaml:"urls" required:"true" format:"address"`
	Items   dotpath.Path `yaml:"items"`
	Columns Columns      `yaml:"columns"`
}

// Columns are the names of the columns.
type Columns struct {
	Party      string `yaml:"party"`
	Name       string `yaml:"name"`
	Version    string `yaml:"version"`
	ReportedAt string `yaml:"reported_at"`
	LastSeen   string `yaml:"last_seen"`
	Sponsor    string `yaml:"sponsor"`
}

// Check names the columns that have no name.
func (o *Options) Check() error {
	c := o.Columns
	o.Columns = Columns{Party: cmp.Or(c.Party, "party"), Name: cmp.Or(c.Name, "name"),
		Version: cmp.Or(c.Version, "version"), ReportedAt: cmp.Or(c.ReportedAt, "reported_at"),
		LastSeen: cmp.Or(c.LastSeen, "last_seen"), Sponsor: cmp.Or(c.Sponsor, "sponsor")}
	return nil
}

// Report is the report of a validator. It has a party or a name; a time is zero
// if not reported.
type Report struct {
	Party, Name, Version, Sponsor string
	ReportedAt, LastSeen          time.Time // to the hour
}

// key is the natural key of the validator.
func (r Report) key() string { return cmp.Or(r.Party, r.Name) }

// latest returns the time of the report, zero if it has none.
func (r Report) latest() time.Time {
	if r.ReportedAt.After(r.LastSeen) {
		return r.ReportedAt
	}
	return r.LastSeen
}

// PartyName is the readable part of a party id: "harbour-1" of
// "harbour-1::1220ab…".
func PartyName(party string) string {
	name, _, _ := strings.Cut(party, "::")
	return cmp.Or(name, party)
}

var types = []string{"application/json", "text/*", "application/csv", "application/octet-stream"}

const (
	maxReport  = 32 << 20 // bytes per address
	maxRows    = 200_000
	maxColumns = 1000
	maxText    = 500 // bytes of a field
)

// Read reads the reports of all addresses, sorted by key. Complete means that
// every address was read to its end and was valid; problems are reported to out.
// It fails if none could be read or ctx is done.
func Read(
	ctx context.Context, client *outbound.Client, o Options, out ingest.Sink,
) (reports []Report, complete bool, err error) {
	found := map[string]Report{}
	complete = true
	var failures []error
	for _, address := range o.URLs {
		list, err := o.read(ctx, client, address, out)
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if errors.Is(err, errRows) {
			complete, err = false, nil
		}
		if err != nil {
			failures = append(failures, err)
			continue
		}
		for _, r := range list {
			if old, ok := found[r.key()]; !ok || r.latest().After(old.latest()) {
				found[r.key()] = r
			}
		}
	}
	if len(failures) == len(o.URLs) {
		return nil, false, fmt.Errorf("no report could be read: %w", errors.Join(failures...))
	}
	for _, err := range failures {
		complete = false
		out.Warn("fleet", "one of the reports could not be read: "+err.Error())
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		reports = append(reports, found[key])
	}
	return reports, complete, nil
}

// errRows: some rows of a report could not be read.
var errRows = errors.New("some rows could not be read")

func (o Options) read(ctx context.Context, client *outbound.Client, address string, out ingest.Sink) ([]Report, error) {
	answer, err := client.Do(ctx, outbound.Request{URL: address, Accept: types, MaxBody: maxReport})
	if err != nil {
		return nil, err
	}
	host := "report"
	if u, err := url.Parse(answer.URL); err == nil {
		host = u.Host + u.Path
	}
	rows, err := o.rows(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", host, err)
	}
	var bad, first error
	var list []Report
	for i, row := range rows {
		r, err := o.Columns.report(row)
		if err != nil {
			bad, first = errRows, cmp.Or(first, err)
			out.Skip(fmt.Sprintf("%s: validator %d", host, i+1), err)
			continue
		}
		list = append(list, r)
	}
	if len(list) == 0 && len(rows) > 0 {
		return nil, fmt.Errorf("%s: none of its %d rows can be read; see the options items and columns: %w",
			host, len(rows), first)
	}
	return list, bad
}

// row returns the text of a column, "" for none.
type row func(column string) string

// rows splits a report into its rows.
func (o Options) rows(raw []byte) ([]row, error) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	var rows []row
	var err error
	switch {
	case len(raw) == 0:
		return nil, errors.New("the report is empty")
	case raw[0] == '{' || raw[0] == '[':
		rows, err = o.objects(raw)
	case raw[0] == '<':
		return nil, errors.New("the report is a page for people, neither JSON nor CSV")
	default:
		rows, err = o.lines(raw)
	}
	if err == nil && len(rows) > maxRows {
		return nil, fmt.Errorf("the report has more than %d rows", maxRows)
	}
	return rows, err
}

// objects splits JSON, of which a column is decoded when it is read: as values,
// 24 MB of it take a gigabyte.
func (o Options) objects(raw []byte) ([]row, error) {
	if !json.Valid(raw) {
		var document any
		return nil, fmt.Errorf("the report is not valid JSON: %w", json.Unmarshal(raw, &document))
	}
	if items, ok := o.Items.List(raw); ok {
		rows := make([]row, len(items))
		for i, item := range items {
			rows[i] = func(column string) string { return field(item, column) }
		}
		return rows, nil
	}
	var byParty map[string]json.RawMessage
	if json.Unmarshal(o.Items.Find(raw), &byParty) != nil {
		return nil, errNoList
	}
	rows := make([]row, 0, len(byParty))
	for _, key := range slices.Sorted(maps.Keys(byParty)) {
		if byParty[key][0] != '{' {
			return nil, errNoList
		}
		rows = append(rows, func(column string) string {
			found := field(byParty[key], column)
			if found == "" && column == o.Columns.Party {
				return clip(key)
			}
			return found
		})
	}
	return rows, nil
}

var errNoList = errors.New("the report has no list of validators; set its path with option items")

// field returns a text or number of an object by its path; "" for none.
func field(object json.RawMessage, path string) string {
	found := dotpath.Path(path).Find(object)
	if text, ok := dotpath.Text(found); ok && found[0] != 't' && found[0] != 'f' {
		return clip(text)
	}
	return ""
}

func clip(s string) string {
	if s = strings.TrimSpace(s); len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "")
}

// lines splits CSV and keeps of a line what the columns name.
func (o Options) lines(raw []byte) ([]row, error) {
	head, _, _ := bytes.Cut(raw, []byte("\n"))
	comma := separator(head)
	for line := range bytes.Lines(raw) {
		if n := bytes.Count(line, []byte(string(comma))) + 1; n > maxColumns {
			return nil, fmt.Errorf("the report has %d columns; the limit is %d", n, maxColumns)
		}
	}
	r := csv.NewReader(bytes.NewReader(raw))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = comma, -1, true, true
	record, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the report is not valid CSV: %w", err)
	}
	at := map[string]int{}
	for i, name := range record {
		at[strings.ToLower(strings.TrimSpace(name))] = i
	}
	c := o.Columns
	place := func(column string) int { // -1: the report does not have it
		if i, ok := at[strings.ToLower(column)]; ok {
			return i
		}
		return -1
	}
	if place(c.Party) < 0 && place(c.Name) < 0 {
		return nil, fmt.Errorf("the first line of the report has neither a column %q nor %q; see option columns",
			strings.ToLower(c.Party), strings.ToLower(c.Name))
	}
	var rows []row
	for len(rows) <= maxRows {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the report is not valid CSV: %w", err)
		}
		fields := map[string]string{}
		for _, column := range []string{c.Party, c.Name, c.Version, c.ReportedAt, c.LastSeen, c.Sponsor} {
			if i := place(column); i >= 0 && i < len(record) {
				fields[column] = clip(record[i])
			}
		}
		rows = append(rows, func(column string) string { return fields[column] })
	}
	return rows, nil
}

func separator(head []byte) rune {
	best, most := ',', bytes.Count(head, []byte(","))
	for _, c := range []rune{';', '\t'} {
		if n := bytes.Count(head, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

var errNobody = errors.New("names no validator: it has neither party nor name")

func (c Columns) report(at row) (Report, error) {
	r := Report{Party: at(c.Party), Name: at(c.Name), Version: at(c.Version), Sponsor: at(c.Sponsor)}
	if r.key() == "" {
		return r, errNobody
	}
	var err error
	if r.ReportedAt, err = parseTime(at(c.ReportedAt)); err != nil {
		return r, err
	}
	r.LastSeen, err = parseTime(at(c.LastSeen))
	return r, err
}

// parseTime reads a time, to the hour; zero for none.
func parseTime(s string) (time.Time, error) {
	at, shape := dates.Parse(s, dates.Day|dates.Local|dates.Instant|dates.Unix|dates.Free)
	switch {
	case s == "", shape == dates.Unix && at.Unix() == 0:
		return time.Time{}, nil
	case shape == 0:
		return at, fmt.Errorf("%.40q is not a time; want one such as 2031-06-01T12:00:00Z", s)
	}
	return at.Truncate(time.Hour), nil
}
