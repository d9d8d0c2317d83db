package packages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
)

// Kind is the kind of sources that network files call packages.
var Kind = ingest.Kind[settings, state]{
	Name: "packages",
	Summary: "Reads the published versions of packages from registries: those that speak npm's protocol and " +
		"those of container images (OCI distribution).",
	Example: `sources:
  - name: packages
    kind: packages
    every: 6h
    options:
      npm: ["@causeway/sdk", causeway-cli]      # packages of an npm registry
      images: [registry.example.org/causeway/node, causeway/wallet]  # of containers, with or without a host
      versions: 50                              # newest releases of each that are kept; default 50
      prereleases: 10                           # newest prereleases of each; default 10
      npm_page: https://packages.example.org/{name}/v/{version}   # page of a version for people
      image_page: https://registry.example.org/{name}:{version}   # the same of an image; default none
      npm_registry: https://npm.example.org     # overrides npm's configuration
      image_registry: https://registry.example.org   # for images without a host; default Docker Hub
      tokens:                                   # variables with credentials, by host of the registry
        npm.example.org: NPM_TOKEN              # a bearer token, or user:password
`,
	Defaults: settings{Versions: 50, Prereleases: 10},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[state], error) {
		return connector{s, env}, nil
	},
}

type connector struct {
	opts settings
	env  ingest.Environment
}

// state is what a run remembers for the next one, by registry:name.
type state struct {
	Packages map[string]seen `json:"packages"`
}

// seen is what is remembered about a package.
type seen struct {
	Keys     []string `json:"keys"` // keys of its records
	ETag     string   `json:"etag,omitempty"`
	Modified string   `json:"modified,omitempty"`

	List   string            `json:"list,omitempty"`   // digest of an image's tags
	Swept  time.Time         `json:"swept,omitzero"`   // when the tags were last resolved
	Tags   map[string]string `json:"tags,omitempty"`   // tag → digest
	Images map[string]image  `json:"images,omitempty"` // by digest
}

// run is one pass over all packages.
type run struct {
	opts   settings
	env    ingest.Environment
	out    ingest.Sink
	broken error          // of out
	hosts  outbound.Hosts // may reach the registries that images and npm's configuration name
	npmrc  npmrc
	warned map[string]bool // variables that are not set
}

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, known state, out ingest.Sink) (state, ingest.Outcome, error) {
	r := &run{opts: c.opts, env: c.env, out: out, hosts: outbound.Hosts{Client: c.env.HTTP}, warned: map[string]bool{}}
	if len(c.opts.NPM) > 0 {
		var err error
		if r.npmrc, err = thisMachine(c.env.Files).npm(); err != nil {
			return state{}, ingest.Outcome{}, err
		}
	}
	now, whole := state{map[string]seen{}}, true
	var failed []error
	work := r.work()
	for i, w := range work {
		old, met := known.Packages[w.name]
		s, err := w.read(ctx, w.of, old)
		if stop := cmp.Or(r.broken, ctx.Err()); stop != nil {
			return state{}, ingest.Outcome{}, stop
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.name, err))
			out.Skip(w.name, err)
			r.keep(old)
			whole = whole && met // if not met, its records are unknown
			s = old
		}
		if err == nil || met {
			now.Packages[w.name] = s
		}
		out.Progress(i+1, len(work))
	}
	if len(failed) == len(work) {
		return state{}, ingest.Outcome{}, fmt.Errorf("none of %d could be read: %w", len(work), failed[0])
	}
	return now, ingest.Outcome{Complete: whole}, nil
}

// item is a package to read.
type item struct {
	name, of string // with the registry as prefix, and without
	read     func(ctx context.Context, name string, old seen) (seen, error)
}

func (r *run) work() []item {
	var all []item
	for _, name := range r.opts.NPM {
		all = append(all, item{registryNPM + ":" + name, name, r.npm})
	}
	for _, name := range r.opts.Images {
		all = append(all, item{registryOCI + ":" + name, name, r.image})
	}
	return all
}

// put puts an entry. An error ends the run, not only its package.
func (r *run) put(ctx context.Context, e catalog.Entry) error {
	r.broken = r.out.Put(ctx, e)
	return r.broken
}

// keep keeps a package's records as the previous run saw them.
func (r *run) keep(s seen) {
	for _, key := range s.Keys {
		r.out.Keep(catalog.Ref{Kind: catalog.KindPackageVersion, Key: key})
	}
}

// token returns the credentials of a host from option tokens, "" if there are
// none.
func (r *run) token(host string) string {
	credentials := r.credentials(host)
	switch {
	case credentials == "":
		return ""
	case strings.Contains(credentials, ":"):
		return basicAuth(credentials)
	}
	return "Bearer " + credentials
}

func (r *run) credentials(host string) string {
	name := r.opts.Tokens[host]
	if name == "" {
		return ""
	}
	value := r.env.Secret(name)
	if value == "" && !r.warned[name] {
		r.warned[name] = true
		r.out.Warn("option tokens", fmt.Sprintf("the environment variable %s is not set; querying %s without it", name,
			host))
	}
	return value
}

// ask queries a registry, unless it is down. Its error says what can be done about it.
func (r *run) ask(ctx context.Context, request outbound.Request) (outbound.Response, error) {
	resp, err := r.hosts.Do(ctx, request)
	switch status := outbound.StatusOf(err); {
	case outbound.BlameOf(err) == outbound.Gone:
		err = fmt.Errorf("the registry does not have it, or denies access: %w", err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		err = fmt.Errorf("the registry requires other credentials; set them in option tokens or, for npm, in its "+
			"configuration: %w", err)
	}
	return resp, err
}
