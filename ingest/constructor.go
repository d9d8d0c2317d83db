package ingest

import (
	"almanac/catalog/network"
)

// Constructor makes the connectors of a kind that decorates those of others, and so
// has no fixed options. It accesses nothing before Sync.
type Constructor func(src network.Source, env Environment) (Cursored, error)

func (c Constructor) open(src network.Source, env Environment) (Cursored, error) { return c(src, env) }

func (c Constructor) about() about { return about{} }
