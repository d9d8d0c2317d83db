package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"almanac/text/dates"
)

// maxOccurrences is how many occurrences of one event are read.
const maxOccurrences = 5000

// A calendar has a budget for expanding its rules, counted in occurrences inside
// and before the window: no rule costs much, and their number is the author's.
const (
	ruleBudget = 2_000_000
	// endless is what a rule costs that was searched for a further occurrence to
	// the last year of the library, as those are that match no day.
	endless = 100_000
)

var errBudget = errors.New("is not expanded: the calendar's rules recur too often, or match no day")

// budget is what is left for the rules of a calendar.
type budget struct{ left int }

func newBudget() *budget { return &budget{left: ruleBudget} }

func (b *budget) spend(n int) error {
	if b.left -= n; b.left < 0 {
		return errBudget
	}
	return nil
}

// recur returns the wall clock times within a window at which an event that
// begins at start recurs by a rule (RRULE). The rule is applied to the wall
// clock, so that an event keeps its time of day when clocks change.
func recur(rule string, start time.Time, z zone, from, until time.Time, limit int, b *budget) ([]time.Time, error) {
	option, last, err := readRule(rule, z)
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", rule, err)
	}
	if err := b.spend(1); err != nil {
		return nil, fmt.Errorf("rule %q: %w", rule, err)
	}
	// The library looks for the next occurrence up to the year 9999, also beyond
	// Until. Days repeat every 400 years, so the window is moved near that end.
	shift := (rrule.MAXYEAR - 1 - until.Year()) / 400 * 400
	option.Dtstart = start.AddDate(shift, 0, 0)
	option.Until = until.AddDate(shift, 0, 2) // two days are more than any offset from UTC
	r, err := rrule.NewRRule(option)
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", rule, err)
	}
	var out []time.Time
	next := r.Iterator()
	for n := 0; ; n++ {
		wall, ok := next()
		cost := 1
		if !ok && (option.Count == 0 || n < option.Count) {
			cost = endless
		}
		if err := b.spend(cost); err != nil {
			return nil, fmt.Errorf("rule %q: %w", rule, err)
		}
		wall = wall.AddDate(-shift, 0, 0)
		at := z.at(wall)
		switch {
		case !ok || !last.IsZero() && at.After(last) || at.After(until):
			return out, nil
		case at.Before(from):
			continue
		case len(out) == limit:
			return nil, fmt.Errorf("rule %q: recurs more than %d times until %s",
				rule, limit, until.Format(time.DateOnly))
		}
		out = append(out, wall)
	}
}

const (
	maxInterval = 1000
	maxRule     = 2000 // bytes
)

// readRule reads a rule with a period that makes sense for operations: a day or
// longer. It rejects rules that the library would expand without end or beyond
// its tables.
func readRule(rule string, z zone) (option rrule.ROption, last time.Time, err error) {
	if len(rule) > maxRule {
		return option, last, errors.New("is too long")
	}
	var parts []string
	for part := range strings.SplitSeq(strings.ToUpper(strings.TrimSpace(rule)), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "", "X-EVOLUTION-ENDDATE":
		case "RSCALE", "SKIP":
			if value != "GREGORIAN" && value != "OMIT" {
				return option, last, fmt.Errorf("%s is not supported", part)
			}
		case "UNTIL":
			if last, err = lastInstant(value, z); err != nil {
				return option, last, err
			}
		case "BYEASTER", "DTSTART":
			return option, last, fmt.Errorf("%s is not supported", name)
		default:
			parts = append(parts, name+"="+strings.ReplaceAll(value, " ", ""))
		}
	}
	read, err := rrule.StrToROption(strings.Join(parts, ";"))
	if err != nil {
		return option, last, err
	}
	return *read, last, checkRule(*read)
}

func checkRule(o rrule.ROption) error {
	switch {
	case o.Freq > rrule.DAILY:
		return errors.New("recurs more than once a day by its frequency; write it as a daily one with BYHOUR")
	case o.Interval < 0 || o.Interval > maxInterval:
		return fmt.Errorf("INTERVAL: want 1 to %d", maxInterval)
	case o.Count < 0:
		return errors.New("COUNT: want a positive number")
	case o.Freq == rrule.DAILY && len(o.Bysetpos) > 0:
		return errors.New("BYSETPOS: has no meaning within a day")
	case len(o.Byhour) > 24 || len(o.Byminute) > 1 || len(o.Bysecond) > 1:
		return errors.New("recurs too often in a day")
	}
	for _, day := range o.Byweekday {
		if n := day.N(); (o.Freq == rrule.MONTHLY || len(o.Bymonth) > 0) && (n > 5 || n < -5) {
			return fmt.Errorf("BYDAY: no month has day %s", day)
		}
	}
	return nil
}

// lastInstant reads UNTIL. A date means its whole day.
func lastInstant(value string, z zone) (time.Time, error) {
	m, err := readMoment(value, z)
	if err != nil {
		return time.Time{}, fmt.Errorf("UNTIL: %w", err)
	}
	if m.allDay {
		return z.at(m.wall.AddDate(0, 0, 1)).Add(-time.Second), nil
	}
	return m.instant(), nil
}

// moment is a date, or a date with a time of day in a zone.
type moment struct {
	wall   time.Time // wall clock time, as a UTC time
	zone   zone
	allDay bool
}

// instant returns the moment as a time; midnight UTC for a date.
func (m moment) instant() time.Time {
	if m.allDay {
		return m.wall
	}
	return m.zone.at(m.wall)
}

// in returns the wall clock time of the moment in the zone of another one; that of
// a date, and for a date, is its own.
func (m moment) in(other moment) time.Time {
	if m.allDay || other.allDay {
		return m.wall
	}
	at := m.instant()
	return at.Add(other.zone(at)).UTC()
}

// like gives a date the time of day of another moment, if it has one, else makes
// the moment a date: some programs name occurrences by their day, or days by their
// first second.
func (m moment) like(other moment) moment {
	if other.allDay {
		return moment{m.wall.Truncate(24 * time.Hour), m.zone, true}
	}
	if !m.allDay {
		return m
	}
	m.wall = m.wall.Add(other.wall.Sub(other.wall.Truncate(24 * time.Hour)))
	m.zone, m.allDay = other.zone, false
	return m
}

// readMoment reads a DATE or DATE-TIME. The zone is ignored for dates and for
// UTC times.
func readMoment(value string, z zone) (moment, error) {
	at, shape := dates.Parse(value, dates.Day|dates.Local|dates.Instant|dates.Free)
	switch shape {
	case 0:
		return moment{}, fmt.Errorf("%q is not a date or time that exists, such as 20310617T140000Z", value)
	case dates.Instant:
		z = utc
	}
	return moment{at, z, shape == dates.Day}, nil
}

// number reads the digits matched by a pattern; 0 for none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

var durationShape = regexp.MustCompile(`^([+-]?)P(?:(\d{1,4})W)?(?:(\d{1,5})D)?` +
	`(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?$`)

// readDuration reads a DURATION such as P1DT2H.
func readDuration(value string) (time.Duration, error) {
	m := durationShape.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(value)))
	if m == nil {
		return 0, fmt.Errorf("%q is not a duration such as PT2H", value)
	}
	if m[1] == "-" {
		return 0, fmt.Errorf("%q ends before it begins", value)
	}
	return time.Duration(number(m[2])*7+number(m[3]))*24*time.Hour + signed("", m[4], m[5], m[6]), nil
}
