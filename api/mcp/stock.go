package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"almanac/api/op"
	"almanac/catalog"
)

// stock are the kinds of records that there are; none: every kind may come.
type stock []catalog.Kind

func (s *Server) stock(ctx context.Context) stock {
	if s.cfg.Kinds == nil {
		return nil
	}
	return s.cfg.Kinds(ctx)
}

// has reports whether there is something that an operation answers from.
func (s stock) has(o op.Operation) bool {
	return len(s) == 0 || len(o.Kinds) == 0 ||
		slices.ContainsFunc(o.Kinds, func(k catalog.Kind) bool { return slices.Contains(s, k) })
}

// key names the stock.
func (s stock) key() string { return fmt.Sprint([]catalog.Kind(s)) }

// keepList is how long clients may keep the list of tools.
func (s *Server) keepList() time.Duration {
	if s.cfg.Kinds == nil {
		return keepFixed
	}
	return keepSnapshot
}
