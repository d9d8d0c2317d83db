package operations

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/dates"
	"almanac/text/markdown"
	"almanac/text/nearest"
)

// Validator is a validator, found by its name.
type Validator struct {
	kb.Named
	Match string `json:"match" enum:"exact,party,name,part" doc:"how it matches the name"`
	catalog.Validator
	ReportAgeDays *int       `json:"version_age_days" doc:"age of the report of its version"`
	Stale         bool       `json:"version_stale" doc:"reported more than 7 days ago, or never"`
	LastActivity  *time.Time `json:"last_activity"`
	MissedShare   *float64   `json:"missed_share" doc:"missed of all reward coupons"`
}

// Lean implements op.Leaner: a validator has fields of its own for when and who.
func (v *Validator) Lean() {
	v.Named.Lean()
	v.Date, v.Author = nil, ""
}

func validator(b kb.Base, f foundValidator) (Validator, error) {
	d, err := kb.Decode[catalog.Validator](f.Record)
	v := Validator{
		Named: b.Named(f.Record), Match: f.Match, Validator: d, Stale: !isFresh(d, b.Now()),
		LastActivity: kb.Time(f.Record.LastActivityAt),
	}
	if at := dates.At(d.VersionReportedAt, dates.Instant); !at.IsZero() {
		v.ReportAgeDays = new(int(b.Now().Sub(at).Hours() / 24))
	}
	if d.MissedCoupons != nil && d.CollectedCoupons != nil && *d.MissedCoupons+*d.CollectedCoupons > 0 {
		v.MissedShare = new(kb.Score(float64(*d.MissedCoupons) / float64(*d.MissedCoupons+*d.CollectedCoupons)))
	}
	return v, err
}

type validatorIn struct {
	Name  string `json:"name" required:"true" maxLength:"300" doc:"name, part of a name, or the beginning of a party id"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many to return"`
}

var allValidators = catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindValidator}}

var getValidator = kb.New(op.Spec{
	ID: "get_validator", Tool: "get_validator", Kinds: []catalog.Kind{catalog.KindValidator},
	Doc: `
Look up a validator
Validators by name or party id: sponsor, version, activity, rewards.

Looks up validators by name or party id, the best match first: sponsor, reported version and its age, last activity,
rewards. For the versions of all use get_validator_fleet.
`,
}, func(ctx context.Context, b kb.Base, in validatorIn) (kb.List[Validator], error) {
	records, _, err := b.Catalog.List(ctx, allValidators)
	if err != nil {
		return kb.List[Validator]{}, err
	}
	found := findValidators(records, in.Name)
	out := kb.List[Validator]{Total: len(found), Limit: in.Limit}
	for _, f := range found[:min(in.Limit, len(found))] {
		v, err := validator(b, f)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, v)
	}
	if len(found) == 0 {
		names := nearestValidators(records, in.Name)
		out.Hint = "no validator has this name or party id: names look like " + strings.Join(names, ", ")
	}
	return out, nil
})

// Fleet is the distribution of versions over the approved validators.
type Fleet struct {
	Distribution
	Environment string         `json:"environment,omitempty" doc:"of the network, that the minimum is for"`
	Minimum     *kb.Minimum    `json:"minimum" doc:"in force; null: none is known"`
	NextMinimum *kb.Minimum    `json:"next_minimum" doc:"scheduled; null: none is"`
	Position    *FleetPosition `json:"position" doc:"of the version that was asked for; null without one"`
	Method      string         `json:"method" doc:"how it was computed, in one sentence"`
	Hint        string         `json:"hint,omitempty" doc:"if there are no validators: why"`
}

type fleetIn struct {
	Version string `json:"version" maxLength:"100" doc:"your own version, to be placed in the fleet"`
}

// fleetAge is how long the distribution is cached: reports age.
const fleetAge = 15 * time.Minute

var fleet = kb.New(op.Spec{
	ID: "get_validator_fleet", Tool: "get_validator_fleet", Kinds: []catalog.Kind{catalog.KindValidator},
	Doc: `
Versions of the fleet
Distribution of versions over the approved validators.

Counts the versions that approved validators report and how many reports are fresh; your own version gets a position.
For one validator use get_validator.
`,
}, func(ctx context.Context, b kb.Base, in fleetIn) (Fleet, error) {
	read := func(ctx context.Context) (Fleet, error) { return readFleet(ctx, b) }
	f, _, err := kb.Derived(ctx, b, "get_validator_fleet", fleetAge, read)
	if err != nil || in.Version == "" {
		return f, err
	}
	minimum := ""
	if f.Minimum != nil {
		minimum = f.Minimum.Version
	}
	p, ok := f.Distribution.Position(in.Version, minimum)
	if !ok {
		return Fleet{}, op.InvalidField("version", "must be a version, such as 1.2.3 or v0.10.1-rc.1")
	}
	f.Position = &p
	return f, nil
})

