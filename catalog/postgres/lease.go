package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

const (
	// term is how long a lease holds. A writer that is stopped or cut off is overtaken
	// when it has ended, and the server ends what it left open then.
	term = 6 * time.Second
	// renewals are how often the holder prolongs it in a term.
	renewals = 3
)

// now is the server's time, which is that of all processes, in microseconds.
const now = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`

// locker says by leases in the database which process is the writer.
type locker struct {
	db     *sql.DB // a connection that no write holds up
	name   string  // of the database, for operators
	holder string  // this locker, among all of all processes
	term   time.Duration
	epoch  atomic.Int64 // of the lease that it had last; 0: never
}

var _ catalog.Locker = (*locker)(nil)

// failure wraps an error with the operation.
func (l *locker) failure(ctx context.Context, op string, err error) error {
	return sqlstore.Failure(ctx, op, err, func(err error) error { return explain(l.name, err) })
}

// fence refuses what an overtaken writer writes, and what others write beside one. The row
// that writers lock is held: nobody takes over between this and the commit.
func (l *locker) fence(tx *sql.Tx) error {
	var current int64
	var live bool
	err := tx.QueryRow(`SELECT epoch, expires_at > `+now+` FROM leases WHERE name = 'writer'`).Scan(&current, &live)
	mine := l.epoch.Load()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case mine != 0 && current != mine:
		return catalog.ErrOvertaken
	case mine == 0 && live:
		return catalog.ErrNotWriter
	}
	return nil
}

// TryLock implements catalog.Locker by a lease, which is prolonged until it is unlocked.
func (l *locker) TryLock(ctx context.Context) (catalog.Lock, error) {
	ok, err := l.take(ctx)
	if err != nil || !ok {
		return nil, l.failure(ctx, "take the lease", err)
	}
	held := &lease{locker: l, epoch: l.epoch.Load(), lost: make(chan struct{}), ended: make(chan struct{})}
	var renewing context.Context
	renewing, held.stop = context.WithCancel(context.WithoutCancel(ctx))
	go held.renew(renewing)
	return held, nil
}

// take makes this store the holder if the lease is free; false: it is not. Epochs are times,
// so that they grow although an older copy of the database was restored.
func (l *locker) take(ctx context.Context) (bool, error) {
	var held bool
	err := l.db.QueryRowContext(ctx, `SELECT COUNT(*) > 0 FROM leases
WHERE name = 'writer' AND holder <> ? AND expires_at > `+now, l.holder).Scan(&held)
	if err != nil || held {
		return false, err
	}
	// What the earlier holder writes is committed or undone before its lease is taken.
	tx, err := begin(ctx, l.db)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	var epoch int64
	err = tx.QueryRowContext(ctx, `INSERT INTO leases (name, holder, epoch, expires_at)
VALUES ('writer', ?, `+now+`, `+now+` + ?)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = GREATEST(leases.epoch + 1, excluded.epoch),
	expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at <= `+now+`
RETURNING epoch`, l.holder, l.term.Microseconds()).Scan(&epoch)
	if errors.Is(err, sql.ErrNoRows) { // somebody was first
		return false, nil
	}
	if err == nil {
		err = tx.Commit()
	}
	if err == nil {
		l.epoch.Store(epoch)
	}
	return err == nil, err
}

// prolong prolongs the lease of an epoch; false: another has it.
func (l *locker) prolong(ctx context.Context, epoch int64) (bool, error) {
	done, err := l.db.ExecContext(ctx, `UPDATE leases SET expires_at = `+now+` + ?
WHERE name = 'writer' AND holder = ? AND epoch = ?`, l.term.Microseconds(), l.holder, epoch)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// give ends the lease of an epoch now.
func (l *locker) give(ctx context.Context, epoch int64) error {
	_, err := l.db.ExecContext(ctx, `UPDATE leases SET expires_at = 0
WHERE name = 'writer' AND holder = ? AND epoch = ?`, l.holder, epoch)
	return err
}

// lease is a lease that is held.
type lease struct {
	locker *locker
	epoch  int64
	stop   func()
	lost   chan struct{}
	ended  chan struct{} // closed when renew has ended
	once   sync.Once
	err    error // of Unlock
}

// Lost implements catalog.Lock.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Epoch implements catalog.Lock.
func (l *lease) Epoch() int64 { return l.epoch }

// renew prolongs the lease until ctx ends. It is lost when another has it, and when no
// answer came for so long that another may soon have it.
func (l *lease) renew(ctx context.Context) {
	defer close(l.ended)
	every := l.locker.term / renewals
	tick := time.NewTicker(every)
	defer tick.Stop()
	for good := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		asking, cancel := context.WithTimeout(ctx, every)
		mine, err := l.locker.prolong(asking, l.epoch)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && mine:
			good = asked
		case err == nil, time.Since(good) > l.locker.term-every:
			close(l.lost)
			return
		}
	}
}

// Unlock implements catalog.Lock.
func (l *lease) Unlock() error {
	l.once.Do(func() {
		l.stop()
		<-l.ended
		ctx, cancel := context.WithTimeout(context.Background(), l.locker.term)
		defer cancel()
		l.err = l.locker.failure(ctx, "give up the lease", l.locker.give(ctx, l.epoch))
	})
	return l.err
}

// Attend implements catalog.Locker.
func (l *locker) Attend(ctx context.Context, generation int64) error {
	_, err := l.db.ExecContext(ctx, `INSERT INTO readers (id, generation, seen_at) VALUES (?, ?, `+now+`)
ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, seen_at = excluded.seen_at`, l.holder, generation)
	return l.failure(ctx, "attend", err)
}

// Elsewhere implements catalog.Locker. What was not seen for a term is gone, and forgotten.
func (l *locker) Elsewhere(ctx context.Context, generation int64) (n int, err error) {
	_, err = l.db.ExecContext(ctx, `DELETE FROM readers WHERE seen_at < `+now+` - ?`, l.term.Microseconds())
	if err == nil {
		err = l.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM readers WHERE generation <> ? AND id <> ?`,
			generation, l.holder).Scan(&n)
	}
	return n, l.failure(ctx, "count readers", err)
}

// holderName identifies a store in the table of leases.
func holderName() string { return fmt.Sprint("almanac ", rand.Text()) }
