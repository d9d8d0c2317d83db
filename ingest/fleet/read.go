package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/prose"
	"almanac/text/table"
)

// Options are the addresses of reports and the names of their columns.
type Options struct {
	URLs    []string   `yaml:"urls" required:"true" format:"address"`
	Items   table.Path `yaml:"items"`
	Columns Columns    `yaml:"columns"`
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
	maxReport = 32 << 20 // bytes per address
	maxText   = 500      // bytes of a field
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
	rows := 0
	var list []Report
	var first error
	err = table.Each(answer.Body, o.Items, []string{o.Columns.Party, o.Columns.Name}, func(row table.Row) error {
		rows++
		r, err := o.Columns.report(row)
		if err != nil {
			first = cmp.Or(first, err)
			out.Skip(fmt.Sprintf("%s: validator %d", host, rows), err)
			return nil
		}
		list = append(list, r)
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", host, err)
	case first != nil && len(list) == 0:
		return nil, fmt.Errorf("%s: none of its %d rows can be read; see the options items and columns: %w",
			host, rows, first)
	case first != nil:
		return list, errRows
	}
	return list, nil
}

var errNobody = errors.New("names no validator: it has neither party nor name")

func (c Columns) report(row table.Row) (Report, error) {
	text := func(column string) string { return prose.FirstBytes(row.Text(column), maxText) }
	r := Report{Party: text(c.Party), Name: text(c.Name), Version: text(c.Version), Sponsor: text(c.Sponsor)}
	if r.Party == "" {
		r.Party = strings.TrimSpace(prose.FirstBytes(row.Key, maxText))
	}
	if r.key() == "" {
		return r, errNobody
	}
	var err error
	if r.ReportedAt, err = parseTime(text(c.ReportedAt)); err != nil {
		return r, err
	}
	r.LastSeen, err = parseTime(text(c.LastSeen))
	return r, err
}

// parseTime reads a time, to the hour; zero for none.
func parseTime(s string) (time.Time, error) {
	at, ok := table.Time(s)
	switch {
	case s == "", ok && at.Unix() == 0:
		return time.Time{}, nil
	case !ok:
		return at, fmt.Errorf("%.40q is not a time; want one such as 2031-06-01T12:00:00Z", s)
	}
	return at.Truncate(time.Hour), nil
}
