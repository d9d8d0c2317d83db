package catalog

import "errors"

// ErrDamaged: the file does not hold what was written to it. Only an operator mends that.
var ErrDamaged = errors.New("the catalog is damaged")

// Failure is what a store returns when it could not do what it was asked: the fault is the
// catalog's, not that of whoever needed it.
type Failure struct {
	Op  string // what it was asked for
	Err error
}

func (f *Failure) Error() string { return "catalog: " + f.Op + ": " + f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Failed reports whether an error is a store's.
func Failed(err error) bool {
	_, ok := errors.AsType[*Failure](err)
	return ok
}

// Public says in the words of /ready why a store does not answer.
func Public(err error) string {
	switch {
	case errors.Is(err, ErrUnreachable):
		return "does not answer"
	case errors.Is(err, ErrDamaged):
		return "is damaged"
	}
	return "cannot be read"
}