// readFleet reads the fleet and its minimum: the environment is that of the
// ledger whose validators are listed, the first in the network's state.
func readFleet(ctx context.Context, b kb.Base) (Fleet, error) {
	records, _, err := b.Catalog.List(ctx, allValidators)
	if err != nil {
		return Fleet{}, err
	}
	f := Fleet{Distribution: distributionOf(records, b.Now())}
	f.Method = fmt.Sprintf("Versions are self-reported; a report is fresh for %d days; shares are of the %d that report.",
		int(freshReport.Hours()/24), f.Reporting)
	if f.Validators == 0 {
		f.Hint = "no validators are indexed: /api/v1/sources lists what is"
	}
	state, _, err := kb.Newest[catalog.NetworkState](ctx, b, catalog.SeriesNetwork)
	if err != nil || state == nil || len(state.Deployments) == 0 {
		return f, err
	}
	f.Environment = state.Deployments[0].Environment
	entries, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindOperation}})
	s := versions.Upgrade(versions.UpgradeInput{Environment: f.Environment, Network: state, Operations: entries}, b.Now())
	f.Minimum, f.NextMinimum = s.Minimum.Row(b), s.NextMinimum.Row(b)
	return f, err
}

// freshReport is the age up to which a validator's report of its version is
// fresh: releases are weeks apart.
const freshReport = 7 * 24 * time.Hour

// stateApproved is the state of validators that take part.
const stateApproved = "approved"

// VersionCount is how many validators run a version.
type VersionCount struct {
	Version string  `json:"version" doc:"as reported, without a leading v"`
	Count   int     `json:"count"`
	Share   float64 `json:"share" doc:"of those that report a version"`
	Fresh   int     `json:"fresh" doc:"of these, how many reported it within the last 7 days"`
	parsed  derive.Version
	ok      bool // it is a version
}

// Distribution is the distribution of versions over the approved validators.
type Distribution struct {
	Validators int            `json:"validators" doc:"approved ones"`
	Approvals  bool           `json:"approvals_known" doc:"false: none are listed, so all but offboarded ones count"`
	Reporting  int            `json:"reporting" doc:"that report a version"`
	Fresh      int            `json:"fresh_reports" doc:"reports of the last 7 days"`
	Stale      int            `json:"stale_reports" doc:"older reports, and those without a date"`
	Versions   []VersionCount `json:"versions" doc:"newest first"`
	AsOf       *time.Time     `json:"as_of" doc:"latest report or activity of a validator; null if there is none"`
}

// distributionOf counts the versions that approved validators report; if none is known to
// be approved, all whose state is unknown. Spellings of a
// version that differ only in a leading v count as one; what is no version comes
// last.
func distributionOf(validators []catalog.Record, now time.Time) Distribution {
	var f Distribution
	f.Approvals = slices.ContainsFunc(validators, func(r catalog.Record) bool { return r.State == stateApproved })
	counted := ""
	if f.Approvals {
		counted = stateApproved
	}
	at := map[string]int{}
	for _, r := range validators {
		d, err := catalog.Decode[catalog.Validator](r)
		if err != nil || r.State != counted {
			continue
		}
		f.Validators++
		reported, _ := derive.ParseTime(d.VersionReportedAt)
		for _, t := range []time.Time{reported, r.LastActivityAt} {
			if t := t.UTC(); !t.IsZero() && !t.After(now) && (f.AsOf == nil || t.After(*f.AsOf)) {
				f.AsOf = &t
			}
		}
		if d.Version == "" {
			continue
		}
		f.Reporting++
		key := derive.VersionKey(d.Version)
		i, ok := at[key]
		if !ok {
			i = len(f.Versions)
			at[key] = i
			v := VersionCount{Version: d.Version}
			if v.parsed, v.ok = derive.ParseVersion(d.Version); v.ok {
				v.Version = strings.TrimLeft(d.Version, "vV ")
			}
			f.Versions = append(f.Versions, v)
		}
		f.Versions[i].Count++
		if isFresh(d, now) {
			f.Versions[i].Fresh++
			f.Fresh++
		}
	}
	f.Stale = f.Reporting - f.Fresh
	for i, v := range f.Versions {
		f.Versions[i].Share = share(v.Count, f.Reporting)
	}
	slices.SortFunc(f.Versions, func(a, b VersionCount) int {
		if a.ok != b.ok {
			if a.ok {
				return -1
			}
			return 1
		}
		return cmp.Or(b.parsed.Compare(a.parsed), cmp.Compare(a.Version, b.Version))
	})
	return f
}

