package ledger

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/curated"
	"almanac/ingest/fleet"
	"almanac/text/options"
)

// Kind is the kind of sources that network files call ledger.
var Kind = ingest.Kind[settings, ingest.Items]{
	Name: "ledger",
	Summary: "Reads the state and the governance of a ledger network from its Scan API: the read-only HTTP " +
		"API of the Splice applications, which every super validator serves.",
	Example: `sources:
  - name: ledger
    kind: ledger
    every: 15m
    freshness: 1h
    options:
      environment: mainnet          # the network's name for the environment to read
      scans:                        # bases of its Scans; two or more are compared with each other
        - https://scan.one.example.org/api/scan
        - https://scan.two.example.org/api/scan
        - https://scan.three.example.org/api/scan
      environments:                 # others, of which only the deployment is read
        testnet: [https://scan.test.example.org/api/scan]
      links:                        # pages of an explorer; {id} is the record's key
        vote_request: https://explorer.example.org/governance/{id}  # of votes; default none
        validator: https://explorer.example.org/party/{id}          # of validators; default none
        app: https://explorer.example.org/apps/{id}                 # of applications; default none
      names:                        # of parties whose party id has no readable name
        "a1b2c3::1220ab…": Foghorn Labs
      liveness: 6h                  # how old activity and rewards in records may get; default 6h
      fleet:                        # version reports, as a source of kind fleet reads them; default none
        urls: [https://status.example.org/validators.json]  # of the reports, JSON or CSV
        items: data.validators      # path of the list in JSON; default the document
        columns:                    # names of its columns; these are the defaults
          party: party              # party id
          name: name                # name, where there is no party
          version: version          # version that it runs
          reported_at: reported_at  # when it reported the version
          last_seen: last_seen      # when it was seen alive
          sponsor: sponsor          # party or name of its sponsor
      curated: curated              # folder with the file apps, which describes applications; default curated
`,
	Defaults: settings{Liveness: 6 * time.Hour, Curated: curated.DefaultDir},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[ingest.Items], error) {
		return connector{s, env}, nil
	},
}

type settings struct {
	Environment  string              `yaml:"environment" required:"true"`
	Scans        []string            `yaml:"scans" required:"true" format:"base" unique:"true"`
	Environments map[string][]string `yaml:"environments" format:"base" unique:"true"`
	Links        links               `yaml:"links"`
	Names        map[string]string   `yaml:"names"`
	Liveness     time.Duration       `yaml:"liveness"`
	Fleet        *fleet.Options      `yaml:"fleet"`
	Curated      string              `yaml:"curated" format:"file"`
}

// Check checks the names of environments.
func (s *settings) Check() error {
	for name, scans := range s.Environments {
		switch {
		case name == s.Environment:
			return options.Errorf("environments", "%s is already the option environment", name)
		case len(scans) == 0:
			return options.Errorf("environments."+name, "want the bases of Scans")
		}
	}
	return nil
}

type links struct {
	VoteRequest string `yaml:"vote_request" format:"address"`
	Validator   string `yaml:"validator" format:"address"`
	App         string `yaml:"app" format:"address"`
}

// Check checks that the pages are of one record each.
func (l *links) Check() error {
	for _, template := range []string{l.VoteRequest, l.Validator, l.App} {
		if template != "" && !strings.Contains(template, "{id}") {
			return errors.New("want addresses with {id} for the key, such as https://explorer.example.org/party/{id}")
		}
	}
	return nil
}

func link(template, key string) string {
	return strings.ReplaceAll(template, "{id}", url.PathEscape(key))
}

type connector struct {
	opts settings
	env  ingest.Environment
}

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, known ingest.Items, out ingest.Sink) (ingest.Items, ingest.Outcome, error) {
	s := &syncRun{
		opts: c.opts, env: c.env, peers: newPeers(c.env, out, c.opts.Environment, c.opts.Scans), out: out,
		known: known.Items, now: map[string]ingest.Seen{},
	}
	err := s.read(ctx)
	return ingest.Items{Items: s.now}, ingest.Outcome{Gone: s.gone}, err
}

// syncRun is one reading of the ledger.
type syncRun struct {
	opts       settings
	env        ingest.Environment
	peers      *peers
	out        ingest.Sink
	known, now map[string]ingest.Seen
	state      catalog.NetworkState
	rules      networkRules
	gone       []catalog.Ref
}

func (s *syncRun) read(ctx context.Context) error {
	s.state = catalog.NetworkState{SequencerCount: s.peers.sequencers(ctx)}
	var deployed catalog.Deployment
	s.rules, deployed = s.peers.deployment(ctx)
	s.state.Deployments = []catalog.Deployment{deployed}
	s.state.VotingThreshold, s.state.LatestRound = s.rules.threshold, s.round(ctx)
	if s.rules.members != nil {
		s.state.SuperValidators = new(len(s.rules.members))
	}
	for i, step := range []func(context.Context) error{s.votes, s.apps, s.validators, s.others} {
		if err := step(ctx); err != nil {
			return err
		}
		s.out.Progress(i+1, 4)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.peers.failed(); err != nil {
			return err
		}
	}
	s.state.Source = s.peers.source
	data, err := catalog.Encode(s.state)
	if err != nil {
		return err
	}
	s.out.Snapshot(catalog.Snapshot{Series: catalog.SeriesNetwork, CapturedAt: s.env.Now(), Data: data})
	return nil
}

// others reads the deployments of the other environments.
func (s *syncRun) others(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(s.opts.Environments)) {
		p := newPeers(s.env, s.out, name, s.opts.Environments[name])
		_, deployed := p.deployment(ctx)
		if err := p.failed(); err != nil {
			s.out.Warn(name, err.Error())
		}
		s.state.Deployments = append(s.state.Deployments, deployed)
	}
	return nil
}

// put puts an entry unless the catalog has the same: stamp is a digest of its
// essential part, at the time of the rest. With the same stamp it is kept until
// at is later than the written time by the option liveness.
func (s *syncRun) put(ctx context.Context, e catalog.Entry, stamp string, at time.Time) error {
	ref := e.Record.Ref()
	if old, ok := s.known[ref.String()]; ok && old.Stamp == stamp && at.Sub(old.Date) <= s.opts.Liveness {
		s.keep(ref)
		return nil
	}
	s.now[ref.String()] = ingest.Seen{Key: ref.Key, Stamp: stamp, Date: at}
	return s.out.Put(ctx, e)
}

// keep keeps a known record unchanged.
func (s *syncRun) keep(ref catalog.Ref) {
	s.now[ref.String()] = s.known[ref.String()]
	s.out.Keep(ref)
}

// sweep ends the reading of a kind: known records that were not seen are gone if
// the reading was complete, and kept otherwise.
func (s *syncRun) sweep(kind catalog.Kind, complete bool) {
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		ref := catalog.Ref{Kind: kind, Key: s.known[name].Key}
		if ref.String() != name {
			continue
		}
		if _, met := s.now[name]; met {
			continue
		}
		if complete {
			s.gone = append(s.gone, ref)
		} else {
			s.keep(ref)
		}
	}
}

// nameOf returns the name of a party.
func (s *syncRun) nameOf(party string) string {
	if name := s.opts.Names[party]; name != "" {
		return name
	}
	for _, m := range slices.Concat(s.rules.members, s.rules.offboarded) {
		if m.Party == party {
			return m.Name
		}
	}
	return fleet.PartyName(party)
}
