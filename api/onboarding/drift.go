package onboarding

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

type driftIn struct {
	Refresh bool `json:"refresh" default:"false" doc:"compare again instead of answering from the cache"`
}

// KBDrift compares what the knowledge base states with live values.
type KBDrift struct {
	AsOf       time.Time           `json:"as_of" doc:"when it was compared"`
	Facts      int                 `json:"facts" doc:"stated values"`
	Compared   int                 `json:"compared" doc:"those that have a rule and a live value"`
	Severities map[string]int      `json:"severities" doc:"findings by severity"`
	Findings   []DriftFinding      `json:"findings" doc:"worst first"`
	Total      int                 `json:"total" doc:"number of findings"`
	Rules      []catalog.DriftRule `json:"rules" doc:"the rules that apply to a fact"`
	Method     string              `json:"method"`
	Hint       string              `json:"hint,omitempty" doc:"if there is no finding: why"`
}

// Head says how many there are in all.
func (d KBDrift) Head() (total int, hint string) { return d.Total, "" }

// DriftFinding is a stated value that differs from the live one.
type DriftFinding struct {
	Category string  `json:"category"`
	Key      string  `json:"key"`
	Stated   string  `json:"kb_value" doc:"as the knowledge base states it"`
	Live     string  `json:"live_value"`
	AgeDays  *int    `json:"age_days" doc:"of the statement; null: unknown"`
	Severity string  `json:"severity" enum:"info,warn,stale"`
	Record   kb.Item `json:"record" doc:"that states it"`
}

// driftAge is how long a comparison is cached: snapshots of the network and the
// market come every quarter of an hour and are no changes of the catalog.
const driftAge = 15 * time.Minute

var kbDrift = kb.New(op.Spec{
	ID: "get_kb_drift", Path: "/api/v1/kb-drift", Tool: "get_kb_drift", Kinds: factKinds,
	Doc: `
Drift of the knowledge base
Stated values that differ from live ones, by rule.

Compares the values that foundation and partner pages state with live ones: versions, figures, statuses and
dates, by severity. For contradictions on a topic use detect_drift.
`,
}, func(ctx context.Context, b kb.Base, in driftIn) (KBDrift, error) {
	age := driftAge
	if in.Refresh {
		age = -1
	}
	out, at, err := kb.Derived(ctx, b, "kb drift", age, func(ctx context.Context) (KBDrift, error) {
		return compareFacts(ctx, b)
	})
	out.AsOf = at
	out.Method = "Each stated value is compared with the live value that its category and key name, within the " +
		"tolerance of its rule: info is slightly off, warn contradicts, stale contradicts and is older than 90 days."
	if out.Total == 0 {
		out.Hint = "every value that could be compared agrees with the live one"
		if out.Compared == 0 {
			out.Hint = "no stated value could be compared: no page states any, or no live value is known"
		}
	}
	return out, err
})

// compareFacts reads what is stated and what is live.
func compareFacts(ctx context.Context, b kb.Base) (d KBDrift, err error) {
	facts, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: factKinds})
	if err != nil {
		return d, err
	}
	var live liveValues
	if live.Records, _, err = b.Catalog.List(ctx, catalog.ListQuery{Kinds: liveKinds}); err != nil {
		return d, err
	}
	if live.Network, _, err = kb.Newest[catalog.NetworkState](ctx, b, catalog.SeriesNetwork); err != nil {
		return d, err
	}
	if live.Market, _, err = kb.Newest[catalog.MarketState](ctx, b, catalog.SeriesMarket); err != nil {
		return d, err
	}
	live.Stats, _, err = kb.Newest[catalog.Stats](ctx, b, catalog.SeriesStats)
	return driftOf(facts, live, b.Now().UTC(), b.Item), err
}
