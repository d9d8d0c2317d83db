package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"almanac/catalog/sqlstore"
)

// openSealed opens a catalog that this process may only read, with the schema that this
// program has.
func openSealed(ctx context.Context, path string, cfg Config) (*sqlstore.Store, error) {
	db := pooled(sealed{path}, readers)
	s := sqlstore.New(sqlstore.Config{
		Reader: db, Reads: readers, Writer: db, Now: cfg.Now, View: sql.TxOptions{ReadOnly: true},
		Begin:   func(context.Context, *sql.DB) (*sql.Tx, error) { return nil, &fileError{cfg.Sealed} },
		IDs:     `SELECT value FROM json_each(?)`,
		Ping:    func(ctx context.Context) error { return ping(ctx, cfg, path) },
		Whole:   func(ctx context.Context) error { return Check(ctx, cfg) },
		Explain: func(err error) error { return explainSealed(path, err) },
	})
	has, err := version(ctx, db, path)
	if newest := Newest(); err == nil && has != newest {
		err = &fileError{fmt.Errorf("%s has schema %d, this program reads %d, and the file cannot be updated: %w",
			path, has, newest, cfg.Sealed)}
	}
	if err != nil {
		return nil, errors.Join(sqlstore.Failure(ctx, "open", err, s.Explain), s.Close())
	}
	return s, nil
}

// explainSealed is explain for a file that is only read.
func explainSealed(path string, err error) error {
	switch code(err) & 0xff {
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM, lib.SQLITE_AUTH:
		return &fileError{fmt.Errorf("%s cannot be read; check the permissions of the file, of those beside it that begin "+
			"with its name, and of its directory: %w", path, err)}
	}
	return explain(path, err)
}

// sealed connects to a file beside which this process can make none. Where another
// process has made the write-ahead log and the index of it, SQLite reads and locks
// these as ever. Without them it reads only what it may take for immutable; since that
// holds until somebody writes, such a connection is given up as soon as the files are
// other ones.
type sealed struct{ path string }

// Connect implements driver.Connector.
func (c sealed) Connect(ctx context.Context) (driver.Conn, error) {
	seen, err := filesOf(c.path)
	if err != nil {
		return nil, err
	}
	immutable := seen.unlogged()
	parameters := []string{"mode=ro", pragma("busy_timeout(10000)"), pragma("query_only(1)"), pragma("cache_size(-8192)")}
	switch {
	case immutable:
		parameters = append(parameters, "immutable=1")
	case seen.logIndex == nil:
		return nil, &fileError{fmt.Errorf("what was written last lies in %s-wal, which only those who may write beside it "+
			"can read: whoever owns the directory has to run any command of almanac once", c.path)}
	}
	connector, err := connect(c.path, parameters...)
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil || !immutable {
		return conn, err
	}
	return &immutableConn{conn.(driverConn), seen}, nil
}

// Driver implements driver.Connector.
func (c sealed) Driver() driver.Driver { return new(sqlite.Driver) }

// immutableConn takes the file for one that nobody writes.
type immutableConn struct {
	driverConn
	seen files
}

// ResetSession implements driver.SessionResetter: it is called before each use.
func (c *immutableConn) ResetSession(ctx context.Context) error {
	if now, err := filesOf(c.seen.path); err != nil || !now.same(c.seen) {
		return driver.ErrBadConn
	}
	return c.driverConn.ResetSession(ctx)
}

// files are those of a catalog; nil: there is none.
type files struct {
	path                   string
	catalog, log, logIndex os.FileInfo
}

func filesOf(path string) (f files, err error) {
	f.path = path
	for suffix, info := range map[string]*os.FileInfo{"": &f.catalog, "-wal": &f.log, "-shm": &f.logIndex} {
		at, statErr := os.Stat(path + suffix)
		switch {
		case statErr == nil:
			*info = at
		case suffix == "" || !errors.Is(statErr, os.ErrNotExist):
			err = statErr
		}
	}
	return f, err
}

// unlogged reports whether the catalog's own file holds everything, and nobody has it
// open to write.
func (f files) unlogged() bool { return f.log == nil || f.log.Size() == 0 && f.logIndex == nil }

// same reports whether nothing was written since before, when they were unlogged.
func (f files) same(before files) bool {
	return f.unlogged() && os.SameFile(f.catalog, before.catalog) && f.catalog.Size() == before.catalog.Size() &&
		f.catalog.ModTime().Equal(before.catalog.ModTime())
}
