package calendar

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/text/webpage"
)

// block is a component of a calendar: the lines between BEGIN and END.
type block struct {
	name  string
	line  int
	props []property
	parts []block
}

// property is a content line.
type property struct {
	line   int
	name   string
	params map[string]string // first value of each
	value  string            // raw
}

// get returns the first property of a name that has a value.
func (b block) get(name string) (property, bool) {
	for _, p := range b.props {
		if p.name == name && p.value != "" {
			return p, true
		}
	}
	return property{line: b.line}, false
}

func (b block) all(name string) []property {
	return slices.DeleteFunc(slices.Clone(b.props), func(p property) bool { return p.name != name || p.value == "" })
}

// text returns the unescaped text of a property.
func (b block) text(name string) string {
	p, _ := b.get(name)
	return strings.TrimSpace(unescape.Replace(p.value))
}

// listed matches a value of a list, in which a comma is escaped.
var listed = regexp.MustCompile(`(?s)(?:[^,\\]|\\.?)+`)

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\;`, `;`, `\,`, `,`)

const (
	maxDepth = 4 // of components: calendar, event, alarm, and one to spare
	maxLines = 500_000
)

var (
	errNoCalendar = errors.New("this is not a calendar: it does not begin with BEGIN:VCALENDAR")
	errCut        = errors.New("the calendar is cut off: it does not end with END:VCALENDAR")
	errLong       = fmt.Errorf("the calendar has more than %d lines", maxLines)
)

// parseICS reads the calendars of a straightened file. Invalid lines are skipped and
// returned as problems.
func parseICS(text string) (calendars []block, odd []problem, err error) {
	if strings.Count(text, "\n") > maxLines {
		return nil, nil, errLong
	}
	var stack []block
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSuffix(line, "\n"); strings.TrimSpace(line) == "" {
			continue
		}
		p, err := readProperty(number, line)
		switch {
		case err != nil && len(stack) == 0 && len(calendars) == 0:
			return nil, nil, errNoCalendar
		case err != nil:
			odd = append(odd, problem{number, err})
		case p.name == "BEGIN":
			name := strings.ToUpper(strings.TrimSpace(p.value))
			if len(stack) == 0 && name != "VCALENDAR" {
				return nil, nil, errNoCalendar
			}
			if len(stack) == maxDepth {
				return nil, nil, fmt.Errorf("line %d: %s is nested too deeply", number, p.value)
			}
			stack = append(stack, block{name: name, line: number})
		case len(stack) == 0:
			return nil, nil, errNoCalendar
		case p.name == "END":
			done := stack[len(stack)-1]
			if !strings.EqualFold(strings.TrimSpace(p.value), done.name) {
				return nil, nil, fmt.Errorf("line %d: END:%s instead of END:%s", number, p.value, done.name)
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				calendars = append(calendars, done)
			} else {
				stack[len(stack)-1].parts = append(stack[len(stack)-1].parts, done)
			}
		default:
			top := &stack[len(stack)-1]
			top.props = append(top.props, p)
		}
	}
	switch {
	case len(stack) > 0:
		return nil, nil, errCut
	case len(calendars) == 0:
		return nil, nil, errNoCalendar
	}
	return calendars, odd, nil
}

// straighten returns the text of a file without folds and with one kind of line
// end. It joins lines before the encoding is known, because programs fold between any
// two bytes, also of one character; but UTF-16, which has zeros, is decoded before. An
// empty line replaces each fold, so that the lines below keep their numbers.
func straighten(data []byte, contentType string) string {
	if bytes.IndexByte(data, 0) >= 0 {
		data, contentType = []byte(webpage.Decode(data, contentType)), "text/calendar; charset=utf-8"
	}
	out := make([]byte, 0, len(data))
	folds := 0 // of the line that is being joined
	for len(data) > 0 {
		end := bytes.IndexAny(data, "\r\n")
		if end < 0 {
			out = append(out, data...)
			break
		}
		out = append(out, data[:end]...)
		if end++; data[end-1] == '\r' && end < len(data) && data[end] == '\n' {
			end++
		}
		data = data[end:]
		if len(data) > 0 && (data[0] == ' ' || data[0] == '\t') {
			data = data[1:]
			folds++
			continue
		}
		for ; folds >= 0; folds-- {
			out = append(out, '\n')
		}
		folds = 0
	}
	return webpage.Decode(out, contentType)
}

var (
	errNoProperty = errors.New("is not a property; it is skipped")
	propertyName  = regexp.MustCompile(`^[A-Za-z0-9-]{1,80}$`)
)

// readProperty reads NAME;PARAM=VALUE,"VALUE":value.
func readProperty(line int, rest string) (property, error) {
	p := property{line: line}
	end := strings.IndexAny(rest, ";:")
	if end < 0 || !propertyName.MatchString(rest[:end]) {
		return p, errNoProperty
	}
	p.name = strings.ToUpper(rest[:end])
	for rest = rest[end:]; rest[0] == ';'; {
		eq := strings.IndexAny(rest, "=:")
		if eq < 0 || rest[eq] == ':' {
			return p, errNoProperty
		}
		name := strings.ToUpper(rest[1:eq])
		var value string
		if value, rest = paramValue(rest[eq+1:]); rest == "" {
			return p, errNoProperty
		}
		if p.params == nil {
			p.params = map[string]string{}
		}
		if _, twice := p.params[name]; !twice {
			p.params[name] = value
		}
	}
	p.value = rest[1:]
	return p, nil
}

// paramValue returns the first of a parameter's values and the text after the
// last, which begins with ; or :, or is empty if the line is malformed.
func paramValue(s string) (first, rest string) {
	for i := 0; ; i++ {
		var value string
		if strings.HasPrefix(s, `"`) {
			end := strings.IndexByte(s[1:], '"')
			if end < 0 {
				return "", ""
			}
			value, s = s[1:1+end], s[end+2:]
		} else if end := strings.IndexAny(s, ",;:"); end >= 0 {
			value, s = s[:end], s[end:]
		} else {
			return "", ""
		}
		if i == 0 {
			first = value
		}
		if !strings.HasPrefix(s, ",") {
			if s == "" || s[0] != ';' && s[0] != ':' {
				return "", ""
			}
			return first, s
		}
		s = s[1:]
	}
}

