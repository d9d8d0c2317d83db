package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/text/dates"
)

// networkRules are what is known of the network's rules.
type networkRules struct {
	threshold  *int
	round      *int64
	members    []member // by name; nil unknown
	offboarded []member
	packages   map[string]string
	upgrade    *catalog.Upgrade
}

type member struct {
	Party, Name string
	Weight      *int64
}

// readRules decodes /v0/dso. The data of an unexpected contract stays nil.
func (p *peers) readRules(raw []byte) (networkRules, error) {
	w, err := object[wireDSO](raw)
	if err != nil {
		return networkRules{}, err
	}
	d := networkRules{threshold: w.VotingThreshold}
	var r roundPayload
	if err := w.LatestRound.Contract.read("OpenMiningRound", &r); err != nil {
		p.warnOf("latest_mining_round", err)
	} else if d.round, err = r.Round.Number.whole(); err != nil {
		p.warnOf("latest_mining_round", err)
	}
	var rules rulesPayload
	if err := w.DSORules.Contract.read("DsoRules", &rules); err != nil {
		p.warnOf("dso_rules", err)
	} else {
		d.members, d.offboarded = p.members(rules.SVs), p.members(rules.Offboarded)
		d.upgrade = p.upgrade(rules)
	}
	var amulet amuletPayload
	if err := w.AmuletRules.Contract.read("AmuletRules", &amulet); err != nil {
		p.warnOf("amulet_rules", err)
	} else {
		d.packages = amulet.packages(p.env.Now())
	}
	if d.threshold == nil && d.round == nil && d.members == nil && d.packages == nil {
		return d, errors.New("it has neither threshold nor rules")
	}
	return d, nil
}

func (p *peers) warnOf(field string, err error) { p.out.Warn(p.environment+" "+field, err.Error()) }

func (p *peers) members(list pairs[wireMember]) []member {
	all := []member{}
	for _, e := range list {
		m := member{Party: e.Key, Name: cmp.Or(e.Value.Name, e.Key)}
		var err error
		if m.Weight, err = e.Value.Weight.whole(); err != nil {
			p.warnOf("weight of "+m.Name, err)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Party, b.Party))
	})
	return all
}

func (p *peers) upgrade(rules rulesPayload) *catalog.Upgrade {
	next := rules.Config.Next
	if next == nil || parseTime(next.Time).IsZero() {
		return nil
	}
	id, err := next.MigrationID.whole()
	if err != nil {
		p.warnOf("nextScheduledSynchronizerUpgrade", err)
	}
	return &catalog.Upgrade{At: dates.Format(parseTime(next.Time)), MigrationID: asInt(id)}
}

// packages returns the packages' current versions: those of the newest
// configuration that is in effect.
func (a amuletPayload) packages(now time.Time) map[string]string {
	found, since := a.ConfigSchedule.Initial.Packages, time.Time{}
	for _, f := range a.ConfigSchedule.Future {
		if at := parseTime(f.From); at.After(since) && !at.After(now) && f.Config.Packages != nil {
			found, since = f.Config.Packages, at
		}
	}
	return found
}

func asInt(n *int64) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// field returns one field of every answer.
func field[T, F any](answers []answer[T], of func(T) F) []answer[F] {
	var all []answer[F]
	for _, a := range answers {
		all = append(all, answer[F]{a.scan, of(a.value)})
	}
	return all
}

