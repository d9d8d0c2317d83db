package operations

import (
	"context"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
)

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