// readICS reads the events of an iCalendar file.
func (r *reading) readICS(text string) error {
	calendars, odd, err := parseICS(text)
	if err != nil {
		return err
	}
	for _, o := range odd {
		r.warn(o.line, o.err.Error())
	}
	for _, c := range calendars {
		z := newZones(r.options.Zones, r.budget)
		for _, part := range c.parts {
			if part.name == "VTIMEZONE" {
				if err := z.define(part, r.until.AddDate(1, 0, 0)); err != nil {
					r.warn(part.line, err.Error())
				}
			}
		}
		floating := r.zone
		if named := c.text("X-WR-TIMEZONE"); r.options.Zone == "" && named != "" {
			if floating, err = z.find(named); err != nil {
				floating = r.zone
				r.warn(c.line, err.Error())
			}
		}
		for _, part := range c.parts {
			if part.name != "VEVENT" {
				continue
			}
			e, err := readEvent(part, z, floating)
			e.cancelled = e.cancelled || strings.EqualFold(c.text("METHOD"), "CANCEL")
			r.take(e, part.line, err)
		}
	}
	return nil
}

// readEvent reads an event. If it fails, the event still has its uid, if any.
func readEvent(b block, z *zones, floating zone) (event, error) {
	e := event{line: b.line, uid: b.text("UID")}
	e.title, e.cancelled = uncancelled(webpage.Plain(b.text("SUMMARY")))
	if place := webpage.Plain(b.text("LOCATION")); !strings.Contains(place, "://") { // not the link to a call
		e.location = place
	}
	if p, ok := b.get("URL"); ok {
		e.url = strings.TrimSpace(p.value)
	}
	for _, p := range b.all("CATEGORIES") {
		for _, c := range listed.FindAllString(p.value, -1) {
			if c = strings.TrimSpace(unescape.Replace(c)); c != "" {
				e.categories = append(e.categories, c)
			}
		}
	}
	switch strings.ToUpper(b.text("STATUS")) {
	case "CANCELLED", "CANCELED":
		e.cancelled = true
	case "TENTATIVE":
		e.tentative = true
	}
	switch strings.ToUpper(b.text("CLASS")) {
	case "PRIVATE", "CONFIDENTIAL":
		e.private = true
	}
	e.revision, _ = strconv.Atoi(b.text("SEQUENCE"))
	e.revision = max(e.revision, 0)
	e.created, e.modified = stamp(b, "CREATED"), stamp(b, "LAST-MODIFIED")
	e.stamped = stamp(b, "DTSTAMP")
	e.text = description(b, e.url)
	return e, e.readTimes(b, z, floating)
}

