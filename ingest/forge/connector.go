package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/ingest"
)

// relist is how often a source is read from the beginning, to find deletions.
const relist = 7 * 24 * time.Hour

type connector struct {
	opts settings
	env  ingest.Environment
}

// Kind is the kind of sources that network files call forge.
var Kind = ingest.Kind[settings, state]{
	Name: "forge",
	Summary: "Reads a code forge with GitHub's REST API and GraphQL v4: github.com itself or a GitHub " +
		"Enterprise Server.",
	Example: `kind: forge
every: 1h
options:
  api: https://api.forge.example.org   # default: GitHub's; Enterprise: https://HOST/api/v3
  token_env: FORGE_TOKEN               # environment variable that holds a token
  repositories: [causeway/node, causeway/wallet, causeway/proposals, causeway/grants]  # owner/name of each
  proposals: [causeway/proposals]      # its pull requests are drafts of proposals, for a source of the other kind
  grants: causeway/grants              # its pull requests are grant proposals, likewise
  bots: [causeway-ci]                  # ordinary accounts used by programs
`,
	Open: func(s settings, env ingest.Environment) (ingest.Connector[state], error) {
		return &connector{s, env}, nil
	},
}

// state is how far a source was read.
type state struct {
	Token bool `json:"token"` // whether it was read with one
	// Listed is when the last reading from the beginning started.
	Listed       time.Time        `json:"listed"`
	Repositories map[string]marks `json:"repositories"`
	// First is the repository at which the rate limit was used up. The next run
	// begins there, so that a small limit reaches all of them in turn.
	First string `json:"first,omitempty"`
}

// marks are the times of the newest items seen.
type marks struct {
	Issues      time.Time `json:"issues,omitzero"` // and pull requests
	Comments    time.Time `json:"comments,omitzero"`
	Reviews     time.Time `json:"reviews,omitzero"` // comments in code reviews
	Discussions time.Time `json:"discussions,omitzero"`
}

// start returns where to go on, or the state for reading from the beginning.
func (c *connector) start(known state, token bool) (at state, whole bool) {
	now := c.env.Now().UTC().Truncate(time.Second)
	if known.Listed.IsZero() || known.Token != token || now.Sub(known.Listed) >= relist || known.Listed.After(now) {
		return state{Token: token, Listed: now, Repositories: map[string]marks{}}, true
	}
	known.Repositories = maps.Clone(known.Repositories)
	return known, false
}

// Sync implements ingest.Connector.
func (c *connector) Sync(ctx context.Context, known state, out ingest.Sink) (state, ingest.Outcome, error) {
	api := newClient(c.opts.access, c.env, out.Warn)
	at, whole := c.start(known, api.token != "")
	r := &run{reading: reading{client: api, out: &sink{Sink: out}}, opts: c.opts, complete: whole && !api.missing}
	repositories := c.opts.Repositories
	if i := slices.Index(repositories, at.First); i > 0 {
		repositories = slices.Concat(repositories[i:], repositories[:i])
	}
	at.First = ""
	var failed []error
	for i, name := range repositories {
		r.name, r.marks = name, at.Repositories[name]
		err := r.repository(ctx)
		at.Repositories[name] = r.marks
		if err != nil {
			if err := r.fatal(ctx, err); err != nil {
				return state{}, ingest.Outcome{}, err
			}
			r.complete = false
			if limit, ok := errors.AsType[*limitError](err); ok {
				out.Warn(name, limit.Error()+"; the next run continues from here"+advice(api.token))
				at.First = name
				break
			}
			out.Skip(name, err)
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		out.Progress(i+1, len(repositories))
	}
	if len(failed) == len(repositories) {
		return state{}, ingest.Outcome{}, fmt.Errorf("no repository could be read: %w", errors.Join(failed...))
	}
	maps.DeleteFunc(at.Repositories, func(_ string, m marks) bool { return m == marks{} })
	api.cache.prune()
	return at, ingest.Outcome{Complete: r.complete}, nil
}

func advice(token string) string {
	if token != "" {
		return ""
	}
	return "; with a token (option token_env) the limit is much higher"
}

// reading is the common part of a run of either connector.
type reading struct {
	*client
	out *sink
}

// sink remembers the error of a sink, which ends the run, unlike those of the forge.
type sink struct {
	ingest.Sink
	broken error
}

func (s *sink) Put(ctx context.Context, e catalog.Entry) error {
	s.broken = s.Sink.Put(ctx, e)
	return s.broken
}

func (s *sink) Events(ctx context.Context, events []catalog.Event) error {
	s.broken = s.Sink.Events(ctx, events)
	return s.broken
}

// put puts a record. Encoding its data cannot fail: all of it was decoded from
// JSON.
func (r reading) put(ctx context.Context, e catalog.Entry, data any) (err error) {
	if e.Record.Data, err = catalog.Encode(data); err != nil {
		return err
	}
	return r.out.Put(ctx, e)
}

// fatal returns the error of the run after a failure, nil if the failure affects
// only one repository.
func (r reading) fatal(ctx context.Context, err error) error {
	if broken := cmp.Or(r.out.broken, ctx.Err()); broken != nil {
		return broken
	}
	if errors.Is(err, errToken) {
		return fmt.Errorf("%w; check the variable that token_env names", err)
	}
	return nil
}

// run is one reading of the repositories.
type run struct {
	reading
	opts     settings
	complete bool // everything that exists was seen

	name  string // of the repository being read
	marks marks
	info  repository
}

// repository reads one repository. A part that fails does not stop the others;
// the next run reads it from its mark.
func (r *run) repository(ctx context.Context) error {
	if err := r.about(ctx); err != nil {
		return err
	}
	var errs []error
	for _, part := range []func(context.Context) error{r.conversations, r.releases, r.discussions} {
		err := part(ctx)
		if _, limited := errors.AsType[*limitError](err); limited || err != nil && r.fatal(ctx, err) != nil {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// conversations reads issues, pull requests and their comments: parents before their
// children.
func (r *run) conversations(ctx context.Context) error {
	for _, list := range []func(context.Context) error{r.issues, r.comments, r.reviews} {
		if err := list(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bad reports an item that cannot be read. If its key cannot be read either, its
// record may still exist, so this run does not know what is gone.
func (r *run) bad(key string, err error) {
	if key == "" {
		key = r.name + ": an item"
		r.complete = false
	}
	r.out.Skip(key, err)
}