// deployment reads the rules of an environment and its deployment.
func (p *peers) deployment(ctx context.Context) (networkRules, catalog.Deployment) {
	says := poll(ctx, p, question{path: "/v0/dso", what: "threshold, members, round and packages"}, p.readRules)
	var d networkRules
	d.threshold = majority(p, "voting_threshold", field(says, func(d networkRules) *int { return d.threshold }))
	d.members = majority(p, "super validators", field(says, func(d networkRules) []member { return d.members }))
	d.offboarded = majority(p, "offboarded super validators",
		field(says, func(d networkRules) []member { return d.offboarded }))
	d.packages = majority(p, "packages", field(says, func(d networkRules) map[string]string { return d.packages }))
	d.upgrade = majority(p, "scheduled upgrade", field(says, func(d networkRules) *catalog.Upgrade { return d.upgrade }))
	d.round = reached(field(says, func(d networkRules) *int64 { return d.round }))

	version := majority(p, "version", poll(ctx, p, question{path: "/version", what: "version"},
		func(raw []byte) (string, error) {
			v, err := object[struct {
				Version string `json:"version"`
			}](raw)
			if err == nil && v.Version == "" {
				err = errors.New("it has no version")
			}
			return v.Version, err
		}))
	if next := p.lsu(ctx); next != nil {
		d.upgrade = next
	}
	return d, catalog.Deployment{
		Environment: p.environment, Version: version, MigrationID: p.migration(ctx),
		MinimumOf: maps.Clone(d.packages), Upgrade: d.upgrade,
	}
}

// lsu reads the upgrade that newer versions schedule for physical
// synchronizers.
func (p *peers) lsu(ctx context.Context) *catalog.Upgrade {
	q := question{path: "/v0/lsu", what: "the scheduled upgrade", optional: true}
	return majority(p, "scheduled upgrade of the synchronizer",
		poll(ctx, p, q, func(raw []byte) (*catalog.Upgrade, error) {
			v, err := object[struct {
				LSU *struct {
					Freeze    string `json:"topologyFreezeTime"`
					At        string `json:"upgradeTime"`
					Successor string `json:"successorPhysicalSynchronizerId"`
				} `json:"lsu"`
			}](raw)
			if err != nil || v.LSU == nil || parseTime(v.LSU.At).IsZero() {
				return nil, err
			}
			return &catalog.Upgrade{
				At: dates.Format(parseTime(v.LSU.At)), FreezeAt: dates.Format(parseTime(v.LSU.Freeze)), Successor: v.LSU.Successor,
			}, nil
		}))
}

// migration reads the id of the last migration: older versions have it only in
// their list of sequencers.
func (p *peers) migration(ctx context.Context) *int {
	q := question{path: "/v0/migrations/last", what: "migration id", optional: true}
	id := majority(p, "migration id", poll(ctx, p, q, func(raw []byte) (*int, error) {
		v, err := object[struct {
			ID *int `json:"migration_id"`
		}](raw)
		return v.ID, err
	}))
	if id != nil {
		return id
	}
	q = question{path: "/v0/dso-sequencers", what: "migration id"}
	return majority(p, "migration id", poll(ctx, p, q, func(raw []byte) (*int, error) {
		w, err := object[wireSequencers](raw)
		var last *int
		for _, d := range w.Domains {
			for _, s := range d.Sequencers { // -1 means none
				if s.MigrationID != nil && *s.MigrationID >= 0 && (last == nil || *s.MigrationID > *last) {
					last = s.MigrationID
				}
			}
		}
		return last, err
	}))
}

// sequencers counts the operators of sequencers: during a migration each lists
// two.
func (p *peers) sequencers(ctx context.Context) *int {
	q := question{path: "/v0/dso-sequencers", what: "sequencers"}
	operators := majority(p, "sequencers", poll(ctx, p, q, func(raw []byte) ([]string, error) {
		w, err := object[wireSequencers](raw)
		if err == nil && w.Domains == nil {
			err = errors.New(`it has no list "domainSequencers"`)
		}
		all := []string{}
		for _, d := range w.Domains {
			for _, s := range d.Sequencers {
				all = append(all, cmp.Or(s.Operator, s.ID))
			}
		}
		slices.Sort(all)
		return slices.Compact(all), err
	}))
	if operators == nil {
		return nil
	}
	return new(len(operators))
}

// reached returns the last round that most of the Scans have.
func reached(says []answer[*int64]) *int64 {
	var rounds []int64
	for _, a := range says {
		if a.value != nil {
			rounds = append(rounds, *a.value)
		}
	}
	if rounds == nil {
		return nil
	}
	slices.SortFunc(rounds, func(a, b int64) int { return cmp.Compare(b, a) })
	return &rounds[len(rounds)/2]
}

