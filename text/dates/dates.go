// Package dates reads dates and times as people and programs write them: ISO
// 8601, mail, HTTP and asctime, and English words. It imports no other package of
// this module.
package dates

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shape is what a date is written as, which is also how precise it is. Shapes that
// a caller takes are joined with |.
type Shape uint8

const (
	Year    Shape = 1 << iota // 2031
	Month                     // 2031-05
	Day                       // 2031-05-06
	Instant                   // a time of day in a zone; 2031-05-06T07:08:09Z (RFC 3339)
	Local                     // a time of day without a zone, given as if in UTC; only with Free
	Unix                      // seconds since 1970, or milli-, micro- or nanoseconds; given to the second

	// Free adds to the other shapes all further spellings, as of mail, programs and
	// people. Without it a text has exactly the form above.
	Free
)

// exact are the forms that every program reads alike.
var exact = []struct {
	shape  Shape
	layout string
}{{Year, "2006"}, {Month, "2006-01"}, {Day, time.DateOnly}, {Instant, time.RFC3339}}

// maxLength of a date in bytes.
const maxLength = 256

// Parse reads a date of one of the shapes, and says which. The time is in UTC; of a
// year, month or day it is the begin. Shape 0 means that the text is none of them,
// that there is no such day or time, or that it could be two days (3/4/2031).
func Parse(s string, shapes Shape) (time.Time, Shape) {
	if len(s) > maxLength {
		return time.Time{}, 0
	}
	for _, e := range exact {
		if shapes&e.shape != 0 {
			if at, err := time.Parse(e.layout, s); err == nil {
				return bounded(at, e.shape)
			}
		}
	}
	if shapes&Unix != 0 {
		if at, ok := unix(strings.TrimSpace(s)); ok {
			return at, Unix
		}
	}
	if shapes&Free != 0 {
		if at, shape := free(s); shapes&shape != 0 {
			return at, shape
		}
	}
	return time.Time{}, 0
}

// At is the time that Parse returns: the zero time for none.
func At(s string, shapes Shape) time.Time {
	at, _ := Parse(s, shapes)
	return at
}

// Format writes a time as data has it, in RFC 3339 and UTC; "" for none.
func Format(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// bounded refuses years that have no form of four digits in UTC.
func bounded(at time.Time, shape Shape) (time.Time, Shape) {
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return time.Time{}, 0
	}
	return at, shape
}

var number = regexp.MustCompile(`^\+?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$`)

func unix(s string) (time.Time, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !number.MatchString(s) || n >= 1e21 {
		return time.Time{}, false
	}
	for n >= 1e11 { // seconds have at most eleven digits until the year 5138
		n /= 1000
	}
	return time.Unix(int64(n), 0).UTC(), true
}

// pieces are what forms consist of. A named group is a value that read takes.
var pieces = strings.NewReplacer(
	"{weekday}", `(?:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?(?:\s*,\s*|\s+))?`,
	"{year}", `(?P<year>\d{4})`,
	"{short year}", `(?P<year>\d{2,4})`,
	"{month}", `(?P<month>\d{1,2})`,
	"{day}", `(?P<day>\d{1,2})`,
	"{nth}", `(?P<day>\d{1,2})(?:st|nd|rd|th)?`,
	"{name}", `(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|`+
		`sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?`,
	"{join}", `(?:\s*[-/.,]\s*|\s+|\b)`,
	"{mark}", `(?P<mark>[-/.])`,
	"{same}", `(?P<same>[-/.])`,
	"{at}", `(?:\s*t\s*|\s*,\s*(?:at\s+)?|\s+(?:-\s+|at\s+)?)`,
	"{time}", `(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,](?P<fraction>\d{1,9})\d*)?)?)?`+
		`(?:\s*(?P<half>[ap])\.?m\b\.?)?`,
	"{zone}", `(?:\s*(?P<zone>[a-z]{1,5}\b)?\s*(?P<offset>[+-]\d{1,2}(?::?\d{2})?)?(?:\s+[a-z]{1,5}\b)?(?:\[.*\])?)`,
)

