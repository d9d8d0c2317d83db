package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest/networks"
	"almanac/ingest/outbound"
	"almanac/retrieval/profile"
	"almanac/retrieval/stack"
)

// outgoing makes the client that sources ask servers with.
func (a *app) outgoing() *outbound.Client {
	allow, _ := a.config.allowed() // checked with the configuration
	return outbound.New(outbound.Config{Allow: allow})
}

// allowed are the private networks that sources may be on.
func (c Config) allowed() ([]netip.Prefix, error) {
	var allow []netip.Prefix
	for _, s := range c.Sync.Allow {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q is no network such as 10.0.0.0/8 or ::1/128", s)
		}
		allow = append(allow, p)
	}
	return allow, nil
}

// open loads the network and makes its data directory.
func (a *app) open() (n network.Network, dir string, err error) {
	if n, err = networks.Load(a.config.Network.Name); err != nil {
		return n, "", err
	}
	dir, err = dataDir(a.config.Data.Dir, n.Name, a.environ)
	return n, dir, err
}

// checkCorpus says at once what a sync would only find out later.
func (a *app) checkCorpus(n network.Network) error {
	dir := a.config.Network.CorpusDir
	if !needsCorpus(n.Sources) {
		return nil
	}
	if dir == "" {
		return fmt.Errorf("network %s reads a directory: set ALMANAC_CORPUS to it", n.Name)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("corpus directory %s: %w", dir, reason(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("corpus directory %s is a file", dir)
	}
	return nil
}

// openLibrary opens the data directory of the configured network.
func (a *app) openLibrary(ctx context.Context, profiles ...profile.Profile) (*library, error) {
	n, dir, err := a.open()
	if err != nil {
		return nil, err
	}
	cfg, err := a.stackConfig(n, dir, profiles...)
	if err != nil {
		return nil, err
	}
	return openLibrary(ctx, n, cfg, stack.Open)
}

// stackConfig is the configuration of the index of a directory, without its
// catalog: searches that name no profile use the configured one.
func (a *app) stackConfig(n network.Network, dir string, profiles ...profile.Profile) (stack.Config, error) {
	standard, err := profile.Load(a.config.profile())
	if err != nil {
		return stack.Config{}, err
	}
	standard.Name = profile.DefaultName
	return stack.Config{
		Dir: dir, Profiles: append([]profile.Profile{standard}, profiles...), Authority: n.Authority, Aliases: n.Aliases,
		Keyword: stack.Keyword(a.config.Keyword), Vector: stack.Vector(a.config.Vector),
		Embed: stack.Embed(a.config.Embed), Rerank: stack.Rerank(a.config.Rerank),
		Deadline: a.config.Search.Deadline, Log: a.log,
	}, nil
}

// needsCorpus reports whether an option of a source stands below the corpus
// directory.
func needsCorpus(sources []network.Source) bool {
	for _, src := range sources {
		if strings.Contains(fmt.Sprint(src.Options), "${corpus}") {
			return true
		}
	}
	return false
}
