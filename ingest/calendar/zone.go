package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a time zone database
)

// zone returns its offset from UTC at an instant.
type zone func(instant time.Time) (offset time.Duration)

func located(l *time.Location) zone {
	return func(instant time.Time) time.Duration {
		_, seconds := instant.In(l).Zone()
		return time.Duration(seconds) * time.Second
	}
}

var utc = located(time.UTC)

// at returns the instant of a wall clock time in a zone, given as a UTC time. A
// time that occurs twice means the first; a skipped one is read at the offset
// before the gap (RFC 5545, 3.3.5).
func (z zone) at(wall time.Time) time.Time {
	const day = 24 * time.Hour // no zone changes twice within two days
	before, after := z(wall.Add(-day)), z(wall.Add(day))
	first, second := wall.Add(-before), wall.Add(-after)
	if z(first) != before && z(second) == after {
		return second
	}
	return first
}

// zones finds the zones that a calendar names.
type zones struct {
	aliases map[string]string
	defined map[string]zone // by VTIMEZONE
	found   map[string]zone
	budget  *budget // of the rules of those that it defines
}

func newZones(aliases map[string]string, b *budget) *zones {
	return &zones{aliases, map[string]zone{}, map[string]zone{}, b}
}

// find returns the zone of a name: an alias from the options, an IANA name,
// alone or at the end of a path as some programs write it, a Windows name, or
// one that the calendar defines.
func (z *zones) find(name string) (zone, error) {
	if known, ok := z.found[name]; ok {
		return known, nil
	}
	found := z.look(name)
	if found == nil {
		return nil, fmt.Errorf("its time zone %q is neither known nor defined in the calendar; "+
			"define it with option zones", name)
	}
	z.found[name] = found
	return found, nil
}

func (z *zones) look(name string) zone {
	trimmed := strings.Trim(strings.TrimSpace(name), `"`)
	for _, candidate := range []string{z.aliases[name], z.aliases[trimmed], trimmed, windows[trimmed]} {
		if l := iana(candidate); l != nil {
			return located(l)
		}
	}
	if defined, ok := z.defined[trimmed]; ok {
		return defined
	}
	for rest := trimmed; ; { // /vendor.example/20310101_1/Europe/Zurich
		_, after, more := strings.Cut(rest, "/")
		if !more {
			break
		}
		if l := iana(after); l != nil {
			return located(l)
		}
		rest = after
	}
	return fixed(trimmed)
}

var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+/-]{1,60}$`)

// iana returns the zone of an IANA name, or nil. Names of the machine's own
// zone, and the empty name, are not IANA names.
func iana(name string) *time.Location {
	if !zoneName.MatchString(name) || strings.EqualFold(name, "local") {
		return nil
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return l
}

var fixedOffset = regexp.MustCompile(`^(?:UTC|GMT|\(UTC|\(GMT)([+-])(\d{1,2}):?(\d{2})?\)?$`)

// fixed reads the names of offsets: UTC+02:00, GMT-5.
func fixed(name string) zone {
	m := fixedOffset.FindStringSubmatch(strings.ReplaceAll(strings.ToUpper(name), " ", ""))
	if m == nil {
		return nil
	}
	offset := signed(m[1], m[2], m[3], "")
	return func(time.Time) time.Duration { return offset }
}

// change is a change of a zone's offset.
type change struct {
	at time.Time
	to time.Duration
}

// maxChanges limits the changes by one rule of a zone: programs write rules that
// begin in 1601.
const maxChanges = 1000

// define adds the zone of a VTIMEZONE, for instants up to a time.
func (z *zones) define(c block, until time.Time) error {
	id, _ := c.get("TZID")
	if id.value == "" {
		return errors.New("a VTIMEZONE has no TZID")
	}
	if l, ok := c.get("X-LIC-LOCATION"); ok && iana(l.value) != nil {
		z.put(id.value, located(iana(l.value)))
		return nil
	}
	var changes []change
	var first time.Duration
	var begin time.Time
	for _, part := range c.parts {
		from, to, start, err := observance(part)
		if err != nil {
			return fmt.Errorf("time zone %s: line %d: %w", id.value, part.line, err)
		}
		if begin.IsZero() || start.Before(begin) {
			begin, first = start, from
		}
		onsets := []time.Time{start}
		if rule, ok := part.get("RRULE"); ok {
			if onsets, err = recur(rule.value, start, utc, time.Time{}, until, maxChanges, z.budget); err != nil {
				return fmt.Errorf("time zone %s: line %d: %w", id.value, rule.line, err)
			}
		}
		for _, p := range part.all("RDATE") {
			for value := range strings.SplitSeq(p.value, ",") {
				if m, err := readMoment(value, utc); err == nil {
					onsets = append(onsets, m.wall)
				}
			}
		}
		for _, wall := range onsets {
			changes = append(changes, change{wall.Add(-from), to})
		}
	}
	if len(changes) == 0 {
		return fmt.Errorf("time zone %s: has no rules", id.value)
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	z.put(id.value, func(instant time.Time) time.Duration {
		after, _ := slices.BinarySearchFunc(changes, instant, func(c change, t time.Time) int {
			if c.at.After(t) {
				return 1
			}
			return -1
		})
		if after == 0 {
			return first
		}
		return changes[after-1].to
	})
	return nil
}

func (z *zones) put(id string, found zone) {
	z.defined[strings.Trim(strings.TrimSpace(id), `"`)] = found
}

// observance reads the offsets of a STANDARD or DAYLIGHT part and the wall
// clock time of its first onset.
func observance(c block) (from, to time.Duration, start time.Time, err error) {
	for name, into := range map[string]*time.Duration{"TZOFFSETFROM": &from, "TZOFFSETTO": &to} {
		p, _ := c.get(name)
		if *into, err = utcOffset(p.value); err != nil {
			return 0, 0, time.Time{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	p, _ := c.get("DTSTART")
	m, err := readMoment(p.value, utc)
	return from, to, m.wall, err
}

var offsetShape = regexp.MustCompile(`^([+-])(\d{2}):?(\d{2}):?(\d{2})?$`)

func utcOffset(s string) (time.Duration, error) {
	m := offsetShape.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, fmt.Errorf("%q is not an offset such as +0200", s)
	}
	return signed(m[1], m[2], m[3], m[4]), nil
}

// signed returns the duration of a sign and digits.
func signed(sign, hours, minutes, seconds string) time.Duration {
	d := time.Duration(number(hours))*time.Hour + time.Duration(number(minutes))*time.Minute +
		time.Duration(number(seconds))*time.Second
	if sign == "-" {
		return -d
	}
	return d
}
