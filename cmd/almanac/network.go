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

// openStack opens the data directory of the configured network.
func (a *app) openStack(ctx context.Context, profiles ...string) (*stack, network.Network, error) {
	n, dir, err := a.open()
	if err != nil {
		return nil, n, err
	}
	s, err := openStack(ctx, a.stackConfig(n, dir, profiles...))
	return s, n, err
}

func (a *app) stackConfig(n network.Network, dir string, profiles ...string) stackConfig {
	return stackConfig{dir: dir, network: n.Name, authority: n.Authority, aliases: n.Aliases, profile: a.config.profile(), profiles: profiles,
		deadline: a.config.Search.Deadline, keyword: a.config.Keyword, vector: a.config.Vector, embed: a.config.Embed, rerank: a.config.Rerank, log: a.log}
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
