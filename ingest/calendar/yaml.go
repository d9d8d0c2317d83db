package calendar

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/ingest/curated/entries"
	"almanac/text/dates"
	"almanac/text/nearest"
)

// eventType is the type of an operation.
type eventType string

// Values implements entries.Enumerated.
func (eventType) Values() []string { return types }

// written is an event of a YAML calendar.
type written struct {
	ID         string    `json:"id" format:"slug" jsonschema:"its key, which never changes"`
	Title      string    `json:"title"`
	Starts     string    `json:"starts" jsonschema:"a date, a date with a time of day, or a time in RFC 3339 format"`
	Ends       string    `json:"ends,omitempty" jsonschema:"likewise; a date is the last day"`
	Duration   string    `json:"duration,omitempty" jsonschema:"instead of ends: 90m, 2h, 1h30m"`
	Zone       string    `json:"zone,omitempty" jsonschema:"IANA name of the zone of times without one"`
	Type       eventType `json:"type,omitempty"`
	Categories []string  `json:"categories"`
	// If the following are missing, the rules of the options find them.
	Environments []string  `json:"environments"`
	Components   []string  `json:"components"`
	Version      string    `json:"version,omitempty"`
	Minimum      string    `json:"minimum_version,omitempty"`
	Validators   *bool     `json:"validators,omitempty" jsonschema:"whether validators have to act"`
	State        string    `json:"state,omitempty" enum:"scheduled|completed|cancelled"`
	Tentative    bool      `json:"tentative,omitempty"`
	Location     string    `json:"location,omitempty"`
	URL          string    `json:"url,omitempty"`
	Text         string    `json:"text,omitempty" jsonschema:"Markdown"`
	Updated      string    `json:"updated,omitempty" format:"date" jsonschema:"when the entry was last changed"`
	Repeat       string    `json:"repeat,omitempty" jsonschema:"an RRULE (RFC 5545) such as FREQ=MONTHLY;BYDAY=1TU"`
	Except       []string  `json:"except" jsonschema:"occurrences that do not take place: their dates or times"`
	Also         []string  `json:"also" jsonschema:"additional occurrences"`
	Changes      []altered `json:"changes" jsonschema:"occurrences that differ from the others"`
}

// altered is an occurrence of a recurring event that differs from the others.
type altered struct {
	Occurrence string `json:"occurrence" jsonschema:"its original date or time"`
	Starts     string `json:"starts,omitempty"`
	Ends       string `json:"ends,omitempty"`
	Title      string `json:"title,omitempty"`
	State      string `json:"state,omitempty" enum:"scheduled|completed|cancelled"`
	Text       string `json:"text,omitempty"`
}

// Schema returns the JSON Schema of a YAML calendar, for editors.
func Schema() ([]byte, error) { return entries.Schema[written]("almanac: operations calendar") }

// readYAML reads the events of a YAML calendar.
func (r *reading) readYAML(name, text string) error {
	limits := entries.Foreign
	if r.options.File != "" {
		limits = entries.Own
	}
	list, err := entries.ReadWithin[written](name, []byte(text), limits)
	if err != nil {
		return err
	}
	met := map[string]int{}
	for _, w := range list {
		line, err := w.Err()
		if first, twice := met[w.Value.ID]; err == nil && twice {
			err := fmt.Errorf("id: %q is a duplicate; the first is on line %d", w.Value.ID, first)
			r.problems = append(r.problems, problem{line, err})
			continue
		}
		met[w.Value.ID] = w.Line
		var events []event
		if err == nil {
			events, err = r.convert(w.Value)
		}
		if err != nil {
			r.fail(event{uid: w.Value.ID}, line, err)
			continue
		}
		for _, e := range events {
			e.line = w.Line
			r.take(e, w.Line, nil)
		}
	}
	return nil
}

