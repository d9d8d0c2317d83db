package operations

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Contents are the daily statistics of the content.
type Contents struct {
	AsOf    *time.Time         `json:"as_of" doc:"day of the latest statistics"`
	Latest  ContentsSnapshot   `json:"latest"`
	History []ContentsSnapshot `json:"history" doc:"newest first, the latest included"`
	Total   int                `json:"total" doc:"number of snapshots"`
}

// ContentsSnapshot is what the knowledge base held on a day.
type ContentsSnapshot struct {
	kb.Captured
	catalog.Stats
}

// lastDays are the snapshots that are returned: one a day.
type lastDays struct{}

func (lastDays) Most() int { return 90 }

// statsRetry is the wait for the first statistics, which follow the first sync.
const statsRetry = 30 * time.Second

var contents = kb.New(op.Spec{
	ID: "get_stats", Path: "/api/v1/stats", MayFail: []error{op.ErrUnavailable},
	Doc: `
What is indexed, day by day: the latest statistics and their history.

Returns the statistics of the latest day and of up to 90 days. For the counts of this moment use get_network_stats.
`,
}, func(ctx context.Context, b kb.Base, _ struct{}) (Contents, error) {
	h, err := readStats(ctx, b, lastDays{})
	if err == nil && h.Total == 0 {
		err = op.Unavailable(statsRetry, "there is no snapshot of the statistics yet: the first follows the first sync")
	}
	if err != nil {
		return Contents{}, err
	}
	return Contents{h.AsOf, h.Items[0], h.Items, h.Total}, nil
})

var readStats = kb.HistoryOf[lastDays](catalog.SeriesStats, func(c kb.Captured, s catalog.Stats) ContentsSnapshot {
	return ContentsSnapshot{c, s}
})
