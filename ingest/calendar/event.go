package calendar

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/text/prose"
	"almanac/text/webaddress"
)

// event is an entry of a calendar of either form.
type event struct {
	line       int
	uid        string
	title      string
	text       string // Markdown
	location   string
	url        string
	categories []string

	start      moment
	lasts      time.Duration // 0: no end given
	rule       string        // RRULE
	also       []moment
	except     []moment
	occurrence *moment // the occurrence of another event that this one replaces
	following  bool    // and all that follow it

	cancelled, completed, tentative, private bool

	revision                   int
	created, modified, stamped time.Time

	// Given by the event itself; otherwise rules find them.
	environments []string
	kind         string
	components   []string
	version      string
	minimum      string
	validators   *bool
}

// reading is one reading of a calendar.
type reading struct {
	options     *settings
	zone        zone // of times without a zone
	from, until time.Time
	budget      *budget // of the rules
	events      []event
	problems    []problem
	warnings    []problem
	broken      map[string]bool // series that could not be read
	lost        bool            // an event that could not be read has no uid
}

func newReading(o *settings, from, until time.Time) *reading {
	return &reading{options: o, zone: utc, from: from, until: until, budget: newBudget(), broken: map[string]bool{}}
}

// problem is an error in a line; 0 for no line in particular.
type problem struct {
	line int
	err  error
}

func (r *reading) warn(line int, message string) {
	r.warnings = append(r.warnings, problem{line, errors.New(message)})
}

const (
	maxShown = 50_000 // occurrences within the window
	maxRules = 2000
)

// take keeps an event, or the problem with it.
func (r *reading) take(e event, line int, err error) {
	if err == nil && e.title == "" && !e.private {
		err = errors.New("has no title")
	}
	if err == nil && e.start.wall.Year() < 1990 {
		err = fmt.Errorf("begins in the year %d", e.start.wall.Year())
	}
	e.title = prose.FirstBytes(e.title, maxTitle)
	if err != nil {
		r.fail(e, line, err)
		return
	}
	r.events = append(r.events, e)
}

const maxTitle = 400 // bytes

func (r *reading) fail(e event, line int, err error) {
	r.problems = append(r.problems, problem{line, err})
	if e.uid == "" {
		r.lost = true
		return
	}
	r.broken[e.series()] = true
}

// series is the key of an event's record, or the prefix of the keys of its
// occurrences: its uid, or a digest of a uid that is not a slug, because uids
// look like mail addresses, may be one, and may have any length.
func (e event) series() string {
	if len(e.uid) <= maxSlug && slugShape.MatchString(e.uid) {
		return e.uid
	}
	name := cmp.Or(e.uid, e.title+"\n"+e.start.wall.Format(time.RFC3339)) // some programs write none
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

const maxSlug = 100 // bytes

var slugShape = regexp.MustCompile(`^[a-z0-9]+(?:[._-][a-z0-9]+)*$`)

// between separates a series from the suffix of an occurrence in a key.
const between = "@"

// occurrence is one instance of an event.
type occurrence struct {
	event
	key      string
	at, ends time.Time // ends is zero if the calendar gives no end
	repeated bool
}

// over returns when an occurrence ends.
func (o occurrence) over() time.Time { return cmp.Or(o.ends, o.at) }

// expand returns the occurrences of the events, and the keys of those that must
// stay hidden.
func (r *reading) expand(ctx context.Context) (shown []occurrence, hidden []string, err error) {
	series := map[string][]event{}
	var order []string
	rules := 0
	for _, e := range r.events {
		if e.rule != "" && e.occurrence == nil {
			rules++
		}
		key := e.series()
		if _, met := series[key]; !met {
			order = append(order, key)
		}
		series[key] = append(series[key], e)
	}
	if rules > maxRules {
		return nil, nil, fmt.Errorf("it has %d recurring events; the limit is %d", rules, maxRules)
	}
	for _, key := range order {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		list, err := r.occurrences(key, series[key])
		if err != nil {
			r.fail(series[key][0], series[key][0].line, err)
			continue
		}
		for _, o := range list {
			if o.private || r.options.excluded(o.event) {
				hidden = append(hidden, o.key)
			} else {
				shown = append(shown, o)
			}
		}
		if len(shown) > maxShown {
			return nil, nil, fmt.Errorf("it has more than %d events in %d days; "+
				"narrow the window with options back and ahead", maxShown, int(r.until.Sub(r.from).Hours()/24))
		}
	}
	return shown, hidden, nil
}

// occurrences returns the occurrences of a series within the window; an event
// that takes place once is returned at any time. The events are the recurring
// one and those that replace one of its occurrences, or it and all that follow,
// each possibly in several revisions.
func (r *reading) occurrences(series string, events []event) ([]occurrence, error) {
	// The newest revision first.
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(b.revision-a.revision, b.modified.Compare(a.modified), b.stamped.Compare(a.stamped))
	})
	var out []occurrence
	replaced := map[int64]bool{} // by the Unix time of the occurrence
	var changes []event          // from an occurrence on, the latest one first
	main := slices.IndexFunc(events, func(e event) bool { return e.occurrence == nil })
	add := func(e event, of *moment, start moment, repeated bool) {
		o := occurrence{event: e, key: series, at: start.instant(), repeated: repeated}
		if of != nil {
			o.key += between + suffix(*of)
		}
		if e.lasts > 0 {
			o.ends = o.at.Add(e.lasts)
		}
		if of == nil || !o.over().Before(r.from) && !o.at.After(r.until) {
			out = append(out, o)
		}
	}
	var early, late time.Duration // by how much the rule has an occurrence before, after the window
	for _, e := range events {
		if e.occurrence == nil {
			continue
		}
		of := *e.occurrence
		if main >= 0 {
			of = of.like(events[main].start)
		}
		if at := of.instant().Unix(); !replaced[at] {
			replaced[at] = true
			add(e, &of, e.start, true)
			if e.following {
				e.occurrence = &of
				changes = append(changes, e)
				early, late = max(early, e.moved()+e.lasts), max(late, -e.moved())
			}
		}
	}
	if main < 0 {
		return out, nil
	}
	e := events[main]
	if e.rule == "" && len(e.also) == 0 {
		add(e, nil, e.start, false)
		return out, nil
	}
	starts, err := e.starts(r.from.Add(-max(early, e.lasts)), r.until.Add(late), r.budget)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(a, b event) int { return b.occurrence.instant().Compare(a.occurrence.instant()) })
	for _, start := range starts {
		if replaced[start.instant().Unix()] {
			continue
		}
		now, at := e, start
		i := slices.IndexFunc(changes, func(c event) bool { return c.occurrence.instant().Before(start.instant()) })
		if i >= 0 {
			now = changes[i]
			at = moment{start.in(now.start).Add(now.moved()), now.start.zone, now.start.allDay}
			now.rule = e.rule
		}
		add(now, &start, at, true)
	}
	return out, nil
}

