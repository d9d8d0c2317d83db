package calendar_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/calendar"
	"almanac/testing/connectortest"
)

func TestGoogle(t *testing.T) {
	s := newServer(t, testdata(t, "google.ics"))
	source := connectortest.NewSource(t, s.config)
	r := source.Sync()
	for _, p := range r.Problems {
		t.Errorf("%s: %s", p.Locator, p.Message)
	}
	up := titled(t, r, "Upgrade of Causeway Node 2.7.0 on Main Net")
	want := catalog.Record{
		ID: up.ID, Kind: catalog.KindOperation, Key: up.Key, Title: up.Title, URL: "https://www.example.org/operations",
		Source: "tested", Container: "mainnet",
		State: catalog.OperationScheduled, Category: catalog.OperationUpgrade,
		Tags: []string{"environment:mainnet", "validators"}, Hash: up.Hash, FirstSeenAt: up.FirstSeenAt, Data: up.Data,
		CreatedAt: time.Date(2031, 5, 1, 8, 9, 10, 0, time.UTC),
		UpdatedAt: time.Date(2031, 5, 20, 11, 12, 13, 0, time.UTC),
		StartsAt:  time.Date(2031, 6, 17, 12, 0, 0, 0, time.UTC), EndsAt: time.Date(2031, 6, 17, 14, 0, 0, 0, time.UTC),
		Body: "Operators upgrade **validators** before the day; see [the " +
			"notes](https://www.example.org/2-7).\n\nMinimum version: 2.6.0\n\n" +
			"Operation: upgrade.\nEnvironments: mainnet.\nComponents: node.\nVersion: 2.7.0.\nMinimum version: 2.6.0.",
	}
	if diff := cmp.Diff(want, up); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	data := catalog.Operation{Environments: []string{"mainnet"}, Version: "2.7.0", MinimumVersion: "2.6.0",
		Validators: true, Components: []string{"node"}, Revision: 3}
	if diff := cmp.Diff(data, connectortest.Data[catalog.Operation](t, up)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	links, err := source.Store.LinksFrom(t.Context(), up.ID)
	if err != nil || len(links) != 1 || links[0].To != (catalog.Ref{Kind: catalog.KindRelease,
		Key: "causeway/node@v2.7.0"}) {
		t.Errorf("links %v, %v", links, err)
	}

	freeze := titled(t, r, "Topology freeze, BayNet & ShoalNet")
	d := connectortest.Data[catalog.Operation](t, freeze)
	if !d.AllDay || !d.Tentative || freeze.Container != "" || freeze.Category != catalog.OperationFreeze ||
		freeze.EndsAt.Sub(freeze.StartsAt) != 72*time.Hour ||
		freeze.StartsAt.Format(time.RFC3339) != "2031-07-01T00:00:00Z" {
		t.Errorf("%+v %+v", freeze, d)
	}
	if diff := cmp.Diff([]string{"baynet", "shoalnet"}, d.Environments); diff != "" {
		t.Error(diff)
	}

	// 15:00 in Zurich is 14:00 UTC in winter and 13:00 in summer. One occurrence
	// is excepted, one moved, one cancelled.
	got := times(r, "Release window of MainNet")
	if diff := cmp.Diff([]string{"2031-04-02T13:00Z", "2031-05-07T13:00Z", "2031-06-04T13:00Z", "2031-08-07T15:00Z",
		"2031-09-03T13:00Z", "2031-10-01T13:00Z", "2031-11-05T14:00Z"}, got[1:8]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got[0] != "2031-03-05T14:00Z" || got[len(got)-1] != "2032-07-02T13:00Z" &&
		got[len(got)-1] != "2032-06-02T13:00Z" {
		t.Errorf("the window is from %s to %s", got[0], got[len(got)-1])
	}
	for _, rec := range r.Records {
		if strings.HasPrefix(rec.Title, "Release window") &&
			rec.State == catalog.OperationCancelled != (rec.StartsAt.Format(time.DateOnly) == "2031-09-03") {
			t.Errorf("%s is %s", rec.StartsAt, rec.State)
		}
	}
	whole, err := json.Marshal(r.Records)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"breakwater", "lanternhook", "@group", "google.com", "hunter2", "salaries",
		"meet.example", "PIN"} {
		if strings.Contains(string(whole), secret) {
			t.Errorf("%q is stored", secret)
		}
	}
	connectortest.Unchanged(t, source, r)
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	// Without validators everything is read again, and nothing written. The same
	// holds if the server stamps every copy with the time.
	s.etags = false
	source = connectortest.NewSource(t, s.config)
	r = source.Sync()
	s.set(strings.ReplaceAll(s.text, "DTSTAMP:20310601T101112Z", "DTSTAMP:20310601T111111Z"))
	connectortest.Unchanged(t, source, r)
}

func TestOutlook(t *testing.T) {
	s := newServer(t, testdata(t, "outlook.ics"))
	r := connectortest.NewSource(t, s.config).Sync()
	deploy := titled(t, r, "Deploy v2.7.0-rc.1 to BayNet")
	d := connectortest.Data[catalog.Operation](t, deploy)
	if deploy.StartsAt.Format(time.RFC3339) != "2031-06-10T07:00:00Z" || deploy.Category != catalog.OperationDeploy ||
		d.Version != "2.7.0-rc.1" || d.Location != "Microsoft Teams Meeting" {
		t.Errorf("%+v %+v", deploy, d)
	}
	if !strings.HasPrefix(deploy.Body, "Nodes are drained one after the other.\n\nOperation: deploy.") ||
		strings.Contains(deploy.Body, "Passcode") {
		t.Errorf("%q", deploy.Body)
	}
	// The zone is only defined in the file: -4:30 in summer, -5:30 from the first
	// Sunday of November, the 2nd. UNTIL is the time of the last occurrence.
	if diff := cmp.Diff([]string{"2031-11-01T13:30Z", "2031-11-08T14:30Z", "2031-11-15T14:30Z"},
		times(r, "Vote on the minimum version")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, rec := range r.Records {
		if rec.Title == "Vote on the minimum version" &&
			(rec.State != catalog.OperationCancelled || rec.Category != catalog.OperationGovernance ||
				!strings.HasPrefix(rec.Body, "- One\n- Two")) {
			t.Errorf("%+v", rec)
		}
	}
	if len(r.Problems) != 1 || r.Problems[0].Locator != "line 69" ||
		!strings.Contains(r.Problems[0].Message, `its time zone "Ship Time" is neither known nor defined`) {
		t.Errorf("%+v", r.Problems)
	}
	s.config.Options["zones"] = map[string]any{"Ship Time": "Etc/GMT-3"}
	r = connectortest.NewSource(t, s.config).Sync()
	if got := times(r, "Upgrade in a zone"); len(got) != 1 || got[0] != "2031-07-01T06:00Z" {
		t.Errorf("%v", got)
	}
}

func TestApple(t *testing.T) {
	s := newServer(t, testdata(t, "apple.ics"))
	s.config.Options["zone"] = "Asia/Tokyo"
	r := connectortest.NewSource(t, s.config).Sync()
	if diff := cmp.Diff([]string{"2031-10-26T13:00Z", "2031-11-02T14:00Z", "2031-11-05T14:00Z", "2031-11-09T14:00Z"},
		times(r, "Logical synchronizer upgrade rehearsal")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, rec := range r.Records {
		d := connectortest.Data[catalog.Operation](t, rec)
		if rec.Title != "Floating talk" &&
			(rec.Category != catalog.OperationSynchronizerUpgrade || rec.Container != "baynet" || !d.Validators ||
				d.Location != "Relay hall Mole 3" ||
				rec.URL != "https://www.example.org/rehearsal" || d.Series == "" ||
				!strings.HasPrefix(rec.Key, d.Series+"@2031")) {
			t.Errorf("%+v %+v", rec, d)
		}
	}
	talk := titled(t, r, "Floating talk")
	if talk.StartsAt.Format(time.RFC3339) != "2031-06-15T00:00:00Z" ||
		talk.EndsAt.Sub(talk.StartsAt) != 90*time.Minute || len(talk.Tags) != 0 ||
		talk.Category != catalog.OperationOther {
		t.Errorf("%+v", talk)
	}
	if len(r.Problems) != 0 {
		t.Errorf("%+v", r.Problems)
	}
}

const yamlCalendar = `
- id: node-2-7-mainnet
  title: Node 2.7.0 on MainNet
  starts: 2031-06-17 14:00
  ends: 2031-06-17 16:30
  zone: Europe/Zurich
  type: upgrade
  environments: [mainnet]
  components: [node]
  minimum_version: "2.6"
  validators: false
  location: Relay 3
  url: https://www.example.org/2-7
  text: See CWP-6.
  updated: 2031-05-02
- {id: freeze, title: Freeze, starts: 2031-06-16, ends: 2031-06-18, environments: [mainnet, baynet], tentative: true}
- {id: done, title: Deploy 2.6.1, starts: '2031-04-01T10:00:00Z', duration: 1h30m, state: completed}
- {id: long-ago, title: Release 1.0.0, starts: '2029-04-01T10:00:00Z'}
- id: call
  title: Operators' call
  starts: 2031-05-13 14:00
  duration: 45m
  repeat: FREQ=WEEKLY;COUNT=8
  except: [2031-05-27]
  also: [2031-06-05 09:00]
  changes:
    - {occurrence: 2031-06-10, starts: 2031-06-11 15:00, title: Operators' call after the regatta}
    - {occurrence: 2031-06-17 14:00, state: cancelled}
`

func TestYAML(t *testing.T) {
	f := folder{"calendar/operations.yaml": yamlCalendar}
	s := local(t, f, "calendar/operations.yaml", nil)
	r := s.Sync()
	for _, p := range r.Problems {
		t.Errorf("%s: %s", p.Locator, p.Message)
	}
	node := r.Get(t, catalog.KindOperation, "node-2-7-mainnet")
	want := catalog.Operation{
		Environments: []string{"mainnet"}, Components: []string{"node"}, Version: "2.7.0", MinimumVersion: "2.6",
		Location: "Relay 3",
	}
	if diff := cmp.Diff(want, connectortest.Data[catalog.Operation](t, node)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if node.StartsAt.Format(time.RFC3339) != "2031-06-17T12:00:00Z" ||
		node.EndsAt.Sub(node.StartsAt) != 150*time.Minute || node.Path != "calendar/operations.yaml" ||
		node.UpdatedAt.Format(time.DateOnly) != "2031-05-02" || node.URL != "https://www.example.org/2-7" {
		t.Errorf("%+v", node)
	}
	freeze := r.Get(t, catalog.KindOperation, "freeze")
	if freeze.EndsAt.Format(time.RFC3339) != "2031-06-19T00:00:00Z" ||
		!slices.Equal(freeze.Tags, []string{"environment:baynet", "environment:mainnet"}) || freeze.Container != "" {
		t.Errorf("%+v", freeze)
	}
	if done := r.Get(t, catalog.KindOperation, "done"); done.State != catalog.OperationCompleted {
		t.Errorf("%+v", done)
	}
	past := r.Get(t, catalog.KindOperation, "long-ago")
	if past.State != catalog.OperationScheduled ||
		catalog.OperationState(past, s.Clock) != catalog.OperationCompleted ||
		catalog.OperationState(node, s.Clock) != catalog.OperationScheduled {
		t.Errorf("%s", past.State)
	}
	calls := []string{"2031-05-13T14:00Z", "2031-05-20T14:00Z", "2031-06-03T14:00Z", "2031-06-05T09:00Z",
		"2031-06-11T15:00Z", "2031-06-17T14:00Z", "2031-06-24T14:00Z", "2031-07-01T14:00Z"}
	if diff := cmp.Diff(calls, times(r, "Operators' call")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if moved := r.Get(t, catalog.KindOperation,
		"call@20310610T1400"); moved.Title != "Operators' call after the regatta" ||
		moved.EndsAt.Sub(moved.StartsAt) != 45*time.Minute {
		t.Errorf("%+v", moved)
	}
	if off := r.Get(t, catalog.KindOperation, "call@20310617T1400"); off.State != catalog.OperationCancelled {
		t.Errorf("%+v", off)
	}
	connectortest.Unchanged(t, s, r)
}

func TestSuite(t *testing.T) {
	talk := "UID:a\nSUMMARY:Talk\nDTSTART:20310610T090000Z"
	for name, more := range map[string]map[string]any{"an address": nil, "a file": {"file": "c.ics"}} {
		t.Run(name, func(t *testing.T) {
			connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
				f := folder{"c.ics": ics(talk, "UID:b\nSUMMARY:Vote\nDTSTART:20310611T090000Z")}
				s := newServer(t, f["c.ics"])
				u := connectortest.Upstream{Config: s.config, Server: s.Server}
				set := s.set
				if more != nil {
					u.Server, u.Files, set = nil, f, func(text string) { f["c.ics"] = text }
					delete(u.Options, "url")
					maps.Copy(u.Options, more)
				}
				u.Change = func() { set(strings.Replace(f["c.ics"], "Vote", "Second vote", 1)) }
				u.Drop = func(s *connectortest.Source) {
					s.Options["ahead"] = 300
					set(ics(talk))
				}
				return u
			})
		})
	}
}

// TestASecretAddressMoves: what another address said of its calendar is not told to
// the new one.
func TestASecretAddressMoves(t *testing.T) {
	s := newServer(t, testdata(t, "apple.ics"))
	delete(s.config.Options, "url")
	s.config.Options["url_env"] = "CALENDAR_OF_TEST"
	t.Setenv("CALENDAR_OF_TEST", s.URL+"/private-0123/a.ics")
	source := connectortest.NewSource(t, s.config)
	source.Sync()
	s.Requests()
	for _, path := range []string{"/private-0123/b.ics", "/private-0123/b.ics"} {
		t.Setenv("CALENDAR_OF_TEST", s.URL+path)
		source.Sync()
	}
	asked := s.Requests()
	if len(asked) != 2 || asked[0].Header.Get("If-None-Match") != "" || asked[1].Header.Get("If-None-Match") == "" {
		t.Errorf("asked %v", asked)
	}
}

// TestTimePasses: as time passes, only events that enter the window are written;
// events that have ended stay.
func TestTimePasses(t *testing.T) {
	f := folder{"c.ics": ics(
		"UID:a\nSUMMARY:Weekly deploy\nDTSTART:20310106T090000Z\nDTEND:20310106T100000Z\nRRULE:FREQ=WEEKLY",
		"UID:b\nSUMMARY:Release\nDTSTART:20310610T090000Z\nDTEND:20310610T100000Z",
	)}
	s := local(t, f, "c.ics", map[string]any{"back": 14, "ahead": 28})
	first := s.Sync()
	if n := len(first.Records); n != 7 {
		t.Fatalf("%v", times(first, ""))
	}
	s.Clock = s.Clock.Add(20 * time.Hour) // the next day
	if r := s.Sync(); r.Changes != 1 || r.Created != 1 || len(r.Records) != 8 {
		t.Errorf("a day later: %d changes, %v", r.Changes, times(r, ""))
	}
	s.Clock = s.Clock.AddDate(0, 2, 0)
	r := s.Sync()
	if r.Deleted != 0 || r.Updated != 0 || r.Get(t, catalog.KindOperation, "b").State != catalog.OperationScheduled {
		t.Errorf("two months later: %d deleted, %d updated", r.Deleted, r.Updated)
	}
	if got := times(r, "Weekly"); got[0] != "2031-05-19T09:00Z" {
		t.Errorf("history begins at %s", got[0])
	}
	// An event that is removed from the calendar after it ended is history too.
	f["c.ics"] = ics(
		"UID:a\nSUMMARY:Weekly deploy\nDTSTART:20310106T090000Z\nDTEND:20310106T100000Z\nRRULE:FREQ=WEEKLY")
	if r = s.Sync(); r.Deleted != 0 {
		t.Errorf("%d deleted", r.Deleted)
	}
	// A rule that ends removes future occurrences, and nothing else.
	f["c.ics"] = ics(
		"UID:a\nSUMMARY:Weekly " +
			"deploy\nDTSTART:20310106T090000Z\nDTEND:20310106T100000Z\nRRULE:FREQ=WEEKLY;UNTIL=20310801T000000Z")
	before := len(r.Records)
	s.AcceptShrink = true
	if r = s.Sync(); r.Deleted != 4 || len(r.Records) != before-4 {
		t.Errorf("%d deleted of %d", r.Deleted, before)
	}
}

func TestOptions(t *testing.T) {
	t.Setenv("CALENDAR_OF_TEST", " webcal://calendar.example.org/private/x.ics ")
	good := []map[string]any{{"file": "a/b.ics"}, {"url": "https://example.org/x.ics"}, {"url_env": "CALENDAR_OF_TEST"}}
	for _, o := range good {
		if err := connectortest.Open(calendar.Kind, o); err != nil {
			t.Errorf("%v: %v", o, err)
		}
	}
	tests := map[string]struct {
		options map[string]any
		want    string
	}{
		"nothing": {nil, "want one of the options url, url_env and file"},
		"both":    {map[string]any{"file": "a.ics", "url": "https://example.org/a"}, "want one of the options"},
		"variable": {map[string]any{"url_env": "NO_SUCH_CALENDAR"},
			"environment variable NO_SUCH_CALENDAR is not set"},
		"address":   {map[string]any{"url": "ftp://example.org"}, "url: want an address"},
		"outside":   {map[string]any{"file": "../a.ics"}, "file: "},
		"extension": {map[string]any{"file": "a.txt"}, "ends in .ics, .yaml or .yml"},
		"zone":      {map[string]any{"file": "a.ics", "zone": "Mole/3"}, `zone: "Mole/3" is not a time zone`},
		"local":     {map[string]any{"file": "a.ics", "zone": "Local"}, "zone: "},
		"zones":     {map[string]any{"file": "a.ics", "zones": map[string]any{"X": "Mole/3"}}, "zones.X: "},
		"window":    {map[string]any{"file": "a.ics", "ahead": -1}, "ahead: -1 is less than 0"},
		"days":      {map[string]any{"file": "a.ics", "back": 3651}, "want at most 3650 days"},
		"page":      {map[string]any{"file": "a.ics", "page": "x"}, "page: is not a web address"},
		"type": {map[string]any{"file": "a.ics", "types": map[string]any{"party": []any{"x"}}},
			`unknown type "party"; known are governance`},
		"release": {map[string]any{"file": "a.ics",
			"components": map[string]any{"node": map[string]any{"release": "x"}}},
			"components.node: release: want the key of a release record with {version} in it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := connectortest.Open(calendar.Kind, tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestBadEvents(t *testing.T) {
	tests := map[string]struct{ file, text, at, want string }{
		"no start": {"c.ics", ics("UID:x\nSUMMARY:A"), "c.ics:3", "has no DTSTART"},
		"no title": {"c.ics", ics("UID:x\nDTSTART:20310610"), "c.ics:3", "has no title"},
		"backwards": {"c.ics", ics("UID:x\nSUMMARY:A\nDTSTART:20310610T100000Z\nDTEND:20310610T090000Z"), "c.ics:3",
			"ends before it begins"},
		"day": {"c.ics", ics("UID:x\nSUMMARY:A\nDTSTART:20310231T100000Z"), "c.ics:3",
			"not a date or time that exists"},
		"duration": {"c.ics", ics("UID:x\nSUMMARY:A\nDTSTART:20310610T100000Z\nDURATION:2h"), "c.ics:3",
			"not a duration such as PT2H"},
		"hourly": {"c.ics", ics(
			"UID:x\nSUMMARY:A\nDTSTART:20310610T100000Z\nRRULE:FREQ=HOURLY;BYHOUR=5;INTERVAL=24"), "c.ics:3",
			"recurs more than once a day"},
		"rule": {"c.ics", ics("UID:x\nSUMMARY:A\nDTSTART:20310610T100000Z\nRRULE:FREQ=TIDALLY"), "c.ics:3",
			"TIDALLY"},
		"weekday": {"c.ics", ics("UID:x\nSUMMARY:A\nDTSTART:20310610T100000Z\nRRULE:FREQ=MONTHLY;BYDAY=53MO"),
			"c.ics:3", "no month has day"},
		"year": {"c.ics", ics("UID:x\nSUMMARY:A\nDTSTART:00010101T100000Z\nRRULE:FREQ=DAILY"), "c.ics:3",
			"begins in the year 1"},
		"yaml id": {"c.yaml", "- {title: A, starts: 2031-06-10}\n", "c.yaml:1", "the field id is missing"},
		"yaml field": {"c.yaml", "- id: a\n  title: A\n  starts: 2031-06-10\n  enviroments: [x]\n", "c.yaml:4",
			`unknown field "enviroments"; did you mean "environments"?`},
		"yaml env": {"c.yaml", "- {id: a, title: A, starts: 2031-06-10, environments: [mainet]}\n", "c.yaml:1",
			`unknown environment "mainet"; did you mean "mainnet"?`},
		"yaml time": {"c.yaml", "- {id: a, title: A, starts: 10 June}\n", "c.yaml:1",
			`starts: "10 June" is neither a date nor a time`},
		"yaml end": {"c.yaml", "- {id: a, title: A, starts: 2031-06-10, ends: 2031-06-10 14:00}\n", "c.yaml:1",
			"ends: want a date if starts is one"},
		"yaml both": {
			"c.yaml", "- {id: a, title: A, starts: 2031-06-10 14:00, ends: 2031-06-10 15:00, duration: 1h}\n",
			"c.yaml:1", "one is enough"},
		"yaml zone": {"c.yaml", "- {id: a, title: A, starts: 2031-06-10 14:00, zone: CESTT}\n", "c.yaml:1",
			`zone: "CESTT" is not a time zone`},
		"yaml twice": {"c.yaml", "- {id: a, title: A, starts: 2031-06-10}\n- {id: a, title: B, starts: 2031-06-10}\n",
			"c.yaml:2", `id: "a" is a duplicate; the first is on line 1`},
		"yaml once": {"c.yaml", "- {id: a, title: A, starts: 2031-06-10, changes: [{occurrence: 2031-06-10}]}\n",
			"c.yaml:1", "changes: the event does not repeat"},
		"yaml order": {"c.yaml", "- {id: a, title: A, starts: 2031-06-10, ends: 2031-06-08}\n", "c.yaml:1",
			"ends before it starts"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := local(t, folder{tt.file: tt.text}, tt.file, nil).Sync()
			if len(r.Problems) != 1 || r.Problems[0].Locator != tt.at ||
				!strings.Contains(r.Problems[0].Message, tt.want) {
				t.Errorf("%+v\nwant %s", r.Problems, tt.want)
			}
		})
	}
	odd := local(t, folder{
		"c.ics": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:x\nSUMMARY:Upgrade\nDESCRIPTION:one\ntwo without a " +
			"fold\nDTSTART:20310610T100000Z\nEND:VEVENT\nEND:VCALENDAR"}, "c.ics", nil).Sync()
	if odd.Warned != 1 || odd.Problems[0].Locator != "c.ics:6" || len(odd.Records) != 1 {
		t.Errorf("%+v", odd.Problems)
	}
	for name, text := range map[string]string{
		"nothing": "", "html": "<html>", "cut": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:x\n",
		"crossed": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\nEND:VEVENT\n",
	} {
		if r := local(t, folder{"c.ics": text}, "c.ics", nil).Try(t.Context()); r.Err == nil ||
			!strings.Contains(r.Err.Error(), "c.ics: ") {
			t.Errorf("%s: %v", name, r.Err)
		}
	}
	if r := local(t, folder{}, "c.ics", nil).Try(t.Context()); r.Err == nil ||
		!strings.Contains(r.Err.Error(), "c.ics: file does not exist") {
		t.Errorf("%v", r.Err)
	}
}

// TestLargeCalendarsAreRefused: what an address answers is bounded before it is
// parsed; the operator's own file may be larger.
func TestLargeCalendarsAreRefused(t *testing.T) {
	var events strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&events, "- {id: lamp-%d, title: Lamp, starts: 2029-06-10}\n", i)
	}
	for name, tt := range map[string]struct{ text, path, want string }{
		"bytes": {"[1" + strings.Repeat(",1", 4<<20) + "]", "/c.yaml", "8388611 bytes, the limit is 524288"},
		"values": {"[1" + strings.Repeat(",1", 200_000) + "]", "/c.yaml",
			"calendar.yaml:1: the file has more than 100000 values"},
		"entries": {events.String(), "/c.yaml", "calendar.yaml:5001: more than 5000 entries"},
		"lines": {"BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nEND:VEVENT\n", 250_000) + "END:VCALENDAR\n",
			"/c.ics", "the calendar has more than 500000 lines"},
	} {
		s := newServer(t, tt.text)
		s.config.Options["url"] = s.URL + tt.path
		r := connectortest.NewSource(t, s.config).Try(t.Context())
		if r.Err == nil || !strings.Contains(r.Err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, r.Err, tt.want)
		}
	}
	if r := local(t, folder{"c.yaml": events.String()}, "c.yaml", nil).Try(t.Context()); r.Err != nil {
		t.Errorf("a file: %v", r.Err)
	}
}
