package connectors

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/options"
	"almanac/text/webaddress"
)

// CheckConfig says what Check looks at.
type CheckConfig struct {
	Environment ingest.Environment
	Allow       []netip.Prefix // private networks that may be called
	Reach       bool           // whether servers are asked
	// Read says what would be read of sources that are on this machine.
	Read bool
}

// Finding is what Check found out about a source.
type Finding struct {
	Source network.Source
	// Problems are why it cannot be read, or not all of it.
	Problems []string
	// Advice is what may not be meant.
	Advice []string
}

// Check looks at every source of a network without syncing it: its options, the
// files and environment variables they name, private addresses, with Read also the
// content of files. Servers are asked only with Reach.
func Check(ctx context.Context, cfg CheckConfig) []Finding {
	registry := All(cfg.Environment.Now())
	getenv := cfg.Environment.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	// A missing secret does not make the file invalid.
	cfg.Environment.Getenv = func(name string) string { return cmp.Or(getenv(name), "https://secret.invalid/") }
	findings := make([]Finding, len(cfg.Environment.Network.Sources))
	for i, src := range cfg.Environment.Network.Sources {
		f := &findings[i]
		f.Source = src
		env := cfg.Environment
		env.WorkDir, env.Survey = filepath.Join(env.WorkDir, strconv.Itoa(i)), true
		connector, err := registry.Connector(src, env)
		if err != nil {
			f.Problems = append(f.Problems, strings.Split(err.Error(), "\n")...) // of which an option may have several
			continue
		}
		if advised, ok := connector.(ingest.Advised); ok {
			f.Advice = advised.Advice(ctx)
		}
		if src.Kind == Sample { // what it reads comes with the program
			continue
		}
		names := namesOf(registry, src, env.CorpusDir)
		for _, name := range names.variables {
			if getenv(name) == "" {
				f.Advice = append(f.Advice, "environment variable "+name+" is not set")
			}
		}
		f.look(ctx, cfg, names)
		if cfg.Read && names.here() && len(f.Problems) == 0 {
			if err := os.MkdirAll(env.WorkDir, 0o700); err != nil {
				f.Problems = append(f.Problems, err.Error())
				continue
			}
			f.read(ctx, connector)
		}
	}
	return findings
}

// look checks what the options lead to.
func (f *Finding) look(ctx context.Context, cfg CheckConfig, names named) {
	for _, p := range names.paths {
		f.missing(cfg.Environment, p)
	}
	for _, u := range names.addresses {
		if host, private := privateHost(u, cfg.Allow); private {
			f.Problems = append(f.Problems, fmt.Sprintf("%s is on a private network, which is refused: "+
				"name the network in the setting sync.allow (ALMANAC_SYNC_ALLOW)", host))
			continue
		}
		if cfg.Reach {
			f.reach(ctx, cfg.Environment.HTTP, u, slices.Contains(names.paths, u.String()))
		}
	}
}

// missing reports a path where nothing is. Patterns are not looked at.
func (f *Finding) missing(env ingest.Environment, name string) {
	if strings.Contains(name, "://") || strings.ContainsAny(name, "*?[{") {
		return
	}
	files, at := env.Place(name)
	if _, err := fs.Stat(files, filepath.ToSlash(at)); err != nil {
		f.Problems = append(f.Problems, fmt.Sprintf("%s does not exist (relative paths are beside the network file)", name))
	}
}

// read reads a source as a sync would, writes nothing, and says what is left out.
// Entries kept by hand are to be corrected.
func (f *Finding) read(ctx context.Context, connector ingest.Connector[[]byte]) {
	out := &counted{}
	_, _, err := connector.Sync(ctx, nil, out)
	reasons := ingest.Reasons(out.skipped, len(out.skipped))
	switch {
	case err != nil:
		f.Problems = append(f.Problems, err.Error())
	case out.records == 0:
		f.Problems = append(f.Problems, strings.TrimSuffix(catalog.NoRecords+"; "+reasons, "; "))
	case reasons != "" && f.Source.Kind == "curated":
		f.Problems = append(f.Problems, reasons)
	case reasons != "":
		f.Advice = append(f.Advice, fmt.Sprintf("%d records, %d skipped: %s", out.records, len(out.skipped), reasons))
	}
}

// counted is a Sink that only counts what is read and knows what is not.
type counted struct {
	records int
	skipped []ingest.Problem
}

func (*counted) Begin([]byte) error                            { return nil }
func (c *counted) Put(context.Context, catalog.Entry) error    { c.records++; return nil }
func (*counted) Events(context.Context, []catalog.Event) error { return nil }
func (c *counted) Snapshot(catalog.Snapshot)                   { c.records++ }
func (*counted) Keep(catalog.Ref)                              {}
func (*counted) Warn(string, string)                           {}
func (*counted) Progress(int, int)                             {}
func (c *counted) Skip(locator string, err error) {
	c.skipped = append(c.skipped, ingest.Problem{Locator: locator, Message: err.Error(), Skipped: true})
}

// patience is how long one server may take to answer.
const patience = 10 * time.Second

// reach asks an address for its first bytes; a repository as git would.
func (f *Finding) reach(ctx context.Context, client *outbound.Client, u *url.URL, repository bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	to := *u
	if repository {
		to.Path = strings.TrimSuffix(to.Path, "/") + "/info/refs"
		to.RawQuery = "service=git-upload-pack"
	}
	body, _, err := client.Open(ctx, outbound.Request{URL: to.String()})
	if err == nil {
		err = body.Close()
	}
	if err != nil {
		f.Problems = append(f.Problems, fmt.Sprintf("%s does not answer: %v", u.Host, err))
	}
}

// named are what the options of a source name.
type named struct {
	paths     []string // on this machine, or addresses in place of one
	corpus    bool     // some are in the corpus, which is large
	variables []string // of the environment, sorted
	addresses []*url.URL
}

// here reports whether all of a source is on this machine, and small.
func (n named) here() bool {
	return len(n.paths) > 0 && len(n.addresses) == 0 && !n.corpus &&
		!slices.ContainsFunc(n.paths, func(p string) bool { return strings.Contains(p, "://") })
}

// namesOf leaves paths of the corpus out where there is none.
func namesOf(registry ingest.Registry, src network.Source, corpus string) (n named) {
	_, err := os.Stat(corpus)
	registry.Walk(src, func(at options.Field, text string) {
		if u, bad := webaddress.Parse(text); bad == nil && !strings.ContainsAny(text, "{}") {
			n.addresses = append(n.addresses, u)
		}
		switch {
		case text == "":
		case at.Format == "env":
			n.variables = append(n.variables, text)
		case at.IsPath() && strings.Contains(text, ingest.CorpusVariable):
			if n.corpus = true; err == nil {
				n.paths = append(n.paths, strings.ReplaceAll(text, ingest.CorpusVariable, corpus))
			}
		case at.IsPath():
			n.paths = append(n.paths, text)
		}
	})
	slices.SortFunc(n.addresses, func(a, b *url.URL) int { return strings.Compare(a.String(), b.String()) })
	slices.Sort(n.variables)
	n.variables = slices.Compact(n.variables)
	return n
}

// privateHost reports whether an address is on a private network that may not be
// called. Names but localhost are not resolved.
func privateHost(u *url.URL, allow []netip.Prefix) (host string, private bool) {
	host = u.Hostname()
	name := host
	if name == "localhost" {
		name = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return host, false
	}
	addr = addr.Unmap()
	inside := addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
	return host, inside && !slices.ContainsFunc(allow, func(p netip.Prefix) bool { return p.Contains(addr) })
}
