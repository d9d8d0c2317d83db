package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/networks"
	"almanac/ingest/proposals"
	"almanac/ingest/sample"
	"almanac/ingest/snapshot"
)

// connectors are the kinds of sources that a network file can name. anchor is
// the day that the dates of a fictional network hang on.
func connectors(anchor time.Time) ingest.Registry {
	return ingest.Registry{
		"snapshot":  snapshot.Open,
		"proposals": proposals.New,
		sampleKind:  sample.Connector(anchor),
	}
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
	return stackConfig{dir: dir, network: n.Name, authority: n.Authority, aliases: n.Aliases, profile: a.config.Search.Profile, profiles: profiles,
		deadline: a.config.Search.Deadline, log: a.log}
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