// form is a form of a date; its groups are those of pieces.
type form struct{ *regexp.Regexp }

func compile(patterns ...string) (forms []form) {
	for _, p := range patterns {
		forms = append(forms, form{regexp.MustCompile(`(?i)` + pieces.Replace(p))})
	}
	return forms
}

// forms are those of a whole text.
var forms = compile(
	`^{weekday}{year}{mark}{month}{same}{day}(?:{at}{time}{zone})?$`,
	`^{year}(?P<month>\d{2})(?P<day>\d{2})(?:t(?P<hour>\d{2})(?P<minute>\d{2})(?:(?P<second>\d{2}))?{zone})?$`,
	`^{year}[-/.]{month}$`,
	`^{weekday}{nth}{join}(?:of\s+)?{name}{join}{short year}(?:{at}{time}{zone})?$`, // mail, HTTP
	`^{weekday}{name}{join}{nth}(?:\s*[-/.,]\s*|\s+){year}(?:{at}{time}{zone})?$`,
	`^{weekday}{name}{join}{nth}{at}{time}{zone}(?:\s*,\s*|\s+){year}$`, // asctime, date
	`^{weekday}{name}{join}{nth}{at}{time}(?:\s*,\s*|\s+){year}{zone}$`,
	`^{year}{join}{name}{join}{nth}(?:{at}{time}{zone})?$`,
	`^(?:{name}{join}{year})$`,
	`^{year}{join}{name}$`,
	`^{weekday}(?P<first>\d{1,2}){mark}(?P<last>\d{1,2}){same}{year}(?:{at}{time}{zone})?$`,
)

// free reads a date in any of the forms.
func free(s string) (time.Time, Shape) {
	s = strings.Join(strings.Fields(withoutComments(s)), " ")
	for _, f := range forms {
		if m := f.FindStringSubmatchIndex(s); m != nil {
			return f.read(s, m)
		}
	}
	return time.Time{}, 0
}

// withoutComments removes the comments of mail: (such (as this)). An open one makes
// the text unreadable.
func withoutComments(s string) string {
	var out strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && depth > 0:
			i++
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
			out.WriteByte(' ')
		case depth == 0:
			out.WriteByte(c)
		}
	}
	if depth > 0 {
		return ""
	}
	return out.String()
}

var months = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
	"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}

// read makes a date of a match of a form in a text.
func (f form) read(text string, match []int) (time.Time, Shape) {
	group := func(name string) string {
		if i := f.SubexpIndex(name); i >= 0 && match[2*i] >= 0 {
			return strings.ToLower(text[match[2*i]:match[2*i+1]])
		}
		return ""
	}
	n := func(name string) int {
		n, _ := strconv.Atoi(group(name)) // digits, or absent
		return n
	}
	year, month, day, shape := n("year"), time.Month(n("month")), n("day"), Day
	switch digits := len(group("year")); { // RFC 5322, 4.3
	case digits == 2 && year < 50:
		year += 2000
	case digits < 4:
		year += 1900
	}
	if name := group("name"); name != "" {
		month = months[name[:3]]
	}
	if first := n("first"); first > 0 {
		if day, month = first, time.Month(n("last")); group("mark") != "." { // dots are written with the day first
			switch last := n("last"); {
			case last > 12:
				day, month = last, time.Month(first)
			case first <= 12 && first != last: // two days
				return time.Time{}, 0
			}
		}
	}
	if group("mark") != group("same") {
		return time.Time{}, 0
	}
	if group("day") == "" && group("first") == "" {
		day, shape = 1, Month
	}
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if date.Month() != month || date.Day() != day { // 30 February
		return time.Time{}, 0
	}
	if group("hour") == "" {
		return bounded(date, shape)
	}
	sinceMidnight, ok := clock(group, n)
	if !ok {
		return time.Time{}, 0
	}
	east, ok := offset(group("zone"), group("offset"))
	if !ok {
		return time.Time{}, 0
	}
	if shape = Instant; group("zone")+group("offset") == "" {
		shape = Local
	}
	return bounded(date.Add(sinceMidnight-east), shape)
}

