package onboarding

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
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

// Kinds of records that state facts and that hold live values.
var (
	factKinds = []catalog.Kind{catalog.KindFoundation, catalog.KindPartner}
	liveKinds = []catalog.Kind{catalog.KindCIP, catalog.KindRelease, catalog.KindPackageVersion, catalog.KindAsset,
		catalog.KindOperation}
)

// liveValues is what facts are compared with. An unknown part is zero: then its rules
// have no live value.
type liveValues struct {
	Network *catalog.NetworkState
	Market  *catalog.MarketState
	Stats   *catalog.Stats
	Records []catalog.Record // of liveKinds; may lack their bodies
}

// staleAfter is the age from which a wrong fact counts as outdated rather than
// mistaken.
const staleAfter = 90 * 24 * time.Hour

// driftOf compares facts stated by records of factKinds with live values. Rules
// match facts by category and key, ignoring case, plural and punctuation:
//
//	network           validators, super_validators, voting_threshold, sequencers, featured_apps
//	market            price_usd, market_cap_usd, volume_24h_usd, tvl_usd
//	tvl               a protocol
//	supply, holders   an asset
//	version           an environment, environment/component, a package, or a repository or its name
//	minimum_version   an environment, environment/package
//	migration_id      an environment
//	count             a kind of content, or a name of catalog.Stats
//	status            a proposal: the network's own word
//	date              uid or title of an operation: when it starts
//
// A difference that is slight for the rule (within twice its tolerance, or in
// the last part of a version) is info; a greater one is warn, or stale if the
// fact is older than 90 days. A fact whose rule has no live value is not a
// finding and counts as missing.
func driftOf(
	facts []catalog.Record, live liveValues, now time.Time, item func(catalog.Record) kb.Item,
) KBDrift {
	d := &drift{live: live.index(), now: now, item: item, rules: make([]catalog.DriftRule, len(rules))}
	for i, r := range rules {
		d.rules[i] = catalog.DriftRule{Category: r.category, Key: cmp.Or(r.key, "*")}
	}
	for _, rec := range facts {
		for _, f := range factsOf(rec) {
			d.check(rec, f)
		}
	}
	slices.SortStableFunc(d.findings, func(a, b DriftFinding) int {
		return cmp.Or(severityRank[b.Severity]-severityRank[a.Severity], cmp.Compare(a.Category, b.Category),
			cmp.Compare(a.Key, b.Key))
	})
	out := KBDrift{Facts: d.facts, Compared: d.facts - d.unruled, Severities: map[string]int{},
		Findings: d.findings, Total: len(d.findings)}
	for _, f := range d.findings {
		out.Severities[f.Severity]++
	}
	for _, r := range d.rules {
		if out.Compared -= r.Missing + r.Unreadable; r.Facts > 0 {
			out.Rules = append(out.Rules, r)
		}
	}
	return out
}

// Severities of a finding.
const (
	driftInfo  = "info"  // slightly off
	driftWarn  = "warn"  // contradicts the live value
	driftStale = "stale" // contradicts it, and was stated long ago
)

var severityRank = map[string]int{driftInfo: 0, driftStale: 1, driftWarn: 2}

func factsOf(r catalog.Record) []catalog.Fact {
	if f, err := catalog.Decode[catalog.Foundation](r); err == nil {
		return f.Facts
	}
	p, _ := catalog.Decode[catalog.Partner](r) // other kinds state nothing
	return p.Facts
}

type drift struct {
	live           values
	now            time.Time
	facts, unruled int
	rules          []catalog.DriftRule
	findings       []DriftFinding
	item           func(catalog.Record) kb.Item
}

