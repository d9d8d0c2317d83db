package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// pool returns connections to a database, which keep their statements prepared.
func pool(to *pgx.ConnConfig, size int) *sql.DB {
	db := sql.OpenDB(numbering{stdlib.GetConnector(*to.Copy())})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db
}

// numbering makes connections that take statements with a ? for every value.
type numbering struct{ driver.Connector }

func (n numbering) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := n.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return connection{c.(*stdlib.Conn)}, nil
}

type connection struct{ *stdlib.Conn }

// QueryContext implements driver.QueryerContext.
func (c connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, numbered(query), args)
}

// ExecContext implements driver.ExecerContext.
func (c connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(ctx, numbered(query), args)
}

// known are the statements that were numbered, which are as many as the program has and
// those of lists of other lengths.
var known sync.Map // string → string

// numbered returns a statement with $1, $2 … for its parameters. As in SQLite, ?2 is the
// second, ? the one after the highest before it. The + of LIMIT +?, which SQLite needs, has
// no type here.
func numbered(query string) string {
	if n, ok := known.Load(query); ok {
		return n.(string)
	}
	var b strings.Builder
	highest, quoted := 0, false
	for rest := strings.ReplaceAll(query, "LIMIT +?", "LIMIT ?"); rest != ""; {
		ch := rest[0]
		rest = rest[1:]
		quoted = quoted != (ch == '\'')
		if ch != '?' || quoted {
			b.WriteByte(ch)
			continue
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil {
			n = highest + 1
		}
		highest, rest = max(highest, n), rest[digits:]
		b.WriteString("$" + strconv.Itoa(n))
	}
	known.Store(query, b.String())
	return b.String()
}
