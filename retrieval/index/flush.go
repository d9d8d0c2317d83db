package index

import (
	"context"
	"errors"
	"time"
)

// When engines are flushed: after a quiet time, from time to time while there is
// none, so that a crash loses little of a long first sync, and again after one that
// failed.
const (
	flushQuiet = 2 * time.Second
	flushBusy  = 30 * time.Second
	flushAgain = 10 * time.Second
)

// tryFlush makes the feed's engines durable, unless that failed just now.
func (f *Follower) tryFlush(ctx context.Context, fd *feed) {
	if fd.failed && time.Since(fd.flushed) < flushAgain {
		return
	}
	err := f.flush(ctx, fd)
	if err != nil && ctx.Err() == nil {
		f.cfg.Log.Error("flush", "engine", fd.name, "error", err)
	}
	fd.failed, fd.dirty, fd.flushed = err != nil, err != nil, time.Now()
}

// flush makes the feed's engines durable.
func (f *Follower) flush(ctx context.Context, fd *feed) error {
	if f.cfg.ReadOnly {
		return nil
	}
	var errs []error
	if fd.keyword != nil {
		errs = append(errs, fd.keyword.Flush(ctx))
	}
	if fd.vector != nil {
		errs = append(errs, fd.vector.Flush(ctx))
	}
	return errors.Join(errs...)
}
