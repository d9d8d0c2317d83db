package postgres

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"almanac/catalog"
)

// explain turns what the operator solves into a sentence. Codes are those of
// PostgreSQL's documentation, appendix A.
func explain(name string, err error) error {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fmt.Errorf("%s cannot be opened: %s: %w", name, reason(err), catalog.ErrUnreachable)
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok && lost(err):
		return fmt.Errorf("%s was cut off: %w: %w", name, err, catalog.ErrUnreachable)
	case !ok:
		return err
	case strings.HasPrefix(e.Code, "57P"):
		return fmt.Errorf("%s is being stopped or started: %w: %w", name, err, catalog.ErrUnreachable)
	}
	var text string
	switch {
	case e.Code == "53100":
		text = "the disk of %s is full"
	case e.Code == "55P03":
		text = "%s stayed locked by another process"
	case e.Code == "25006":
		text = "%s takes no writes: it is a standby or read-only; name the primary in catalog.url"
	case e.Code == "42501":
		text = "the user of catalog.url may not write to %s: make it the owner of its schema"
	case e.Code == "53300":
		text = "%s has no connection left: raise max_connections"
	default:
		return err
	}
	return fmt.Errorf(text+": %w", name, err)
}

// lost reports whether a connection broke.
func lost(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// reason is why a connection failed, without the user's name. There is an error of each
// address and way to connect; the first is enough.
func reason(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Message
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Error()
	}
	first, _, _ := strings.Cut(errors.Unwrap(err).Error(), "\n")
	return first
}