// moved returns by how much, on the clock, an event begins later than the
// occurrence that it replaces.
func (e event) moved() time.Duration { return e.start.wall.Sub(e.occurrence.in(e.start)) }

// suffix names an occurrence in a key by its original time.
func suffix(m moment) string {
	if m.allDay {
		return m.wall.Format("20060102")
	}
	return m.instant().UTC().Format("20060102T1504")
}

// starts returns when the occurrences of a recurring event within a window
// begin, in no order.
func (e event) starts(from, until time.Time, b *budget) ([]moment, error) {
	walls := []time.Time{e.start.wall}
	if e.rule != "" {
		var err error
		if walls, err = recur(e.rule, e.start.wall, e.start.zone, from, until, maxOccurrences, b); err != nil {
			return nil, err
		}
	}
	starts := make([]moment, 0, len(walls)+len(e.also))
	for _, w := range walls {
		starts = append(starts, moment{w, e.start.zone, e.start.allDay})
	}
	for _, m := range e.also {
		starts = append(starts, m.like(e.start))
	}
	met, days := map[int64]bool{}, map[string]bool{}
	for _, x := range e.except {
		if x.allDay { // some programs write exceptions as days
			days[x.wall.Format(time.DateOnly)] = true
		} else {
			met[x.like(e.start).instant().Unix()] = true
		}
	}
	return slices.DeleteFunc(starts, func(m moment) bool {
		at := m.instant().Unix()
		without := met[at] || days[m.wall.Format(time.DateOnly)]
		met[at] = true
		return without
	}), nil
}

// entry makes the record of an occurrence.
func (o occurrence) entry(opts *settings) (catalog.Entry, error) {
	a := opts.attribute(o.event)
	state := catalog.OperationScheduled
	switch {
	case o.cancelled:
		state = catalog.OperationCancelled
	case o.completed:
		state = catalog.OperationCompleted
	}
	data := catalog.Operation{
		Environments: append([]string{}, a.environments...), AllDay: o.start.allDay, Tentative: o.tentative,
		Version: a.version, MinimumVersion: a.minimum, Validators: a.validators,
		Components: append([]string{}, a.components...),
		Location:   o.location, Recurrence: o.rule, Revision: o.revision,
	}
	if o.repeated {
		data.Series = o.series()
	}
	rec := catalog.Record{
		Kind: catalog.KindOperation, Key: o.key, Title: o.title, URL: o.address(opts.Page), Path: opts.path(),
		State: state, Category: a.kind,
		CreatedAt: o.created, UpdatedAt: cmp.Or(o.modified, o.created), StartsAt: o.at, EndsAt: o.ends,
		Tags: catalog.Tags(catalog.TagEnvironment, a.environments...), Body: body(o.event, a),
	}
	if a.validators {
		rec.Tags = append(rec.Tags, catalog.TagValidators)
	}
	if len(a.environments) == 1 {
		rec.Container = a.environments[0]
	}
	e, err := rec.With(data)
	e.Links = releases(opts, a)
	return e, err
}

// address returns the web page of an event.
func (e event) address(page string) string {
	if u := webaddress.Canonical(e.url, nil); u != nil {
		return u.String()
	}
	return page
}

// body is the text to search: the description, and the facts found by the rules
// as text.
func body(e event, a attribution) string {
	var facts []string
	for _, f := range []struct{ label, value string }{
		{"Operation", strings.ReplaceAll(a.kind, "_", " ")},
		{"Environments", strings.Join(a.environments, ", ")},
		{"Components", strings.Join(a.components, ", ")},
		{"Version", a.version},
		{"Minimum version", a.minimum},
		{"Place", e.location},
	} {
		if f.value != "" {
			facts = append(facts, f.label+": "+f.value+".")
		}
	}
	return strings.TrimSpace(e.text + "\n\n" + strings.Join(facts, "\n"))
}

// releases links the components that a title names to the records of their
// releases.
func releases(opts *settings, a attribution) []catalog.Link {
	if a.version == "" {
		return nil
	}
	var links []catalog.Link
	for _, name := range a.components {
		if template := opts.Components[name].Release; template != "" {
			key := strings.ReplaceAll(template, versionVariable, a.version)
			to := catalog.Ref{Kind: catalog.KindRelease, Key: key}
			links = append(links, catalog.Link{Relation: catalog.References, To: to})
		}
	}
	return links
}