// readTimes reads when an event takes place.
func (e *event) readTimes(b block, z *zones, floating zone) error {
	read := func(p property, value string) (moment, error) {
		in := floating
		if name := p.params["TZID"]; name != "" && !strings.HasSuffix(value, "Z") && strings.Contains(value, "T") {
			var err error
			if in, err = z.find(name); err != nil {
				return moment{}, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		m, err := readMoment(value, in)
		if err != nil {
			return m, fmt.Errorf("%s: %w", p.name, err)
		}
		return m, nil
	}
	list := func(name string) (out []moment, err error) {
		for _, p := range b.all(name) {
			for value := range strings.SplitSeq(p.value, ",") {
				value, _, _ = strings.Cut(value, "/") // the start of a period
				m, err := read(p, value)
				if err != nil {
					return nil, err
				}
				out = append(out, m)
			}
		}
		return out, nil
	}
	begin, ok := b.get("DTSTART")
	if !ok {
		return errors.New("has no DTSTART")
	}
	var err error
	if e.start, err = read(begin, begin.value); err != nil {
		return err
	}
	floating = e.start.zone // some programs name it only here
	if end, ok := b.get("DTEND"); ok {
		m, err := read(end, end.value)
		if err != nil {
			return err
		}
		e.lasts = m.instant().Sub(e.start.instant())
	} else if p, ok := b.get("DURATION"); ok {
		if e.lasts, err = readDuration(p.value); err != nil {
			return fmt.Errorf("DURATION: %w", err)
		}
	}
	if e.start.allDay && e.lasts <= 0 {
		e.lasts = 24 * time.Hour
	}
	if e.lasts < 0 {
		return errors.New("ends before it begins")
	}
	if p, ok := b.get("RRULE"); ok {
		e.rule = strings.TrimSpace(p.value)
	}
	if e.also, err = list("RDATE"); err != nil {
		return err
	}
	if e.except, err = list("EXDATE"); err != nil {
		return err
	}
	if p, ok := b.get("RECURRENCE-ID"); ok {
		m, err := read(p, p.value)
		if err != nil {
			return err
		}
		e.occurrence = &m
		e.following = strings.EqualFold(p.params["RANGE"], "THISANDFUTURE")
	}
	return nil
}

// stamp reads a time written by a program; zero if absent or before 1990, such
// as the origin of a clock.
func stamp(b block, name string) time.Time {
	p, _ := b.get(name)
	m, err := readMoment(p.value, utc)
	if err != nil || m.wall.Year() < 1990 {
		return time.Time{}
	}
	return m.instant()
}

var cancelledTitle = regexp.MustCompile(`(?i)^\s*(?:\[\s*cancell?ed\s*\]|cancell?ed\s*:)\s*`)

// uncancelled removes the mark from a title that some programs put there
// instead of a status.
func uncancelled(title string) (string, bool) {
	rest := cancelledTitle.ReplaceAllString(title, "")
	return rest, rest != title
}

var (
	htmlTag   = regexp.MustCompile(`(?i)</?(?:p|br|a|b|i|u|ul|ol|li|div|span|strong|em|html|body|h[1-6])\b[^>]*>`)
	htmlBreak = regexp.MustCompile(`(?i)<(?:br|p|li|div)\b`)
	// After these lines programs write how to join a call.
	invitation = regexp.MustCompile(`(?m)^[ \t]*(?:-::~:~|_{20,}|\.{20,}|-{30,}).*(?s:.*)`)
)

// description returns the description of an event as Markdown.
func description(b block, address string) string {
	text := b.text("DESCRIPTION")
	if text == "" {
		for _, p := range b.all("X-ALT-DESC") {
			if strings.EqualFold(p.params["FMTTYPE"], "text/html") {
				text = unescape.Replace(p.value)
			}
		}
	}
	return markdown(text, address)
}

func markdown(text, address string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = invitation.ReplaceAllString(text, "")
	if htmlTag.MatchString(text) {
		if !htmlBreak.MatchString(text) {
			text = strings.ReplaceAll(text, "\n", "<br>\n")
		}
		if converted, err := webpage.Markdown(text, cmp.Or(address, "https://calendar.invalid/")); err == nil {
			text = converted
		}
	}
	return strings.TrimSpace(text)
}