// check compares one fact by its rule.
func (d *drift) check(rec catalog.Record, f catalog.Fact) {
	d.facts++
	category, key := singular(catalog.Underscored(f.Category)), catalog.Underscored(f.Key)
	at := slices.IndexFunc(rules, func(r rule) bool {
		return singular(r.category) == category && (r.key == "" || singular(r.key) == singular(key))
	})
	if at < 0 {
		d.unruled++
		return
	}
	d.rules[at].Facts++
	live := d.live.of(rules[at], key)
	if live == "" {
		d.rules[at].Missing++
		return
	}
	how, ok := rules[at].differ(f.Value, live)
	if !ok {
		d.rules[at].Unreadable++
		return
	}
	if how == agrees {
		return
	}
	d.rules[at].Drifted++
	finding := DriftFinding{Category: f.Category, Key: f.Key, Stated: f.Value, Live: live,
		Severity: driftWarn, Record: d.item(rec)}
	since, dated := derive.ParseTime(f.AsOf)
	if !dated {
		since = rec.UpdatedAt
	}
	if !since.IsZero() {
		age := int(max(0, d.now.Sub(since)) / (24 * time.Hour))
		finding.AgeDays = &age
		if d.now.Sub(since) > staleAfter {
			finding.Severity = driftStale
		}
	}
	if how == slightly {
		finding.Severity = driftInfo
	}
	d.findings = append(d.findings, finding)
}

func singular(s string) string { return strings.TrimSuffix(s, "s") }

// rule defines which facts it applies to, and how they are compared with the live
// value of their category and key.
type rule struct {
	category string
	key      string                                   // "": the fact's key names its subject
	differ   func(stated, live string) (degree, bool) // false if the stated value cannot be parsed
}

// degree is how far a fact is from its live value.
type degree int

const (
	agrees degree = iota
	slightly
	clearly
)

var rules = []rule{
	{"network", "validators", within(0.05)},
	{"network", "super_validators", within(0)},
	{"network", "voting_threshold", within(0)},
	{"network", "sequencers", within(0)},
	{"network", "featured_apps", within(0.1)},
	{"market", "price_usd", within(0.1)},
	{"market", "market_cap_usd", within(0.1)},
	{"market", "volume_24h_usd", within(0.5)},
	{"market", "tvl_usd", within(0.1)},
	{"tvl", "", within(0.1)},
	{"supply", "", within(0.02)},
	{"holders", "", within(0.1)},
	{"version", "", byVersion},
	{"minimum_version", "", byVersion},
	{"migration_id", "", within(0)},
	{"count", "", within(0.1)},
	{"status", "", byText},
	{"date", "", byDay},
}

// values are live values by category and key, in the form that facts are compared
// in; an unknown one is not there.
type values map[[2]string]string

func (v values) add(category, key, value string) {
	if value != "" {
		v[[2]string{category, catalog.Underscored(key)}] = value
	}
}

// index indexes live values by the names that facts use.
func (l liveValues) index() values {
	v := values{}
	l.addRecords(v)
	if n := l.Network; n != nil {
		v.add("network", "validators", figure(n.ValidatorCount))
		v.add("network", "super_validators", figure(n.SuperValidators))
		v.add("network", "voting_threshold", figure(n.VotingThreshold))
		v.add("network", "sequencers", figure(n.SequencerCount))
		v.add("network", "featured_apps", figure(n.FeaturedApps))
		for _, d := range n.Deployments {
			v.add("version", d.Environment, d.Version)
			for part, version := range d.Components {
				v.add("version", d.Environment+"/"+part, version)
			}
			v.add("minimum_version", d.Environment, d.MinimumVersion)
			for part, version := range d.MinimumOf {
				v.add("minimum_version", d.Environment+"/"+part, version)
			}
			v.add("migration_id", d.Environment, figure(d.MigrationID))
		}
	}
	if m := l.Market; m != nil {
		v.add("market", "price_usd", figure(m.PriceUSD))
		v.add("market", "market_cap_usd", figure(m.MarketCapUSD))
		v.add("market", "volume_24h_usd", figure(m.Volume24hUSD))
		v.add("market", "tvl_usd", figure(m.TVLUSD))
		for _, p := range m.Protocols {
			v.add("tvl", p.Protocol, figure(p.TVLUSD))
		}
	}
	if s := l.Stats; s != nil {
		for kind, n := range s.RecordsByKind {
			v.add("count", string(kind), strconv.Itoa(n))
		}
		for name, n := range map[string]int{
			"cip": s.CIPs, "cips_in_review": s.CIPsInReview, "cips_final": s.CIPsFinal, "pull": s.Pulls,
			"proposal": s.Proposals, "mail_thread": s.MailThreads,
		} {
			v.add("count", name, strconv.Itoa(n))
		}
	}
	return v
}

