package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"almanac/catalog"
)

// explain turns errors about the file itself into a sentence for the operator.
func explain(path string, err error) error {
	if known := (*fileError)(nil); errors.As(err, &known) {
		return err
	}
	var text string
	switch kind(err) {
	case lib.SQLITE_NOTADB:
		text = "%s is not a SQLite database or is damaged; move it away to start again, or put a copy in its place"
	case lib.SQLITE_CORRUPT:
		text = "%s is damaged; move it away to start again, or put a copy in its place"
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM, lib.SQLITE_AUTH:
		text = "%s cannot be opened for writing; check the permissions of the file and its directory"
	case lib.SQLITE_FULL:
		text = "the disk of %s is full"
	case lib.SQLITE_BUSY:
		text = "%s stayed locked by another process"
	default:
		return err
	}
	return &fileError{fmt.Errorf(text+": %w", path, err)}
}

// fileError is a failure that a retry does not fix.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// Is lets damage be catalog.ErrDamaged too.
func (e *fileError) Is(target error) bool {
	k := kind(e.err)
	return target == catalog.ErrDamaged && (k == lib.SQLITE_NOTADB || k == lib.SQLITE_CORRUPT)
}

// kind returns which kind of SQLite's errors an error is, 0 for other errors.
func kind(err error) int {
	if code(err) == lib.SQLITE_IOERR_SHORT_READ { // the file ends before a page that it should have
		return lib.SQLITE_CORRUPT
	}
	return code(err) & 0xff
}

// code returns the SQLite result code of an error, 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func busy(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}
