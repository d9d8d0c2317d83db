package operations

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/webaddress"
)

// Scheduled is an entry of the operations calendar.
type Scheduled struct {
	kb.Item
	Type           string     `json:"type" doc:"deploy, release, upgrade, governance, freeze, minimum_version, …"`
	Environments   []string   `json:"environments"`
	Starts         *time.Time `json:"starts"`
	Ends           *time.Time `json:"ends"`
	AllDay         bool       `json:"all_day,omitempty"`
	Tentative      bool       `json:"tentative,omitempty"`
	Version        string     `json:"version,omitempty"`
	MinimumVersion string     `json:"minimum_version,omitempty"`
	Validators     bool       `json:"validators" doc:"whether validators have to act"`
	Components     []string   `json:"components"`
}

func scheduled(b kb.Base, r catalog.Record) (Scheduled, error) {
	d, err := kb.Decode[catalog.Operation](r)
	r.State, r.Container = catalog.OperationState(r, b.Now()), ""
	return Scheduled{
		Item: b.Item(r), Type: r.Category, Environments: d.Environments, Starts: kb.Time(r.StartsAt), Ends: kb.Time(r.EndsAt),
		AllDay: d.AllDay, Tentative: d.Tentative, Version: d.Version, MinimumVersion: d.MinimumVersion,
		Validators: d.Validators, Components: d.Components,
	}, err
}

// upcoming selects what is on between now and then.
func upcoming(b kb.Base, then time.Time) catalog.ListQuery {
	return catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindOperation}, Order: catalog.ByStarts, When: catalog.TimeWindow,
		Since: b.Now(), Until: then,
	}
}

var upcomingOperations = kb.New(op.Spec{
	ID: "get_upcoming_operations", Tool: "get_upcoming_operations", Kinds: []catalog.Kind{catalog.KindOperation},
	Doc: `
What is scheduled soon
Operations in the next days, in all environments and of all types.

Lists the operations of the next days, soonest first, in all environments and of all types. For deadlines alone use
get_upcoming_deadlines.
`,
}, func(ctx context.Context, b kb.Base, in daysIn) (kb.List[Scheduled], error) {
	return kb.Rows(ctx, b, upcoming(b, b.Now().AddDate(0, 0, in.Days)), arg.Paging{}, scheduled)
})

type daysIn struct {
	Days int `json:"days" required:"true" minimum:"1" maximum:"180" doc:"length of the window"`
}