// convert makes the event of an entry, and those of its changed occurrences.
func (r *reading) convert(w written) ([]event, error) {
	z := r.zone
	if w.Zone != "" {
		l := iana(w.Zone)
		if l == nil {
			return nil, fmt.Errorf("zone: %q is not a time zone such as Europe/Zurich", w.Zone)
		}
		z = located(l)
	}
	e := event{
		uid: w.ID, title: w.Title, text: w.Text, location: w.Location, url: w.URL, categories: w.Categories,
		rule: w.Repeat, tentative: w.Tentative, environments: w.Environments, kind: string(w.Type),
		components: w.Components, version: w.Version, minimum: w.Minimum, validators: w.Validators,
	}
	for _, name := range w.Environments {
		if _, ok := r.options.Environments[name]; !ok && len(r.options.Environments) > 0 {
			known := slices.Sorted(maps.Keys(r.options.Environments))
			return nil, fmt.Errorf("environments: %w", errors.New(nearest.Unknown("environment", name, known)))
		}
	}
	e.state(w.State)
	e.modified = dates.At(w.Updated, dates.Day)
	var err error
	if e.start, err = point("starts", w.Starts, z); err != nil {
		return nil, err
	}
	if err = e.end(w.Ends, w.Duration, z); err != nil {
		return nil, err
	}
	for _, l := range []struct {
		name string
		from []string
		into *[]moment
	}{{"except", w.Except, &e.except}, {"also", w.Also, &e.also}} {
		for _, s := range l.from {
			m, err := point(l.name, s, z)
			if err != nil {
				return nil, err
			}
			*l.into = append(*l.into, m)
		}
	}
	events := []event{e}
	for _, c := range w.Changes {
		other, err := e.altered(c, z)
		if err != nil {
			return nil, fmt.Errorf("changes: %w", err)
		}
		events = append(events, other)
	}
	return events, nil
}

func (e *event) state(s string) {
	if s != "" {
		e.cancelled, e.completed = s == catalog.OperationCancelled, s == catalog.OperationCompleted
	}
}

// end reads how long an event lasts.
func (e *event) end(ends, duration string, z zone) error {
	switch {
	case ends != "" && duration != "":
		return errors.New("has both ends and duration; one is enough")
	case ends != "":
		m, err := point("ends", ends, z)
		if err != nil {
			return err
		}
		if m.allDay != e.start.allDay {
			return errors.New("ends: want a date if starts is one, and a time if starts is one")
		}
		e.lasts = m.instant().Sub(e.start.instant())
		if m.allDay {
			e.lasts += 24 * time.Hour
		}
	case duration != "":
		d, err := time.ParseDuration(duration)
		if err != nil || e.start.allDay {
			return fmt.Errorf("duration: %q is not valid, or the event has no time of day; write 90m, 2h or 1h30m",
				duration)
		}
		e.lasts = d
	case e.start.allDay:
		e.lasts = 24 * time.Hour
	default:
		e.lasts = 0
	}
	if e.lasts < 0 || e.lasts > maxLasts {
		return errors.New("ends before it starts, or years later")
	}
	return nil
}

const maxLasts = 5 * 365 * 24 * time.Hour

// altered makes the event of a changed occurrence.
func (e event) altered(c altered, z zone) (event, error) {
	of, err := point("occurrence", c.Occurrence, z)
	switch {
	case err != nil:
		return e, err
	case e.rule == "" && len(e.also) == 0:
		return e, errors.New("the event does not repeat")
	}
	of = of.like(e.start)
	o, lasts := e, e.lasts
	o.also, o.except, o.occurrence, o.start = nil, nil, &of, of
	if c.Starts != "" {
		if o.start, err = point("starts", c.Starts, z); err != nil {
			return e, err
		}
	}
	if c.Ends != "" {
		if err := o.end(c.Ends, "", z); err != nil {
			return e, err
		}
	} else {
		o.lasts = lasts
	}
	o.title, o.text = cmp.Or(c.Title, o.title), cmp.Or(c.Text, o.text)
	o.state(c.State)
	return o, nil
}

// point reads a date or time.
func point(field, s string, z zone) (moment, error) {
	m, err := readMoment(s, z)
	if err != nil {
		err = fmt.Errorf("%s: %q is neither a date nor a time; write 2031-06-17, 2031-06-17 14:00 or "+
			"2031-06-17T14:00:00Z", field, s)
	}
	return m, err
}
