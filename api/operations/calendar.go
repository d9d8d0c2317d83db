package operations

import (
	"cmp"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"almanac/text/webaddress"
)

// Calendar are the operations of a network around today.
type Calendar struct {
	Title   string      `json:"title"`
	Network string      `json:"network"`
	Items   []Scheduled `json:"items"`
}

// writeCalendar writes operations as iCalendar (RFC 5545). An event's UID is
// the key of its record, so that a client that subscribed moves it instead of
// adding another.
func writeCalendar(answer any) ([]byte, error) {
	c := answer.(Calendar)
	cal := ics.NewCalendarFor("almanac")
	cal.SetMethod(ics.MethodPublish)
	cal.SetXWRCalName(c.Title + " operations")
	cal.SetRefreshInterval("PT1H")
	for _, s := range c.Items {
		if s.Starts == nil {
			continue
		}
		e := cal.AddEvent(s.Key + "@" + c.Network + ".almanac")
		e.SetDtStampTime(*cmp.Or(s.Date, s.Starts))
		e.SetSummary(s.Title)
		if webaddress.Check(s.URL) == nil { // or it could be a further line
			e.SetURL(s.URL)
		}
		e.SetDescription(strings.Join(append([]string{"Type: " + s.Type}, s.lines()...), "\n"))
		e.SetStatus(s.status())
		s.setTimes(e)
	}
	return []byte(cal.Serialize(ics.WithNewLineWindows)), nil // on every system: RFC 5545 3.1
}

func (s Scheduled) lines() []string {
	var lines []string
	for _, f := range [][2]string{
		{"Environments", strings.Join(s.Environments, ", ")}, {"Version", s.Version}, {"Minimum version", s.MinimumVersion},
	} {
		if f[1] != "" {
			lines = append(lines, f[0]+": "+f[1])
		}
	}
	return lines
}

func (s Scheduled) status() ics.ObjectStatus {
	switch {
	case s.State == "cancelled":
		return ics.ObjectStatusCancelled
	case s.Tentative:
		return ics.ObjectStatusTentative
	}
	return ics.ObjectStatusConfirmed
}

// setTimes writes whole days as days: they have no time zone.
func (s Scheduled) setTimes(e *ics.VEvent) {
	end := *cmp.Or(s.Ends, s.Starts)
	if !s.AllDay {
		e.SetStartAt(*s.Starts)
		e.SetEndAt(end)
		return
	}
	e.SetAllDayStartAt(*s.Starts)
	e.SetAllDayEndAt(slices.MaxFunc([]time.Time{end, s.Starts.Add(24 * time.Hour)}, time.Time.Compare))
}
