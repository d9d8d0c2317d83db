package forge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
)

// rules is the version of how this package reads a forge. After a change every
// source is read again.
const rules = "3"

// relist is how often a source is read from the beginning, to find deletions.
const relist = 7 * 24 * time.Hour

var errNoWorkDir = errors.New("forge: a working directory is needed for cached responses")

type connector struct {
	opts options
	env  ingest.Environment
}

// Kind is the kind of sources that network files call forge.
var Kind = ingest.Described{
	Name: "forge",
	Summary: "Reads a code forge with GitHub's REST API and GraphQL v4: github.com itself or a GitHub " +
		"Enterprise Server.",
	Constructor: New,
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
}

// New makes the connector of a source; it is the Constructor of kind "forge".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	opts, err := readOptions(src)
	if err != nil {
		return nil, err
	}
	if env.WorkDir == "" {
		return nil, errNoWorkDir
	}
	return &connector{opts, env}, nil
}

// cursor is how far a source was read.
type cursor struct {
	Rules string `json:"rules"` // and options: after a change everything is read again
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

func (c *connector) digest(token bool) string {
	opts := c.opts
	opts.TokenEnv = ""
	data, _ := json.Marshal([]any{rules, opts, token}) // plain data
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// start parses the cursor, or makes one for reading from the beginning.
func (c *connector) start(stored string, token bool) (at cursor, whole bool) {
	now, digest := c.env.Now().UTC().Truncate(time.Second), c.digest(token)
	err := json.Unmarshal([]byte(stored), &at)
	if err != nil || at.Rules != digest || now.Sub(at.Listed) >= relist || at.Listed.After(now) {
		return cursor{Rules: digest, Listed: now, Repositories: map[string]marks{}}, true
	}
	if at.Repositories == nil {
		at.Repositories = map[string]marks{}
	}
	return at, false
}

// Sync implements ingest.Cursored.
func (c *connector) Sync(ctx context.Context, stored string, out ingest.Sink) (ingest.Outcome, error) {
	api := newClient(c.opts.access(), c.env, out.Warn)
	at, whole := c.start(stored, api.token != "")
	r := &run{reading: reading{client: api, out: sink{out}}, opts: c.opts, complete: whole && !api.missing}
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
				return ingest.Outcome{}, err
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
		return ingest.Outcome{}, fmt.Errorf("forge: no repository could be read: %w", errors.Join(failed...))
	}
	maps.DeleteFunc(at.Repositories, func(_ string, m marks) bool { return m == marks{} })
	next, err := json.Marshal(at)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("forge: cursor: %w", err)
	}
	api.cache.prune()
	return ingest.Outcome{Cursor: string(next), Complete: r.complete}, nil
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
	out ingest.Sink
}

// sink tells the errors of a sink, which are returned unchanged, from those of the
// forge.
type sink struct{ ingest.Sink }

func (s sink) Put(ctx context.Context, e catalog.Entry) error { return ofSink(s.Sink.Put(ctx, e)) }

func (s sink) Events(ctx context.Context, events []catalog.Event) error {
	return ofSink(s.Sink.Events(ctx, events))
}

type sinkError struct{ error }

func (e sinkError) Unwrap() error { return e.error }

func ofSink(err error) error {
	if err != nil {
		err = sinkError{err}
	}
	return err
}

// put puts a record. Encoding its data cannot fail: all of it was decoded from
// JSON.
func (r reading) put(ctx context.Context, e catalog.Entry, data any) error {
	if data != nil {
		raw, err := catalog.Encode(data)
		if err != nil {
			return err
		}
		e.Record.Data = raw
	}
	return r.out.Put(ctx, e)
}

// fatal returns the error of the run after a failure, nil if the failure affects
// only one repository.
func (r reading) fatal(ctx context.Context, err error) error {
	if sink, ok := errors.AsType[sinkError](err); ok {
		return sink.error
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errToken) {
		return fmt.Errorf("forge: %w; check the variable that token_env names", err)
	}
	return nil
}

// run is one reading of the repositories.
type run struct {
	reading
	opts     options
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
