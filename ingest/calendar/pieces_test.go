package calendar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

func TestAttribution(t *testing.T) {
	o := settings{
		Environments: map[string][]string{"mainnet": {"main network", "production"}, "baynet": {"testnet"},
			"shoalnet": nil},
		Types: map[string][]string{catalog.OperationSynchronizerUpgrade: {"tide change"},
			catalog.OperationDeploy: {"launch"}},
		Components: map[string]component{"node": {Words: []string{"causeway node"}}, "wallet": {}},
	}
	tests := []struct {
		event event
		want  attribution
	}{
		{event{title: "Main-Network upgrade"}, attribution{environments: []string{"mainnet"}, kind: "upgrade"}},
		{event{title: "Upgrade of mainnets"}, attribution{kind: "upgrade"}},
		{event{title: "Testnet and MainNet: launch of Causeway_Node v2.7"},
			attribution{environments: []string{"baynet", "mainnet"}, kind: "deploy", components: []string{"node"},
				version: "2.7"}},
		{event{title: "BayNet upgrade", text: "MainNet follows."},
			attribution{environments: []string{"baynet"}, kind: "upgrade"}},
		{event{title: "Upgrade", text: "On MainNet, for node operators."},
			attribution{environments: []string{"mainnet"}, kind: "upgrade", validators: true}},
		{event{title: "Upgrade", text: "For super validators only."}, attribution{kind: "upgrade"}},
		{event{title: "Call", categories: []string{"MainNet", "Freeze"}},
			attribution{environments: []string{"mainnet"}, kind: "freeze"}},
		{event{title: "Vote on the upgrade"}, attribution{kind: "governance"}},
		{event{title: "Freeze before the release"}, attribution{kind: "freeze"}},
		{event{title: "Tide change"}, attribution{kind: "synchronizer_upgrade", validators: true}},
		{event{title: "Minimum version 2.6.1 on MainNet"},
			attribution{environments: []string{"mainnet"}, kind: "minimum_version", version: "2.6.1", minimum: "2.6.1",
				validators: true}},
		{event{title: "Release of wallet 0.10.1"},
			attribution{kind: "release", components: []string{"wallet"}, version: "0.10.1"}},
		{event{title: "Devotees of voters meet"}, attribution{kind: "other"}},
		{event{title: "Upgrade", text: "The minimum required node version will be v2.6.3."},
			attribution{kind: "upgrade", minimum: "2.6.3"}},
		{event{title: "Upgrade", environments: []string{"x"}, kind: "other", version: "9", minimum: "8",
			components: []string{"y"}}, attribution{environments: []string{"x"}, kind: "other",
			components: []string{"y"}, version: "9", minimum: "8"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, o.attribute(tt.event), cmp.AllowUnexported(attribution{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.event.title, diff)
		}
	}
	o.Environment, o.Validators = "mainnet", []string{"keeper"}
	a := o.attribute(event{title: "Upgrade for keepers and each keeper of validators"})
	if !a.validators || len(a.environments) != 1 || o.attribute(event{title: "Upgrade of validators"}).validators {
		t.Errorf("%+v", a)
	}
}

func TestZoneNames(t *testing.T) {
	z := newZones(map[string]string{"Ship": "Asia/Tokyo"}, nil)
	z.put(`"Quay Time"`, fixed("GMT+3"))
	for name, want := range map[string]string{
		"Europe/Zurich": "10:00", "W. Europe Standard Time": "10:00", "Ship": "03:00",
		"/freeassociation.example/Tzfile/America/New_York": "16:00", "UTC": "12:00", "Etc/GMT-3": "09:00",
		"(UTC+02:00)": "10:00", "GMT-5": "17:00", `"Europe/Zurich"`: "10:00", "tzone://Microsoft/Utc": "12:00",
		`"Quay Time" `: "09:00", "Quay Time": "09:00",
		"Nowhere": "", "Local": "", "": "", "../etc/passwd": "", "/": "",
	} {
		found, err := z.find(name)
		got := ""
		if err == nil {
			got = found.at(time.Date(2031, 6, 17, 12, 0, 0, 0, time.UTC)).Format("15:04")
		}
		if got != want {
			t.Errorf("noon in %q is %q, want %q", name, got, want)
		}
	}
	for name, l := range windows {
		if iana(l) == nil {
			t.Errorf("%s: there is no zone %s", name, l)
		}
	}
}

// TestDefinedZones compares a zone defined by a calendar with the same one of
// the database, hour by hour around the changes of some years.
func TestDefinedZones(t *testing.T) {
	text := "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:Mine\nBEGIN:DAYLIGHT\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nDTSTART:19810329T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:DAYLIGHT\n" +
		"BEGIN:STANDARD\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nDTSTART:19961027T030000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\nEND:VTIMEZONE\nEND:VCALENDAR\n"
	calendars, _, err := parseICS(text)
	if err != nil {
		t.Fatal(err)
	}
	z := newZones(nil, newBudget())
	if err := z.define(calendars[0].parts[0], time.Date(2033, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	mine, err := z.find("Mine")
	if err != nil {
		t.Fatal(err)
	}
	real := located(iana("Europe/Zurich"))
	for wall := time.Date(2030, 1, 1, 0, 30, 0, 0, time.UTC); wall.Year() < 2032; wall = wall.Add(time.Hour) {
		if !mine.at(wall).Equal(real.at(wall)) {
			t.Fatalf("%s is %s, want %s", wall, mine.at(wall), real.at(wall))
		}
	}
}

// TestChangedSeries: what programs write about single occurrences, and about all that follow one.
func TestChangedSeries(t *testing.T) {
	const weekly = "UID:tides\nSUMMARY:Tides\nDTSTART;TZID=Europe/Zurich:20310310T090000\nDURATION:PT1H\n" +
		"RRULE:FREQ=WEEKLY;COUNT=5\n" // 10, 17, 24, 31 March and 7 April; clocks change on 30 March
	const days = "UID:tides\nSUMMARY:Tides\nDTSTART;VALUE=DATE:20310310\nRRULE:FREQ=DAILY;COUNT=3\n"
	for name, tt := range map[string]struct{ events, want string }{
		"this and all that follow": {weekly + "--\nUID:tides\nSUMMARY:Ebb\nDTSTART;TZID=Europe/Zurich:20310324T133000\n" +
			"RECURRENCE-ID;RANGE=THISANDFUTURE:20310324T080000Z\n",
			"10T08:00 Tides, 17T08:00 Tides, 24T12:30 Ebb, 31T11:30 Ebb, 07T11:30 Ebb"},
		"in another zone": {weekly + "--\nUID:tides\nSUMMARY:Ebb\nDTSTART;TZID=Asia/Tokyo:20310324T180000\n" +
			"RECURRENCE-ID;TZID=Asia/Tokyo;RANGE=THISANDFUTURE:20310324T170000\n",
			"10T08:00 Tides, 17T08:00 Tides, 24T09:00 Ebb, 31T08:00 Ebb, 07T08:00 Ebb"},
		"twice, and once alone": {weekly + "--\nUID:tides\nSUMMARY:Ebb\nDTSTART;TZID=Europe/Zurich:20310318T090000\n" +
			"RECURRENCE-ID;TZID=Europe/Zurich;RANGE=THISANDFUTURE:20310317T090000\n--\nUID:tides\nSUMMARY:Flow\n" +
			"DTSTART;TZID=Europe/Zurich:20310330T090000\nRECURRENCE-ID;RANGE=THISANDFUTURE:20310331T090000\n" +
			"--\nUID:tides\nSUMMARY:Storm\nDTSTART:20310323T120000Z\nRECURRENCE-ID:20310324T080000Z\n",
			"10T08:00 Tides, 18T08:00 Ebb, 23T12:00 Storm, 30T07:00 Flow, 06T07:00 Flow"},
		"called off from there on": {weekly + "--\nUID:tides\nSUMMARY:Ebb\nSTATUS:CANCELLED\n" +
			"DTSTART;TZID=Europe/Zurich:20310331T090000\nRECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20310331\n",
			"10T08:00 Tides, 17T08:00 Tides, 24T08:00 Tides, 31T07:00 Ebb off, 07T07:00 Ebb off"},
		"into the window from before it": {
			"UID:tides\nSUMMARY:Tides\nDTSTART:20310125T080000Z\nRRULE:FREQ=MONTHLY;COUNT=3\n--\nUID:tides\nSUMMARY:Ebb\n" +
				"DTSTART:20310130T080000Z\nRECURRENCE-ID;RANGE=THISANDFUTURE:20310125T080000Z\n",
			"02T08:00 Ebb, 30T08:00 Ebb"},
		"into the window from behind it": {
			"UID:tides\nSUMMARY:Tides\nDTSTART:20310310T080000Z\nRRULE:FREQ=MONTHLY\n--\nUID:tides\nSUMMARY:Ebb\n" +
				"DTSTART:20310405T080000Z\nRECURRENCE-ID;RANGE=THISANDFUTURE:20310410T080000Z\n",
			"10T08:00 Tides, 05T08:00 Ebb, 05T08:00 Ebb"},
		"exceptions without a zone and as days": {weekly + "EXDATE:20310317T090000\nEXDATE;VALUE=DATE:20310324,20310407\n",
			"10T08:00 Tides, 31T07:00 Tides"},
		"exceptions of days as times": {days + "EXDATE;TZID=Europe/Zurich:20310311T000000\nRDATE:20310314T000000\n",
			"10T00:00 Tides, 12T00:00 Tides, 14T00:00 Tides"},
		"a day of a series as a time": {days + "--\nUID:tides\nSUMMARY:Ebb\nDTSTART;VALUE=DATE:20310315\n" +
			"RECURRENCE-ID;TZID=Europe/Zurich;RANGE=THISANDFUTURE:20310311T000000\n",
			"10T00:00 Tides, 15T00:00 Ebb, 16T00:00 Ebb"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReading(&settings{}, time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC),
				time.Date(2031, 5, 9, 0, 0, 0, 0, time.UTC))
			text := "BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + strings.ReplaceAll(tt.events, "--\n",
				"END:VEVENT\nBEGIN:VEVENT\n") + "END:VEVENT\nEND:VCALENDAR\n"
			if err := r.readICS(text); err != nil {
				t.Fatal(err)
			}
			shown, _, err := r.expand(t.Context())
			if err != nil || len(r.problems) > 0 {
				t.Fatal(err, r.problems)
			}
			slices.SortFunc(shown, func(a, b occurrence) int { return a.at.Compare(b.at) })
			var got []string
			for _, o := range shown {
				text := o.at.UTC().Format("02T15:04 ") + o.title
				if o.cancelled {
					text += " off"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRulesHaveABudget: rules that match no day, and such as began long ago and
// recur every hour, leave the other events of a calendar as they are.
func TestRulesHaveABudget(t *testing.T) {
	day := time.Date(2031, 6, 17, 0, 0, 0, 0, time.UTC)
	hours := "BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
	for name, rule := range map[string]string{
		"no such day":    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;" + hours,
		"no such week":   "FREQ=YEARLY;BYWEEKNO=1;BYMONTH=7",
		"never this day": "FREQ=DAILY;INTERVAL=7;BYDAY=WE",
		"since long ago": "FREQ=DAILY;COUNT=99999999;" + hours,
	} {
		t.Run(name, func(t *testing.T) {
			r := newReading(&settings{}, day.AddDate(0, 0, -90), day.AddDate(0, 0, 400))
			start := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
			r.events = []event{{uid: "good", title: "A", start: moment{start, utc, false}, rule: "FREQ=YEARLY"}}
			for i := range maxRules - 1 {
				r.events = append(r.events, event{uid: fmt.Sprint(i), title: "A", start: moment{start, utc, false},
					rule: rule})
			}
			shown, _, err := r.expand(t.Context())
			if err != nil || len(shown) == 0 || shown[0].series() != "good" {
				t.Fatalf("%d events, %v", len(shown), err)
			}
			if n := len(r.problems); n < maxRules-100 || !errors.Is(r.problems[n-1].err, errBudget) {
				t.Errorf("%d problems", n)
			}
		})
	}
}

func TestRecur(t *testing.T) {
	start := time.Date(2031, 1, 31, 9, 0, 0, 0, time.UTC)
	until := time.Date(2031, 12, 31, 0, 0, 0, 0, time.UTC)
	zurich := located(iana("Europe/Zurich"))
	tests := []struct{ rule, want string }{
		{"FREQ=MONTHLY", "0131 0331 0531 0731 0831 1031"},
		{"FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=4", "0131 0228 0331 0430"},
		{"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;UNTIL=20310430", "0131 0228 0331 0430"},
		{"FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;UNTIL=20310314T080000Z", "0131 0214 0228 0314"},
		{"FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;UNTIL=20310314T075959Z", "0131 0214 0228"},
		{"freq=weekly;count=2;wkst=su;", "0131 0207"},
		{"RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=OMIT;COUNT=3", "0131 0331 0531"},
		{"FREQ=YEARLY;BYMONTH=6;BYDAY=1MO", "0602"},
		{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", ""},
		{"FREQ=YEARLY;BYWEEKNO=20,53;BYDAY=MO", "0512"},
		{"FREQ=DAILY;INTERVAL=100", "0131 0511 0819 1127"},
	}
	for _, tt := range tests {
		walls, err := recur(tt.rule, start, zurich, time.Time{}, until, 50, newBudget())
		var got []string
		for _, w := range walls {
			got = append(got, w.Format("0102"))
		}
		if strings.Join(got, " ") != tt.want || err != nil {
			t.Errorf("%s: %v, %v, want %s", tt.rule, got, err, tt.want)
		}
	}
	for _, rule := range []string{"", "FREQ=DAILY;BYEASTER=1", "FREQ=SECONDLY", "FREQ=DAILY;INTERVAL=99999999999",
		"FREQ=DAILY;COUNT=-1", "FREQ=DAILY;BYMINUTE=1,2", "FREQ=DAILY;BYSETPOS=2", "FREQ=DAILY;UNTIL=x",
		"RSCALE=CHINESE;FREQ=DAILY", "FREQ=YEARLY;BYMONTH=12;BYDAY=53MO"} {
		if _, err := recur(rule, start, utc, time.Time{}, until, 50, newBudget()); err == nil {
			t.Errorf("%q is accepted", rule)
		}
	}
	if _, err := recur("FREQ=DAILY", start, utc, time.Time{}, until, 50, newBudget()); err == nil {
		t.Error("more than the limit are read")
	}
	walls, err := recur("FREQ=DAILY", start, utc, until.AddDate(0, 0, -3), until.Add(10*time.Hour), 50, newBudget())
	if err != nil || len(walls) != 4 {
		t.Errorf("%v, %v", walls, err)
	}
}

func TestLimits(t *testing.T) {
	day := time.Date(2031, 6, 1, 0, 0, 0, 0, time.UTC)
	expand := func(events, also int, rule string) error {
		r := newReading(&settings{}, day, day.AddDate(0, 0, 400))
		for i := range events {
			e := event{uid: fmt.Sprint(i), title: "A", start: moment{day, utc, false}, rule: rule}
			for j := range also {
				e.also = append(e.also, moment{day.Add(time.Duration(j) * time.Minute), utc, false})
			}
			r.events = append(r.events, e)
		}
		_, _, err := r.expand(t.Context())
		return err
	}
	if err := expand(maxRules, 0, "FREQ=YEARLY"); err != nil {
		t.Error(err)
	}
	if err := expand(maxRules+1, 0, "FREQ=YEARLY"); err == nil ||
		!strings.Contains(err.Error(), "2001 recurring events") {
		t.Error(err)
	}
	if err := expand(11, maxShown/10, ""); err == nil || !strings.Contains(err.Error(), "more than 50000 events") {
		t.Error(err)
	}
}

func TestANetworkThatNamesNoEnvironments(t *testing.T) {
	for title, want := range map[string]string{
		"Mainnet upgrade to ternd 3.2.0": "mainnet", "Reset of the test network": "testnet", "Dev-Net drill": "devnet",
		"Office hours": "",
	} {
		none, own := &settings{}, &settings{Environments: map[string][]string{"shoalnet": nil}}
		if got := strings.Join(none.attribute(event{title: title}).environments, ","); got != want {
			t.Errorf("%s is of %q, want %q", title, got, want)
		}
		if got := own.attribute(event{title: title}).environments; len(got) > 0 {
			t.Errorf("%s is of %q in a network without it", title, got)
		}
	}
}

// fuzzed reads a calendar as a run would.
func fuzzed(t *testing.T, name, text string) {
	o := &settings{Environments: map[string][]string{"mainnet": {"main net"}},
		Components: map[string]component{"node": {Release: "n@{version}"}}}
	day := time.Date(2031, 6, 1, 0, 0, 0, 0, time.UTC)
	r := newReading(o, day.AddDate(0, 0, -90), day.AddDate(0, 0, 400))
	read := func() error { return r.readICS(straighten([]byte(text), "")) }
	if isYAML(name) {
		read = func() error { return r.readYAML(name, text) }
	}
	if err := read(); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	shown, _, err := r.expand(ctx)
	if err != nil {
		return
	}
	keys := map[string]bool{}
	for _, occurrence := range shown {
		e, err := occurrence.entry(o)
		if err != nil {
			t.Error(err)
		}
		if _, err := e.Normalize(); err != nil {
			t.Error(err)
		}
		if e.Record.Title == "" || strings.Contains(e.Record.Key, "/") ||
			!e.Record.EndsAt.IsZero() && e.Record.EndsAt.Before(e.Record.StartsAt) {
			t.Errorf("%+v", e.Record)
		}
		keys[e.Record.Key] = true
	}
}

func FuzzICS(f *testing.F) {
	event := func(lines string) string {
		return "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:x\r\nSUMMARY:Upgrade 2.7.0\r\n" + lines +
			"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	}
	for _, s := range []string{
		event("DTSTART;TZID=Europe/Zurich:20310617T140000\r\nRRULE:FREQ=WEEKLY;BYDAY=TU"),
		event("DTSTART:20310617\r\nRRULE:FREQ=YEARLY;BYWEEKNO=53,-53;WKST=SU"),
		event("DTSTART:20310617T140000Z\r\nRRULE:FREQ=MONTHLY;BYDAY=-5MO;BYSETPOS=1"),
		event("DTSTART;TZID=\"a:b;c\":20310617T140000\r\nDESCRIPTION;X=\"y\":<b>a\\n\r\n  folded</b>"),
		event("DTSTART:20310617T140000Z\r\nRDATE;VALUE=PERIOD:20310618T140000Z/PT1H,20310619\r\nEXDATE;VALUE=DATE:20310617"), event("DTSTART:20310617T140000Z\r\nRECURRENCE-ID;RANGE=THISANDFUTURE:20310617"),
		"BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:Z\nBEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:+0000\nTZOFFSETTO:-1400\nRRULE:FREQ=YEARLY\nEND:STANDARD\nEND:VTIMEZONE\nEND:VCALENDAR",
		"BEGIN:VCALENDAR\nX;A=\"\nEND:VCALENDAR", "BEGIN:VCALENDAR\n;:\n:\nA;\nA;B\nA;B=\nA;B=,;\nEND:VCALENDAR",
		"\ufeffBEGIN:VCALENDAR\rEND:VCALENDAR\r", "BEGIN:VCALENDAR\n\x00\xff\nEND:VCALENDAR",
		event("DTSTART:20310617T140000Z\r\nDURATION:P9999W99999DT999999H\r\nRRULE:FREQ=DAILY;COUNT=999999999"),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzed(t, "c.ics", text) })
}

func FuzzRule(f *testing.F) {
	for _, s := range []string{
		"FREQ=YEARLY;BYDAY=53SU;WKST=MO", "FREQ=YEARLY;BYYEARDAY=366,-366;BYSETPOS=1",
		"FREQ=MONTHLY;BYDAY=+5FR,-5FR;BYMONTHDAY=-1", "FREQ=WEEKLY;BYSETPOS=-1;BYHOUR=0,23", "FREQ=WEEKLY;BYWEEKNO=1",
		"FREQ=YEARLY;BYWEEKNO=53;BYDAY=1MO",
		"FREQ=WEEKLY;BYDAY=9MO", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;INTERVAL=100",
	} {
		f.Add(s, int64(1_939_000_000))
	}
	f.Fuzz(func(t *testing.T, rule string, unix int64) {
		start := time.Unix(unix, 0).UTC()
		if start.Year() < 1600 || start.Year() > 9000 {
			return
		}
		until := start.AddDate(1, 0, 0)
		walls, err := recur(rule, start, located(iana("America/New_York")), start.AddDate(0, -1, 0), until,
			maxOccurrences, newBudget())
		for _, w := range walls {
			if err == nil && (w.Before(start) || w.After(until.Add(24*time.Hour))) {
				t.Errorf("%s: %s is outside %s and a year", rule, w, start)
			}
		}
	})
}

func FuzzCalendarYAML(f *testing.F) {
	for _, s := range []string{
		"- {id: a, title: Upgrade 2.7.0, starts: 2031-06-17 14:00, zone: Europe/Zurich, repeat: FREQ=WEEKLY, except: " +
			"[2031-06-24], also: ['2031-06-25T10:00:00Z'], changes: [{occurrence: 2031-07-01, starts: 2031-07-02}]}",
		"- {id: a, title: A, starts: 0001-01-01}",
		"- {id: a, title: A, starts: 9999-12-31, ends: 9999-12-31, repeat: FREQ=YEARLY}", "- id: a\n  changes: [{}]",
		"[]", "- {id: a, title: A, starts: 2031-06-17 14:00, duration: 99999h}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzed(t, "c.yaml", text) })
}

func TestCategoriesAreSplitAtCommasThatSeparate(t *testing.T) {
	for value, want := range map[string][]string{
		`Upgrade\, planned,MainNet`: {"Upgrade, planned", "MainNet"},
		`a\\,b , c\;d,,`:            {`a\`, "b", "c;d"},
		`a,b\`:                      {"a", `b\`},
		`\,`:                        {","},
		``:                          nil,
	} {
		e, err := readEvent(block{props: []property{{name: "DTSTART", value: "20310506T070809Z"},
			{name: "CATEGORIES", value: value}}}, newZones(nil, nil), utc)
		if err != nil || !slices.Equal(e.categories, want) {
			t.Errorf("%s: %q, %v; want %q", value, e.categories, err, want)
		}
	}
}
