package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
)

// maxStatements is the maximum number of prepared statements of a connection.
// Lists of values of other lengths are other statements.
const maxStatements = 128

// preparing makes connections that keep their statements prepared: parsing one
// takes SQLite longer than answering it from memory. Limits are written LIMIT +?,
// since SQLite reads a bare parameter there when it plans, and plans anew with
// every value bound to it.
type preparing struct{ driver.Connector }

func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{driverConn: c.(driverConn), prepared: map[string]*statement{}}, nil
}

// driverConn is what package sql uses of the driver's connections.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// connection is used by one goroutine at a time, as package sql promises.
type connection struct {
	driverConn
	prepared map[string]*statement
}

type statement struct {
	driver.Stmt
	busy bool // its rows are being read
}

// QueryContext implements driver.QueryerContext.
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.driverConn.QueryContext(ctx, query, args)
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &result{rows, s}, nil
}

// ExecContext implements driver.ExecerContext.
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 { // several statements, or one that is used once
		return c.driverConn.ExecContext(ctx, query, args)
	}
	s, err := c.statement(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.driverConn.ExecContext(ctx, query, args)
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// statement returns the prepared statement of a query; nil: it is being read, or too
// many others are.
func (c *connection) statement(ctx context.Context, query string) (*statement, error) {
	s := c.prepared[query]
	switch {
	case s != nil && s.busy, s == nil && len(c.prepared) >= maxStatements && !c.forgetOne():
		return nil, nil
	case s != nil:
		return s, nil
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s = &statement{Stmt: prepared}
	c.prepared[query] = s
	return s, nil
}

// forgetOne closes any idle statement; false: there is none.
func (c *connection) forgetOne() bool {
	for query, s := range c.prepared {
		if !s.busy {
			delete(c.prepared, query)
			return s.Close() == nil
		}
	}
	return false
}

// Close implements driver.Conn.
func (c *connection) Close() error {
	var errs []error
	for _, s := range c.prepared {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.driverConn.Close())...)
}

// result are the rows of a prepared statement, which is idle again when they
// are closed.
type result struct {
	driver.Rows
	statement *statement
}

// Close implements driver.Rows.
func (r *result) Close() error {
	r.statement.busy = false
	return r.Rows.Close()
}
