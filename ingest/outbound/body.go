package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// body is a response body that fails when it grows too large or stalls. Closing
// it frees the host's slot.
type body struct {
	ctx     context.Context // of the exchange
	from    io.ReadCloser   // nil until the header has arrived
	limit   int64           // maximum bytes
	left    int64           // remaining bytes
	idle    time.Duration
	reading time.Duration // time spent in reads
	timer   *time.Timer   // cancels the exchange
	cancel  context.CancelCauseFunc
	release func()
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.tooLarge()
	}
	b.timer.Reset(b.idle)
	defer b.timer.Stop() // the caller may pause between reads
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	start := time.Now()
	n, err := b.from.Read(p)
	b.reading += time.Since(start)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.tooLarge()
	}
	if err == nil && b.reading > b.idle && float64(b.limit-b.left) < MinRate*b.reading.Seconds() {
		return n, fmt.Errorf("%w: its rate is less than %d bytes per second", ErrTimeout, MinRate)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = broken(b.ctx, err)
	}
	return n, err
}

func (b *body) tooLarge() error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, b.limit) }

func (b *body) Close() error {
	b.timer.Stop()
	var err error
	if b.from != nil {
		err = b.from.Close()
	}
	b.cancel(nil)
	b.release()
	return err
}
