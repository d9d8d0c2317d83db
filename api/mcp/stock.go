package mcp

import (
	"context"
	"fmt"
	"time"

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

// key names the stock.
func (s stock) key() string { return fmt.Sprint([]catalog.Kind(s)) }

// keepList is how long clients may keep the list of tools.
func (s *Server) keepList() time.Duration {
	if s.cfg.Kinds == nil {
		return keepFixed
	}
	return keepSnapshot
}
