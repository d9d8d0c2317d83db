package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/curated"
	"almanac/ingest/fleet"
	"almanac/text/dates"
)

const (
	maxPage  = 1000 // items that the API returns at once
	maxPages = 200  // of licences
)

// right is a featured app right.
type right struct {
	Provider string
	Since    string // as the API writes it
}

// apps reads the featured apps.
func (s *syncRun) apps(ctx context.Context) error {
	skipped := len(s.peers.skipped)
	q := question{path: "/v0/featured-apps", what: "featured apps"}
	lists := poll(ctx, s.peers, q, func(raw []byte) ([]keyed[right], error) {
		p, err := list("featured_apps")(raw)
		return contracts(s.peers, p.items, "FeaturedAppRight", func(c contract, a appPayload) (right, error) {
			if a.Provider == "" {
				return right{}, errors.New("has no provider")
			}
			return right{a.Provider, c.CreatedAt}, nil
		}), err
	})
	earned, available := s.rewards(ctx)
	if lists == nil {
		s.sweep(catalog.KindApp, false)
		return nil
	}
	rights, settled := merge(s.peers, "featured apps", lists, true)
	s.state.FeaturedApps = new(len(rights))
	described, err := curated.Apps(s.env.Place(s.opts.Curated))
	if err != nil {
		s.out.Warn("option curated", err.Error()+"; applications stay unchanged")
		s.sweep(catalog.KindApp, false)
		return nil
	}
	for _, r := range rights {
		about := curated.App{Name: s.nameOf(r.Value.Provider)}
		if i := slices.IndexFunc(described, func(a curated.App) bool { return a.Of(r.Key, r.Value.Provider) }); i >= 0 {
			about = described[i]
		}
		if err := s.app(ctx, r, about, earned, available); err != nil {
			return err
		}
	}
	s.sweep(catalog.KindApp, settled && len(s.peers.skipped) == skipped && ctx.Err() == nil)
	return nil
}

// app puts a featured app with its curated description.
func (s *syncRun) app(ctx context.Context, r keyed[right], about curated.App, earned rewards, available bool) error {
	a := catalog.App{Provider: r.Value.Provider, Project: about.Project}
	name := about.Name
	e := catalog.Entry{Record: catalog.Record{
		Kind: catalog.KindApp, Key: r.Key, Title: name,
		URL: cmp.Or(about.URL, link(s.opts.Links.App, r.Key)), StartsAt: parseTime(r.Value.Since),
		Category: about.Category, Summary: about.Description, Tags: catalog.Tags(catalog.TagProvider, a.Provider),
		Body: strings.TrimSpace(fmt.Sprintf("%s is a featured application of %s. %s",
			name, s.env.Network.Title, about.Description)),
	}}
	stamp := ingest.Digest(r, about)
	if exact, ok := earned.apps[a.Provider]; ok {
		var err error
		if a.Rewards, _, err = exact.decimal(); err != nil {
			s.peers.warnOf("rewards of "+name, err)
		}
		a.MetricsAt = dates.Format(earned.at)
	} else if old, known := s.known[e.Record.Ref().String()]; !available && known && old.Stamp == stamp {
		s.keep(e.Record.Ref()) // its rewards are not known now
		return nil
	}
	var err error
	if e.Record.Data, err = catalog.Encode(a); err != nil {
		return err
	}
	return s.put(ctx, e, stamp, earned.at)
}

// contracts reads the contracts of an entity, by contract id, and reports
// those that cannot be read.
func contracts[P, V any](
	p *peers, items []json.RawMessage, entity string, read func(c contract, payload P) (V, error),
) []keyed[V] {
	all := []keyed[V]{}
	for i, raw := range items {
		var c contract
		var payload P
		var v V
		err := json.Unmarshal(raw, &c)
		if err == nil {
			err = c.read(entity, &payload)
		}
		if err == nil && c.ContractID == "" {
			err = errors.New("has no contract id")
		}
		if err == nil {
			v, err = read(c, payload)
		}
		if err != nil {
			p.skip(cmp.Or(c.ContractID, fmt.Sprintf("%s %d", entity, i+1)), err)
			continue
		}
		all = append(all, keyed[V]{c.ContractID, v})
	}
	return all
}

