package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/curated"
	"almanac/ingest/fleet"
	"almanac/ingest/listing"
	"almanac/ingest/memory"
)

// rules is the version of how this package reads a response. After a change
// everything is written again.
const rules = "1"

type options struct {
	Environment  string              `yaml:"environment"`
	Scans        []string            `yaml:"scans"`
	Environments map[string][]string `yaml:"environments"`
	Links        links               `yaml:"links"`
	Names        map[string]string   `yaml:"names"`
	Liveness     time.Duration       `yaml:"liveness"`
	Fleet        *fleet.Options      `yaml:"fleet"`
	Curated      string              `yaml:"curated" format:"path"`
}

type links struct {
	VoteRequest string `yaml:"vote_request"`
	Validator   string `yaml:"validator"`
	App         string `yaml:"app"`
}

type connector struct {
	opts options
	env  ingest.Environment
}

// Kind is the kind of sources that network files call ledger.
var Kind = ingest.Described{
	Name: "ledger",
	Summary: "Reads the state and the governance of a ledger network from its Scan API: the read-only HTTP " +
		"API of the Splice applications, which every super validator serves.",
	Constructor: New,
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
}

// New makes the connector of a source; it is the Constructor of kind "ledger".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	o := options{Liveness: 6 * time.Hour, Curated: curated.DefaultDir}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if env.WorkDir == "" {
		return nil, errors.New("ledger: a working directory is needed for the state of records")
	}
	return &connector{o, env}, nil
}

func (o options) check() error {
	if o.Environment == "" {
		return errors.New("option environment: want the network's name for the environment to read, such as mainnet")
	}
	if _, twice := o.Environments[o.Environment]; twice {
		return fmt.Errorf("option environments: %s is already the option environment", o.Environment)
	}
	if err := checkScans("scans", o.Scans); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Environments)) {
		if err := checkScans("environments: "+name, o.Environments[name]); err != nil {
			return err
		}
	}
	for _, template := range []string{o.Links.VoteRequest, o.Links.Validator, o.Links.App} {
		if template != "" && (!isAddress(template) || !strings.Contains(template, "{id}")) {
			return errors.New("option links: want addresses with {id} for the key, such as " +
				"https://explorer.example.org/party/{id}")
		}
	}
	if o.Liveness < 0 {
		return fmt.Errorf("option liveness: %s; want a time such as 6h", o.Liveness)
	}
	if o.Fleet != nil {
		if err := o.Fleet.Check(); err != nil {
			return fmt.Errorf("option fleet: %w", err)
		}
	}
	return nil
}

func checkScans(option string, bases []string) error {
	if len(bases) == 0 {
		return fmt.Errorf("option %s: want the bases of Scans, such as [https://scan.example.org/api/scan]", option)
	}
	seen := map[string]bool{}
	for _, base := range bases {
		if base = strings.TrimRight(base, "/"); !isAddress(base) || seen[base] {
			return fmt.Errorf("option %s: one of them is not a web address, or is a duplicate; "+
				"want bases such as https://scan.example.org/api/scan", option)
		}
		seen[base] = true
	}
	return nil
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

func link(template, key string) string {
	return strings.ReplaceAll(template, "{id}", url.PathEscape(key))
}

// Sync implements ingest.Cursored. The cursor names the file with the state of
// the records.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	s := &syncRun{
		connector: c, out: out, known: listing.Recall(c.env.WorkDir, cursor, memory.Settings(rules, c.opts)),
		peers: newPeers(c, out, c.opts.Environment, c.opts.Scans),
	}
	s.now = listing.Memory{Settings: s.known.Settings, State: listing.State{Items: map[string]listing.Seen{}}}
	if err := s.read(ctx); err != nil {
		return ingest.Outcome{}, fmt.Errorf("ledger: %w", err)
	}
	cursor, err := s.now.Remember(c.env.WorkDir, cursor)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("ledger: %w", err)
	}
	return ingest.Outcome{Cursor: cursor, Gone: s.gone}, nil
}

// syncRun is one reading of the ledger.
type syncRun struct {
	*connector
	*peers
	out        ingest.Sink
	known, now listing.Memory
	state      catalog.NetworkState
	rules      networkRules
	gone       []catalog.Ref
}

func (s *syncRun) read(ctx context.Context) error {
	s.state = catalog.NetworkState{SequencerCount: s.sequencers(ctx)}
	var deployed catalog.Deployment
	s.rules, deployed = s.deployment(ctx)
	s.state.Deployments = []catalog.Deployment{deployed}
	s.state.VotingThreshold, s.state.LatestRound = s.rules.threshold, s.round(ctx)
	if s.rules.members != nil {
		n := len(s.rules.members)
		s.state.SuperValidators = &n
	}
	for i, step := range []func(context.Context) error{s.votes, s.apps, s.validators, s.others} {
		if err := step(ctx); err != nil {
			return err
		}
		s.out.Progress(i+1, 4)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.failed(); err != nil {
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
		p := newPeers(s.connector, s.out, name, s.opts.Environments[name])
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
	if old, ok := s.known.Items[ref.String()]; ok && old.Stamp == stamp && at.Sub(old.Date) <= s.opts.Liveness {
		s.keep(ref)
		return nil
	}
	s.now.Items[ref.String()] = listing.Seen{Key: ref.Key, Stamp: stamp, Date: at}
	return s.out.Put(ctx, e)
}

// keep keeps a known record unchanged.
func (s *syncRun) keep(ref catalog.Ref) {
	s.now.Items[ref.String()] = s.known.Items[ref.String()]
	s.out.Keep(ref)
}

// sweep ends the reading of a kind: known records that were not seen are gone if
// the reading was complete, and kept otherwise.
func (s *syncRun) sweep(kind catalog.Kind, complete bool) {
	for _, name := range slices.Sorted(maps.Keys(s.known.Items)) {
		ref := catalog.Ref{Kind: kind, Key: s.known.Items[name].Key}
		if ref.String() != name {
			continue
		}
		if _, met := s.now.Items[name]; met {
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