// clock reads a time of day.
func clock(group func(string) string, n func(string) int) (time.Duration, bool) {
	hour, minute, second := n("hour"), n("minute"), n("second")
	switch half := group("half"); {
	case half == "" && group("minute") == "", half != "" && (hour < 1 || hour > 12):
		return 0, false
	case half != "":
		if hour %= 12; half == "p" {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	second = min(second, 59) // a leap second
	fraction, _ := strconv.Atoi((group("fraction") + "000000000")[:9])
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second +
		time.Duration(fraction), true
}

// zones are the names of zones that mean one offset wherever they are written.
var zones = map[string]string{
	"est": "-0500", "edt": "-0400", "cst": "-0600", "cdt": "-0500", "mst": "-0700", "mdt": "-0600",
	"pst": "-0800", "pdt": "-0700", // those of RFC 5322
	"nst": "-0330", "ndt": "-0230", "akst": "-0900", "akdt": "-0800", "hst": "-1000", "brt": "-0300",
	"bst": "+0100", "west": "+0100", "cet": "+0100", "cest": "+0200", "mez": "+0100", "mesz": "+0200",
	"eet": "+0200", "eest": "+0300", "sast": "+0200", "msk": "+0300",
	"sgt": "+0800", "hkt": "+0800", "jst": "+0900", "kst": "+0900",
	"awst": "+0800", "acst": "+0930", "acdt": "+1030", "aest": "+1000", "aedt": "+1100",
	"nzst": "+1200", "nzdt": "+1300",
}

// offset returns how far a zone is east of UTC. A number decides over a name; names
// that are not known are UTC, as RFC 5322 (4.3) says.
func offset(name, number string) (time.Duration, bool) {
	if number == "" {
		number = zones[name]
	}
	if number == "" {
		return 0, true
	}
	digits := strings.Replace(number[1:], ":", "", 1)
	if len(digits) <= 2 {
		digits += "00"
	}
	n, _ := strconv.Atoi(digits) // one to four digits
	east := time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute
	if number[0] == '-' {
		east = -east
	}
	return east, n/100 < 24 && n%100 < 60
}

// Found is a date within a text: text[Start:End].
type Found struct {
	Start, End int
	Time       time.Time
	Shape      Shape // Day or Month
}

// within are the forms of dates in running text. Numbers alone must be ISO 8601.
var within = compile(
	`\b{year}-(?P<month>\d{2})-(?P<day>\d{2})(?:\b|T)`,
	`\b{name}\s+{nth},?\s+{year}\b`,
	`\b{nth}\s+(?:of\s+)?{name},?\s+{year}\b`,
	`\b(?:end of\s+)?{name},?\s+{year}\b`,
)

// Find returns the days and months that a text names, in order. Their years are
// from 1990 to 2199, because running text has other numbers too.
func Find(text string) []Found {
	var out []Found
	for _, f := range within {
		before := out // of the forms before, in order; those of one form do not overlap
		for _, m := range f.FindAllStringSubmatchIndex(text, -1) {
			at, shape := f.read(text, m)
			i, _ := slices.BinarySearchFunc(before, m[0]+1, func(o Found, end int) int { return cmp.Compare(o.End, end) })
			overlaps := i < len(before) && before[i].Start < m[1]
			if shape != 0 && !overlaps && at.Year() >= 1990 && at.Year() < 2200 {
				out = append(out, Found{m[0], m[1], at, shape})
			}
		}
		slices.SortFunc(out, func(a, b Found) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out
}