// isFresh reports whether a validator reported its version within the last
// days.
func isFresh(d catalog.Validator, now time.Time) bool {
	at, ok := derive.ParseTime(d.VersionReportedAt)
	return ok && now.Sub(at) <= freshReport
}

// share is a part of a whole, rounded to a tenth of a percent.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(int(float64(part)/float64(whole)*1000+0.5)) / 1000
}

// FleetPosition is where a version stands in the fleet.
type FleetPosition struct {
	Version string  `json:"version"`
	Newer   float64 `json:"newer_than" doc:"share of reporting validators with an older version"`
	Same    float64 `json:"same" doc:"share with the same version"`
	Behind  float64 `json:"behind" doc:"share with a newer version"`
	Minimum string  `json:"minimum" enum:"below,at,above,unknown" doc:"compared with the minimum version in force"`
}

// Position places a version in the fleet and compares it with the minimum in
// force, if that is known. It reports whether the text is a version.
func (f Distribution) Position(version, minimum string) (p FleetPosition, ok bool) {
	own, ok := derive.ParseVersion(version)
	if !ok {
		return p, false
	}
	var older, same, newer int
	for _, v := range f.Versions {
		switch c := own.Compare(v.parsed); {
		case !v.ok:
		case c > 0:
			older += v.Count
		case c == 0:
			same += v.Count
		default:
			newer += v.Count
		}
	}
	p = FleetPosition{
		version, share(older, f.Reporting), share(same, f.Reporting), share(newer, f.Reporting), "unknown",
	}
	if least, known := derive.ParseVersion(minimum); known {
		p.Minimum = [...]string{"below", "at", "above"}[own.Compare(least)+1]
	}
	return p, true
}

// Ways in which a validator matches a name, the best first.
const (
	matchExact = "exact" // the name, the party id or the readable part of it
	matchParty = "party" // the party id, or the fingerprint in it, begins so
	matchName  = "name"  // every word begins a word of the name
	matchPart  = "part"  // the name contains it
)

// foundValidator is a validator that matches a name.
type foundValidator struct {
	Record catalog.Record
	Match  string
}

// minFingerprint is the least part of a fingerprint that is looked for, in
// characters: the first four are the same in all.
const minFingerprint = 7

var matches = []string{matchExact, matchParty, matchName, matchPart}

// findValidators returns the validators that a name or a party id means, the
// best match first, then by name.
func findValidators(validators []catalog.Record, name string) []foundValidator {
	name = catalog.Fold(name)
	words := markdown.Words(name)
	var out []foundValidator
	for _, r := range validators {
		title, party := catalog.Fold(r.Title), catalog.Fold(r.Key)
		readable, fingerprint, _ := strings.Cut(party, "::")
		match := ""
		switch {
		case name == "":
		case name == title, name == party, name == readable:
			match = matchExact
		case strings.HasPrefix(party, name), len(name) >= minFingerprint && strings.HasPrefix(fingerprint, name):
			match = matchParty
		case len(words) > 0 && begin(words, markdown.Words(title+" "+readable)):
			match = matchName
		case strings.Contains(title, name):
			match = matchPart
		}
		if match != "" {
			out = append(out, foundValidator{r, match})
		}
	}
	slices.SortFunc(out, func(a, b foundValidator) int {
		return cmp.Or(cmp.Compare(slices.Index(matches, a.Match), slices.Index(matches, b.Match)),
			cmp.Compare(a.Record.Title, b.Record.Title), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	return out
}

// nearestNames is how many names nearestValidators returns.
const nearestNames = 5

// nearestValidators returns the names that have a word most like a mistyped
// name, or the first names if none is like it.
func nearestValidators(validators []catalog.Record, name string) []string {
	var parts, names []string
	for _, r := range validators {
		parts = append(parts, markdown.Words(catalog.Fold(r.Title))...)
	}
	near := nearest.Of(catalog.Fold(name), parts)
	for _, r := range validators {
		if near == "" || slices.Contains(markdown.Words(catalog.Fold(r.Title)), near) {
			names = append(names, r.Title)
		}
	}
	slices.Sort(names)
	return names[:min(nearestNames, len(names))]
}

// begin reports whether each word begins one of the others.
func begin(words, others []string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(o, w) }) {
			return false
		}
	}
	return true
}