// round returns the latest mining round: from the rules, or from the rounds
// themselves.
func (s *syncRun) round(ctx context.Context) *int64 {
	if s.rules.round != nil {
		return s.rules.round
	}
	q := question{path: "/v0/open-and-issuing-mining-rounds", what: "the latest round", body: map[string][]string{
		"cached_open_mining_round_contract_ids": {}, "cached_issuing_round_contract_ids": {},
	}}
	return reached(poll(ctx, s.peers, q, func(raw []byte) (*int64, error) {
		w, err := object[struct {
			Open map[string]contractState `json:"open_mining_rounds"`
		}](raw)
		var last *int64
		for id, c := range w.Open {
			var r roundPayload
			if err := c.Contract.read("OpenMiningRound", &r); err != nil {
				s.peers.skip("open mining round "+id, err)
				continue
			}
			if n, err := r.Round.Number.whole(); err != nil {
				s.peers.skip("open mining round "+id, err)
			} else if n != nil && (last == nil || *n > *last) {
				last = n
			}
		}
		return last, err
	}))
}

// rewards are the rewards of a round that is closed and aggregated.
type rewards struct {
	round int64
	at    time.Time
	apps  map[string]numeral // by provider, cumulative
}

// rewards reads the cumulative rewards into the state, and those of the
// providers; ok is false if the API does not have them (any more).
func (s *syncRun) rewards(ctx context.Context) (r rewards, ok bool) {
	q := question{path: "/v0/round-of-latest-data", what: "rewards"}
	type effective struct {
		Round *int64 `json:"round"`
		At    string `json:"effectiveAt"`
	}
	latest, ok := firstOf(ctx, s.peers, q, func(from scan) (effective, error) {
		return ask(ctx, s.peers, from, q, object[effective])
	})
	if !ok || latest.value.Round == nil {
		return r, false
	}
	r = rewards{round: *latest.value.Round, at: parseTime(latest.value.At), apps: map[string]numeral{}}
	type total struct {
		Apps       numeral `json:"cumulative_app_rewards"`
		Validators numeral `json:"cumulative_validator_rewards"`
	}
	// Scans aggregate at their own pace, so the one that named the round is used.
	q = question{
		path: "/v0/round-totals", what: "total rewards",
		body: map[string]int64{"start_round": r.round, "end_round": r.round},
	}
	totals, err := ask(ctx, s.peers, latest.scan, q, func(raw []byte) (total, error) {
		w, err := object[struct {
			Entries []total `json:"entries"`
		}](raw)
		if err != nil || len(w.Entries) == 0 {
			return total{}, err // or the round has no entry yet
		}
		return w.Entries[len(w.Entries)-1], nil
	})
	switch {
	case lacksEndpoint(err):
		s.peers.warnAbsent(q)
	case err == nil && totals.Apps+totals.Validators != "":
		var odd [2]error
		s.state.AppRewards, s.state.AppRewardsExact, odd[0] = totals.Apps.decimal()
		s.state.ValidatorRewards, s.state.ValidatorRewardsExact, odd[1] = totals.Validators.decimal()
		s.state.RewardsRound = &r.round
		if err := errors.Join(odd[:]...); err != nil {
			s.peers.warnOf("cumulative rewards", err)
		}
	}
	q = question{
		path: fmt.Sprintf("/v0/top-providers-by-app-rewards?round=%d&limit=%d", r.round, maxPage),
		what: "rewards of apps",
	}
	type provider struct {
		Provider string  `json:"provider"`
		Rewards  numeral `json:"rewards"`
	}
	top, err := ask(ctx, s.peers, latest.scan, q, func(raw []byte) ([]provider, error) {
		w, err := object[struct {
			List []provider `json:"providersAndRewards"`
		}](raw)
		return w.List, err
	})
	if lacksEndpoint(err) {
		s.peers.warnAbsent(q)
	}
	for _, p := range top {
		r.apps[p.Provider] = p.Rewards
	}
	return r, err == nil
}
