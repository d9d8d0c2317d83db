package onboarding

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
)

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

// comparedIn is the number of facts that have a rule and a live value.
func comparedIn(d catalog.Drift) int {
	n := d.Facts - d.Unruled
	for _, r := range d.Rules {
		n -= r.Missing + r.Unreadable
	}
	return n
}

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
//	status            a proposal
//	date              uid or title of an operation: when it starts
//
// A difference that is slight for the rule (within twice its tolerance, or in
// the last part of a version) is info; a greater one is warn, or stale if the
// fact is older than 90 days. A fact whose rule has no live value is not a
// finding and counts as missing.
func driftOf(facts []catalog.Record, live liveValues, now time.Time) catalog.Drift {
	d := &drift{live: live, now: now, rules: make([]catalog.DriftRule, len(rules))}
	for i, r := range rules {
		d.rules[i] = catalog.DriftRule{Category: r.category, Key: cmp.Or(r.key, "*")}
	}
	d.index()
	for _, rec := range facts {
		for _, f := range factsOf(rec) {
			d.check(rec, f)
		}
	}
	slices.SortStableFunc(d.findings, func(a, b catalog.DriftFinding) int {
		return cmp.Or(severityRank[b.Severity]-severityRank[a.Severity], cmp.Compare(a.Category, b.Category),
			cmp.Compare(a.Key, b.Key))
	})
	out := catalog.Drift{CheckedAt: now, Facts: d.facts, Unruled: d.unruled, Findings: d.findings}
	for _, r := range d.rules {
		if r.Facts > 0 {
			out.Rules = append(out.Rules, r)
		}
	}
	return out
}

var severityRank = map[string]int{catalog.DriftInfo: 0, catalog.DriftStale: 1, catalog.DriftWarn: 2}

func factsOf(r catalog.Record) []catalog.Fact {
	if f, err := catalog.Decode[catalog.Foundation](r); err == nil {
		return f.Facts
	}
	p, _ := catalog.Decode[catalog.Partner](r) // other kinds state nothing
	return p.Facts
}

// rule defines which facts it applies to, where to find their live value and
// how to compare them.
type rule struct {
	category string
	key      string                                   // "": the fact's key names its subject
	value    func(d *drift, key string) string        // "" if unknown
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
	{"network", "validators", networkFigure(func(n *catalog.NetworkState) any { return n.ValidatorCount }),
		within(0.05)},
	{"network", "super_validators", networkFigure(func(n *catalog.NetworkState) any { return n.SuperValidators }),
		within(0)},
	{"network", "voting_threshold", networkFigure(func(n *catalog.NetworkState) any { return n.VotingThreshold }),
		within(0)},
	{"network", "sequencers", networkFigure(func(n *catalog.NetworkState) any { return n.SequencerCount }), within(0)},
	{"network", "featured_apps", networkFigure(func(n *catalog.NetworkState) any { return n.FeaturedApps }),
		within(0.1)},
	{"market", "price_usd", marketFigure(func(m *catalog.MarketState) *float64 { return m.PriceUSD }), within(0.1)},
	{"market", "market_cap_usd", marketFigure(func(m *catalog.MarketState) *float64 { return m.MarketCapUSD }),
		within(0.1)},
	{"market", "volume_24h_usd", marketFigure(func(m *catalog.MarketState) *float64 { return m.Volume24hUSD }),
		within(0.5)},
	{"market", "tvl_usd", marketFigure(func(m *catalog.MarketState) *float64 { return m.TVLUSD }), within(0.1)},
	{"tvl", "", liveTVL, within(0.1)},
	{"supply", "", assetFigure(func(a catalog.Asset) string { return writeNumber(a.Supply) }), within(0.02)},
	{"holders", "", assetFigure(func(a catalog.Asset) string { return writeNumber(a.Holders) }), within(0.1)},
	{"version", "", liveVersion, byVersion},
	{"minimum_version", "", liveMinimum, byVersion},
	{"migration_id", "", liveMigration, within(0)},
	{"count", "", liveCount, within(0.1)},
	{"status", "", liveStatus, byText},
	{"date", "", liveDate, byDay},
}

type drift struct {
	live       liveValues
	now        time.Time
	proposals  map[string]string // folded key → status
	assets     map[string]catalog.Asset
	operations map[string]time.Time
	versions   map[string]derive.Version // folded name → newest release
	spelling   map[string]string         // folded name → spelling

	facts, unruled int
	rules          []catalog.DriftRule
	findings       []catalog.DriftFinding
}

// index indexes the live values in records by the names that facts use.
func (d *drift) index() {
	d.proposals, d.assets, d.operations = map[string]string{}, map[string]catalog.Asset{}, map[string]time.Time{}
	d.versions, d.spelling = map[string]derive.Version{}, map[string]string{}
	for _, r := range d.live.Records {
		switch r.Kind {
		case catalog.KindCIP:
			d.proposals[catalog.Underscored(r.Key)] = r.State
		case catalog.KindAsset:
			if a, err := catalog.Decode[catalog.Asset](r); err == nil {
				d.assets[catalog.Underscored(r.Key)] = a
			}
		case catalog.KindOperation:
			d.operations[catalog.Underscored(r.Key)], d.operations[catalog.Underscored(r.Title)] = r.StartsAt, r.StartsAt
		case catalog.KindRelease:
			if v, err := catalog.Decode[catalog.Release](r); err == nil && !v.Prerelease {
				d.newest(v.Version, derive.ReleaseNames(r, v.Version)...)
			}
		case catalog.KindPackageVersion:
			if v, err := catalog.Decode[catalog.PackageVersion](r); err == nil && !v.Prerelease && v.Deprecated == "" {
				d.newest(v.Version, v.Name)
			}
		}
	}
}