// licence is the content of a validator's licence.
type licence struct {
	licencePayload
	first, last, missed, collected *int64
}

// errPages: a list continues without new items, or for too long.
var errPages = errors.New("the pages of the list do not end")

// licences reads all licences of a Scan, by party; of several for one party, the
// last used one.
func (s *syncRun) licences(ctx context.Context, from scan) (found map[string]licence, err error) {
	found = map[string]licence{}
	after, seen := numeral(""), map[string]bool{}
	for range maxPages {
		q := question{path: fmt.Sprintf("/v0/admin/validator/licenses?limit=%d", maxPage), what: "validators"}
		if after != "" {
			q.path += "&after=" + string(after)
		}
		p, err := ask(ctx, s.peers, from, q, list("validator_licenses"))
		if err != nil {
			return nil, err
		}
		fresh := 0
		for _, l := range contracts(s.peers, p.items, "ValidatorLicense", s.licence) {
			if seen[l.Key] {
				continue
			}
			seen[l.Key] = true
			fresh++
			if l.Value.Kind == "NonOperatorLicense" {
				continue // of a party that runs no validator
			}
			party := l.Value.Validator
			if old, twice := found[party]; !twice || old.older(l.Value) {
				found[party] = l.Value
			}
		}
		next, err := p.next.whole()
		if next == nil && err == nil {
			return found, nil
		}
		if fresh == 0 || err != nil {
			return nil, errPages
		}
		after = p.next
	}
	return nil, errPages
}

func (s *syncRun) licence(c contract, p licencePayload) (licence, error) {
	l := licence{licencePayload: p}
	if p.Validator == "" {
		return l, errors.New("names no validator")
	}
	if p.Faucet == nil {
		return l, nil
	}
	var err [3]error
	l.first, err[0] = p.Faucet.First.Number.whole()
	l.last, err[1] = p.Faucet.Last.Number.whole()
	l.missed, err[2] = p.Faucet.Missed.whole()
	if err := errors.Join(err[:]...); err != nil {
		s.peers.warnOf("rounds of "+p.Validator, err)
	}
	if l.first != nil && l.last != nil && l.missed != nil {
		if n := *l.last - *l.first - *l.missed + 1; n >= 0 { // as counted by the API
			l.collected = &n
		}
	}
	return l, nil
}

func (l licence) older(other licence) bool {
	if l.last != nil && other.last != nil {
		return *l.last < *other.last
	}
	return l.last == nil && other.last != nil
}

// validator is the content of a record.
type validator struct {
	party, name, state string
	data               catalog.Validator
	active             time.Time
}

// validators reads the validators.
func (s *syncRun) validators(ctx context.Context) error {
	skipped := len(s.peers.skipped)
	q := question{path: "/v0/admin/validator/licenses", what: "validators"}
	read, ok := firstOf(ctx, s.peers, q, func(from scan) (map[string]licence, error) {
		found, err := s.licences(ctx, from)
		if errors.Is(err, errPages) {
			s.peers.warnOf("validators of "+from.name, err)
		}
		return found, err
	})
	reports, reported, err := s.reports(ctx)
	if err != nil {
		return err
	}
	all := map[string]*validator{}
	for party, l := range read.value {
		all[party] = s.licensed(party, l)
	}
	s.superValidators(all)
	if ok {
		s.state.Validators = []string{}
		for _, v := range all {
			if v.state == approved {
				s.state.Validators = append(s.state.Validators, v.name)
			}
		}
		slices.Sort(s.state.Validators)
		s.state.ValidatorCount = new(len(s.state.Validators))
	}
	known := ok && reported && s.rules.members != nil
	for _, party := range slices.Sorted(maps.Keys(all)) {
		if err := s.validator(ctx, all[party], reports, known); err != nil {
			return err
		}
	}
	s.sweep(catalog.KindValidator, known && len(s.peers.skipped) == skipped && ctx.Err() == nil)
	return nil
}

// The states of validators.
const (
	approved   = "approved"
	offboarded = catalog.ValidatorOffboarded
)