type scheduleIn struct {
	Environment  arg.Environment `json:"environment"`
	UpcomingOnly bool            `json:"upcoming_only" default:"true" doc:"leave out what is over"`
	Limit        int             `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
}

var schedule = kb.New(op.Spec{
	ID: "get_sv_schedule", Tool: "get_sv_schedule", Kinds: []catalog.Kind{catalog.KindOperation},
	Doc: `
Operations schedule
The operations schedule, filtered by environment.

Lists the operations schedule by time: releases, deploys, upgrades, governance windows and freezes; filter by
environment.
`,
}, func(ctx context.Context, b kb.Base, in scheduleIn) (kb.List[Scheduled], error) {
	q := upcoming(b, time.Time{})
	if !in.UpcomingOnly {
		q.Since = time.Time{}
	}
	q.Tags = catalog.Tags(catalog.TagEnvironment, string(in.Environment))
	return kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit}, scheduled)
})

type deadlinesIn struct {
	Environment   arg.Environment `json:"environment"`
	Days          int             `json:"days" default:"90" minimum:"1" maximum:"365" doc:"length of the window"`
	ValidatorOnly bool            `json:"validator_only" default:"false" doc:"only those in which validators have to act"`
}

var deadlines = kb.New(op.Spec{
	ID: "get_upcoming_deadlines", Tool: "get_upcoming_deadlines", Kinds: []catalog.Kind{catalog.KindOperation},
	Doc: `
Deadlines for operators
Upcoming upgrades, minimum versions, topology freezes and synchronizer upgrades by environment.

Lists upcoming upgrades, raises of the minimum version, topology freezes and synchronizer upgrades, soonest first.
Events that cannot be attributed to an environment are left out.
`,
}, func(ctx context.Context, b kb.Base, in deadlinesIn) (kb.List[Scheduled], error) {
	q := upcoming(b, b.Now().AddDate(0, 0, in.Days))
	q.Categories = []string{
		catalog.OperationUpgrade, catalog.OperationMinimumVersion, catalog.OperationFreeze,
		catalog.OperationSynchronizerUpgrade,
	}
	if in.ValidatorOnly {
		q.AllTags = []string{catalog.TagValidators}
	}
	if q.Tags = catalog.Tags(catalog.TagEnvironment, string(in.Environment)); q.Tags == nil {
		known, err := b.Catalog.TagCounts(ctx, catalog.KindOperation, catalog.TagEnvironment+":")
		if err != nil {
			return kb.List[Scheduled]{}, err
		}
		for _, c := range known {
			q.Tags = append(q.Tags, c.Tag)
		}
	}
	return kb.Rows(ctx, b, q, arg.Paging{}, scheduled)
})

var calendar = kb.New(op.Spec{
	ID: "get_calendar", Path: "/calendar",
	Forms: []op.Form{{Type: "text/calendar; charset=utf-8", Only: true, Write: writeCalendar}},
	Doc:   "The operations of the last month and the next year as a calendar to subscribe to.",
}, func(ctx context.Context, b kb.Base, in calendarIn) (Calendar, error) {
	q := upcoming(b, b.Now().AddDate(1, 0, 0))
	q.Since = b.Now().AddDate(0, -1, 0)
	q.Tags = catalog.Tags(catalog.TagEnvironment, string(in.Environment))
	list, err := kb.Rows(ctx, b, q, arg.Paging{}, scheduled)
	return Calendar{b.Network.Title, b.Network.Name, list.Items}, err
})

type calendarIn struct {
	Environment arg.Environment `json:"environment"`
}

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

// Deployment is a deploy, release or upgrade that is over.
type Deployment struct {
	Scheduled
	OperationType string    `json:"operation_type" enum:"deploy,release,upgrade"`
	Releases      []kb.Item `json:"releases" doc:"known releases that its title names"`
}

type deploymentsIn struct {
	Limit int `json:"limit" default:"10" minimum:"1" maximum:"100" doc:"how many to return"`
	arg.Skip
}

var deployments = kb.New(op.Spec{
	ID: "get_recent_deployments", Tool: "get_recent_deployments",
	Kinds: []catalog.Kind{catalog.KindOperation, catalog.KindRelease},
	Doc: `
What was deployed
Completed deploys, releases and upgrades, newest first, with the releases they name.

Lists the deploys, releases and upgrades of the operations calendar that are over, newest first, with the releases that
their titles name. For what is to come use get_upcoming_operations.
`,
}, runDeployments)

func runDeployments(ctx context.Context, b kb.Base, in deploymentsIn) (kb.List[Deployment], error) {
	q := catalog.ListQuery{
		Kinds:      []catalog.Kind{catalog.KindOperation},
		Categories: []string{catalog.OperationDeploy, catalog.OperationRelease, catalog.OperationUpgrade},
		States:     []string{catalog.OperationScheduled, catalog.OperationCompleted}, // not cancelled
		When:       catalog.TimeEnds, Until: b.Now().Add(time.Microsecond), Order: catalog.ByEnded,
	}
	list, err := kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit, Skip: in.Skip}, deployment)
	if list.Total == 0 {
		list.Hint = "no deploy, release or upgrade of the calendar is over: get_upcoming_operations has what is to come"
	}
	if err != nil {
		return list, err
	}
	ids := make([]int64, len(list.Items))
	for i, d := range list.Items {
		ids[i] = d.RecordID
	}
	named, err := b.Targets(ctx, ids, catalog.KindRelease)
	for _, l := range named {
		d := &list.Items[slices.Index(ids, l.Link.From)]
		d.Releases = append(d.Releases, b.Item(l.Record))
	}
	return list, err
}

func deployment(b kb.Base, r catalog.Record) (Deployment, error) {
	s, err := scheduled(b, r)
	return Deployment{Scheduled: s, OperationType: s.Type}, err
}
