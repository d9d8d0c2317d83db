package operations

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
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
