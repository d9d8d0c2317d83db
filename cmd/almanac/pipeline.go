package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/ingest/outbound"
)

// pipeline makes the pipeline of a network.
func (a *app) pipeline(
	ctx context.Context, n network.Network, store *sqlstore.Store, dir string, progress ingest.Progress, acceptShrink bool,
) (*ingest.Pipeline, error) {
	anchor, err := a.sampleAnchor(ctx, n, store, now())
	if err != nil {
		return nil, err
	}
	files, err := networks.Folder(a.config.Network.Name)
	if err != nil {
		return nil, err
	}
	return ingest.New(ingest.Config{
		Store: store, Network: n, Files: files, Connectors: connectors.All(anchor), Now: now, Log: a.log,
		Progress: progress, HTTP: a.outgoing(), WorkDir: workDirs(dir),
		CorpusDir: a.corpusDir(),
		// What comes with the program is whole, also if a newer one has less of it.
		AcceptShrink: acceptShrink || isSample(n),
	}), nil
}

// corpusDir is the directory of the configuration, "" = none; relative to the working
// directory and not, as paths of a network file are, to that file.
func (a *app) corpusDir() string {
	dir := a.config.Network.CorpusDir
	if dir == "" {
		return ""
	}
	if full, err := filepath.Abs(dir); err == nil {
		return full
	}
	return dir
}

// outgoing makes the HTTP client of sources.
func (a *app) outgoing() *outbound.Client {
	allow, _ := a.config.Allowed() // checked with the configuration
	return outbound.New(outbound.Config{Allow: allow})
}

// checkCorpus reports problems at the start that a sync would find later.
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

// needsCorpus reports whether an option of a source refers to the corpus
// directory.
func needsCorpus(sources []network.Source) bool {
	return slices.ContainsFunc(sources, func(src network.Source) bool {
		return strings.Contains(fmt.Sprint(src.Options), "${corpus}")
	})
}

// workDirs is the folder of a data directory with one for each source.
func workDirs(dir string) string { return filepath.Join(dir, "sources") }
