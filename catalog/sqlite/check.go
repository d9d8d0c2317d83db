package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Check reads the whole file and looks for damage of its structure
// (PRAGMA quick_check). It takes about a second per gigabyte, and readers and
// writers go on meanwhile. Changed bytes within a text are not noticed.
func Check(ctx context.Context, path string) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	db, err := pool(path, 1, pragma("query_only(1)"), pragma("busy_timeout(10000)"))
	if err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	err = db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("catalog: check: %w", ctx.Err())
	case err != nil:
		return fmt.Errorf("catalog: check: %w", explain(path, err))
	case found != "ok":
		return fmt.Errorf("catalog: check: %s is damaged (%s); move it away to start again, or put a copy in its place",
			path, strings.Join(strings.Fields(found), " "))
	}
	return nil
}