func (s *syncRun) licensed(party string, l licence) *validator {
	v := &validator{party: party, name: s.nameOf(party), state: approved, active: parseTime(l.LastActiveAt)}
	v.data = catalog.Validator{FirstRound: l.first, LastRound: l.last, MissedCoupons: l.missed,
		CollectedCoupons: l.collected}
	if l.Sponsor != "" {
		v.data.Sponsor = s.nameOf(l.Sponsor)
	}
	if m := l.Metadata; m != nil {
		v.data.Version, v.data.VersionReportedAt = strings.TrimSpace(m.Version), dates.Format(parseTime(m.UpdatedAt))
		if !mailAddress.MatchString(m.Contact) {
			v.data.Contact = strings.TrimSpace(m.Contact)
		}
	}
	return v
}

var mailAddress = regexp.MustCompile(`\S@\S+\.\S`)

// superValidators adds the members in the rules, past and present.
func (s *syncRun) superValidators(all map[string]*validator) {
	for _, m := range s.rules.members {
		v := all[m.Party]
		if v == nil {
			v = &validator{party: m.Party, name: s.nameOf(m.Party)}
			all[m.Party] = v
		}
		v.state, v.data.Super, v.data.Weight = approved, true, m.Weight
	}
	for _, m := range s.rules.offboarded {
		if all[m.Party] == nil {
			all[m.Party] = &validator{party: m.Party, name: s.nameOf(m.Party), state: offboarded}
		}
	}
}

// reports reads the validators' reports of package fleet, by party and by name;
// known is false if they are configured but cannot be read.
func (s *syncRun) reports(ctx context.Context) (by map[string]fleet.Report, known bool, err error) {
	by = map[string]fleet.Report{}
	if s.opts.Fleet == nil {
		return by, true, nil
	}
	all, _, err := fleet.Read(ctx, s.env.HTTP, *s.opts.Fleet, s.out)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil {
		s.out.Warn("fleet", err.Error())
		return by, false, nil
	}
	for _, r := range all {
		by[cmp.Or(r.Party, strings.ToLower(r.Name))] = r
	}
	return by, true, nil
}

// validator puts a validator. While licences, rules or reports cannot be read, a
// known one stays unchanged.
func (s *syncRun) validator(ctx context.Context, v *validator, reports map[string]fleet.Report, known bool) error {
	ref := catalog.Ref{Kind: catalog.KindValidator, Key: v.party}
	if _, remembered := s.known[ref.String()]; remembered && !known {
		s.keep(ref)
		return nil
	}
	r, ok := reports[v.party]
	if !ok {
		r = reports[strings.ToLower(v.name)]
	}
	if r.LastSeen.After(v.active) {
		v.active = r.LastSeen
	}
	if r.Version != "" && (v.data.Version == "" || r.ReportedAt.After(parseTime(v.data.VersionReportedAt))) {
		v.data.Version, v.data.VersionReportedAt = r.Version, dates.Format(r.ReportedAt)
	}
	v.data.Sponsor = cmp.Or(v.data.Sponsor, s.nameOf(r.Sponsor))
	stable := v.data
	if !v.active.IsZero() { // otherwise the age of its figures is unknown
		stable.LastRound, stable.MissedCoupons, stable.CollectedCoupons = nil, nil, nil
	}
	e, err := catalog.Record{
		Kind: ref.Kind, Key: ref.Key, Title: v.name, URL: link(s.opts.Links.Validator, v.party), State: v.state,
		LastActivityAt: v.active, Body: s.describe(v),
	}.With(v.data)
	if err != nil {
		return err
	}
	if v.data.Super {
		e.Record.Tags = []string{catalog.TagSuper}
	}
	return s.put(ctx, e, ingest.Digest(stable, v.name, v.state), v.active)
}

func (s *syncRun) describe(v *validator) string {
	what := "validator"
	if v.data.Super {
		what = "super validator"
	}
	text := fmt.Sprintf("%s is a %s of %s", v.name, what, s.env.Network.Title)
	if v.state == offboarded {
		text = fmt.Sprintf("%s was a super validator of %s and has been offboarded", v.name, s.env.Network.Title)
	}
	if v.data.Sponsor != "" {
		text += ", sponsored by " + v.data.Sponsor
	}
	return text + "."
}
