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
// files and environment variables they name, entries kept by hand, private
// addresses. Servers are asked only with Reach.
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
		connector, err := registry.Connector(src, cfg.Environment)
		if err != nil {
			f.Problems = append(f.Problems, strings.Split(err.Error(), "\n")...) // of which an option may have several
			continue
		}
		if advised, ok := connector.(ingest.Advised); ok {
			f.Advice = advised.Advice(ctx)
		}
		if src.Kind == Sample { // its servers are files, which need no secrets
			continue
		}
		names := namesOf(registry, src)
		for _, name := range names.variables {
			if getenv(name) == "" {
				f.Advice = append(f.Advice, "environment variable "+name+" is not set")
			}
		}
		f.look(ctx, cfg, names, connector)
	}
	return findings
}

// look checks what the options lead to.
func (f *Finding) look(ctx context.Context, cfg CheckConfig, names named, connector ingest.Cursored) {
	if !slices.Contains([]string{"docs", "proposals"}, f.Source.Kind) { // their advice says more
		for _, p := range names.paths {
			f.missing(cfg.Environment, p)
		}
	}
	if f.Source.Kind == "curated" && len(f.Problems) == 0 {
		f.parse(ctx, connector)
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

// mostNamed is how many unreadable entries a finding names.
const mostNamed = 3

// parse reads entries kept by hand as a sync would, and writes none.
func (f *Finding) parse(ctx context.Context, connector ingest.Cursored) {
	out := &unread{}
	if _, err := connector.Sync(ctx, "", out); err != nil {
		f.Problems = append(f.Problems, err.Error())
	}
	f.Problems = append(f.Problems, out.skipped[:min(mostNamed, len(out.skipped))]...)
	if more := len(out.skipped) - mostNamed; more > 0 {
		f.Problems = append(f.Problems, fmt.Sprintf("and %d more entries cannot be read", more))
	}
}

// unread is a Sink that keeps only what could not be read.
type unread struct{ skipped []string }

func (*unread) Put(context.Context, catalog.Entry) error      { return nil }
func (*unread) Events(context.Context, []catalog.Event) error { return nil }
func (*unread) Snapshot(catalog.Snapshot)                     {}
func (*unread) Keep(catalog.Ref)                              {}
func (*unread) Warn(string, string)                           {}
func (*unread) Progress(int, int)                             {}
func (u *unread) Skip(locator string, err error) {
	u.skipped = append(u.skipped, locator+": "+err.Error())
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
	paths     []string // on this machine, or addresses in place of one; none with ${corpus}
	variables []string // of the environment, sorted
	addresses []*url.URL
}

func namesOf(registry ingest.Registry, src network.Source) (n named) {
	registry.Walk(src, func(at options.Field, text string) {
		if u, err := webaddress.Parse(text); err == nil && !strings.ContainsAny(text, "{}") {
			n.addresses = append(n.addresses, u)
		}
		switch {
		case text == "":
		case at.Format == "env":
			n.variables = append(n.variables, text)
		case at.IsPath() && !strings.Contains(text, ingest.CorpusVariable):
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