// newest keeps the highest version of each name.
func (d *drift) newest(version string, names ...string) {
	v, ok := derive.ParseVersion(version)
	if !ok || v.Prerelease() {
		return
	}
	for _, n := range names {
		n = catalog.Underscored(n)
		if best, ok := d.versions[n]; !ok || v.Compare(best) > 0 {
			d.versions[n], d.spelling[n] = v, version
		}
	}
}

// check applies the rule of one fact.
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
	live := rules[at].value(d, key)
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
	finding := catalog.DriftFinding{Category: f.Category, Key: f.Key, Stated: f.Value, Live: live,
		Severity: catalog.DriftWarn, Record: rec}
	since, dated := derive.ParseTime(f.AsOf)
	if !dated {
		since = rec.UpdatedAt
	}
	if !since.IsZero() {
		age := int(max(0, d.now.Sub(since)) / (24 * time.Hour))
		finding.AgeDays = &age
		if d.now.Sub(since) > staleAfter {
			finding.Severity = catalog.DriftStale
		}
	}
	if how == slightly {
		finding.Severity = catalog.DriftInfo
	}
	d.findings = append(d.findings, finding)
}

func singular(s string) string { return strings.TrimSuffix(s, "s") }

// liveValues values.

func networkFigure(figure func(*catalog.NetworkState) any) func(*drift, string) string {
	return func(d *drift, _ string) string {
		if d.live.Network == nil {
			return ""
		}
		return writeNumber(figure(d.live.Network))
	}
}

func marketFigure(figure func(*catalog.MarketState) *float64) func(*drift, string) string {
	return func(d *drift, _ string) string {
		if d.live.Market == nil {
			return ""
		}
		return writeNumber(figure(d.live.Market))
	}
}

func liveTVL(d *drift, key string) string {
	if d.live.Market != nil {
		for _, p := range d.live.Market.Protocols {
			if catalog.Underscored(p.Protocol) == key {
				return writeNumber(p.TVLUSD)
			}
		}
	}
	return ""
}

func assetFigure(figure func(catalog.Asset) string) func(*drift, string) string {
	return func(d *drift, key string) string { return figure(d.assets[key]) }
}

// deployment returns the deployment on the environment named by a key, and the
// component or package after the slash.
func (d *drift) deployment(key string) (*catalog.Deployment, string) {
	environment, part, _ := strings.Cut(key, "/")
	if d.live.Network != nil {
		for i, dep := range d.live.Network.Deployments {
			if catalog.Underscored(dep.Environment) == environment {
				return &d.live.Network.Deployments[i], part
			}
		}
	}
	return nil, ""
}

func liveVersion(d *drift, key string) string {
	dep, part := d.deployment(key)
	switch {
	case dep == nil:
		return d.spelling[key]
	case part == "":
		return dep.Version
	}
	return named(dep.Components, part)
}

func liveMinimum(d *drift, key string) string {
	dep, part := d.deployment(key)
	switch {
	case dep == nil:
		return ""
	case part == "":
		return dep.MinimumVersion
	}
	return named(dep.MinimumOf, part)
}

func named(values map[string]string, key string) string {
	for k, v := range values {
		if catalog.Underscored(k) == key {
			return v
		}
	}
	return ""
}

func liveMigration(d *drift, key string) string {
	if dep, _ := d.deployment(key); dep != nil {
		return writeNumber(dep.MigrationID)
	}
	return ""
}

func liveCount(d *drift, key string) string {
	s := d.live.Stats
	if s == nil {
		return ""
	}
	for n, v := range map[string]int{
		"cip": s.CIPs, "cips_in_review": s.CIPsInReview, "cips_final": s.CIPsFinal, "pull": s.Pulls,
		"proposal": s.Proposals, "mail_thread": s.MailThreads,
	} {
		if singular(key) == singular(n) {
			return strconv.Itoa(v)
		}
	}
	for kind, n := range s.RecordsByKind {
		if singular(key) == string(kind) {
			return strconv.Itoa(n)
		}
	}
	return ""
}

func liveStatus(d *drift, key string) string { return d.proposals[key] }

func liveDate(d *drift, key string) string {
	if at := d.operations[key]; !at.IsZero() {
		return at.Format(time.DateOnly)
	}
	return ""
}

// writeNumber formats a figure without rounding, "" for nil.
func writeNumber(v any) string {
	switch v := v.(type) {
	case *int:
		if v != nil {
			return strconv.Itoa(*v)
		}
	case *int64:
		if v != nil {
			return strconv.FormatInt(*v, 10)
		}
	case *float64:
		if v != nil {
			return strconv.FormatFloat(*v, 'f', -1, 64)
		}
	}
	return ""
}

// Comparisons.

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