func (l liveValues) addRecords(v values) {
	newest := map[string]derive.Version{}
	publish := func(version string, names ...string) {
		n, ok := derive.ParseVersion(version)
		for _, name := range names {
			name = catalog.Underscored(name)
			if best, known := newest[name]; ok && !n.Prerelease() && (!known || n.Compare(best) > 0) {
				newest[name] = n
				v.add("version", name, version)
			}
		}
	}
	for _, r := range l.Records {
		switch r.Kind {
		case catalog.KindCIP:
			v.add("status", r.Key, cmp.Or(kb.StatusRaw(r), r.State))
		case catalog.KindAsset:
			if a, err := catalog.Decode[catalog.Asset](r); err == nil {
				v.add("supply", r.Key, figure(a.Supply))
				v.add("holders", r.Key, figure(a.Holders))
			}
		case catalog.KindOperation:
			if !r.StartsAt.IsZero() {
				v.add("date", r.Key, r.StartsAt.Format(time.DateOnly))
				v.add("date", r.Title, r.StartsAt.Format(time.DateOnly))
			}
		case catalog.KindRelease:
			if d, err := catalog.Decode[catalog.Release](r); err == nil && !d.Prerelease {
				publish(d.Version, derive.ReleaseNames(r, d.Version)...)
			}
		case catalog.KindPackageVersion:
			if d, err := catalog.Decode[catalog.PackageVersion](r); err == nil && !d.Prerelease && d.Deprecated == "" {
				publish(d.Version, d.Name)
			}
		}
	}
}

// of returns the live value for a key: that of the rule, or the fact's own, which
// may be in the plural.
func (v values) of(r rule, key string) string {
	if r.key != "" {
		return v[[2]string{r.category, r.key}]
	}
	return cmp.Or(v[[2]string{r.category, key}], v[[2]string{r.category, singular(key)}])
}

// within compares numbers: equal up to a fraction of the live one.
func within(tolerance float64) func(string, string) (degree, bool) {
	return func(stated, live string) (degree, bool) {
		a, okA := parseNumber(stated)
		b, okB := parseNumber(live)
		if !okA || !okB {
			return agrees, false
		}
		switch off := math.Abs(a - b); {
		case off <= tolerance*math.Abs(b):
			return agrees, true
		case off <= 2*tolerance*math.Abs(b):
			return slightly, true
		}
		return clearly, true
	}
}

var numberForm = regexp.MustCompile(`(?i)^\D{0,24}?(-?\d[\d,_'’ ]*(?:\.\d+)?)\s*(k|m|b|bn|t|thousand|million|billion|` +
	`trillion)?\b`)

var magnitudes = map[string]float64{
	"": 1, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6,
	"b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12,
}

// parseNumber parses a figure as people write it: 1,234, about 30, $1.2M.
func parseNumber(s string) (float64, bool) {
	m := numberForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",_'’ ", r) {
			return -1
		}
		return r
	}, m[1])
	n, err := strconv.ParseFloat(digits, 64)
	return n * magnitudes[strings.ToLower(m[2])], err == nil
}

// byVersion compares the stated numbers of versions: 3.4 matches every 3.4.x. A
// difference from the third number on is slight.
func byVersion(stated, live string) (degree, bool) {
	if v := derive.VersionsIn(stated); len(v) > 0 {
		stated = v[0]
	}
	a, okA := derive.ParseVersion(stated)
	b, okB := derive.ParseVersion(live)
	switch {
	case !okA || !okB:
		return agrees, false
	case a.Includes(b):
		return agrees, true
	case a.Apart(b) > 1:
		return slightly, true
	}
	return clearly, true
}

func byText(stated, live string) (degree, bool) {
	if catalog.Fold(stated) == catalog.Fold(live) {
		return agrees, true
	}
	return clearly, strings.TrimSpace(stated) != ""
}

// byDay compares dates; a day off is slight, because time zones are.
func byDay(stated, live string) (degree, bool) {
	a, okA := derive.ParseTime(stated)
	b, okB := derive.ParseTime(live)
	if !okA || !okB {
		return agrees, false
	}
	switch off := a.Truncate(24 * time.Hour).Sub(b.Truncate(24 * time.Hour)).Abs(); {
	case off == 0:
		return agrees, true
	case off <= 24*time.Hour:
		return slightly, true
	}
	return clearly, true
}

// figure writes a number without rounding, "" for nil.
func figure[T int | int64 | float64](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*n), 'f', -1, 64)
}
