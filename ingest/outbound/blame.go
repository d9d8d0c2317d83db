package outbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"almanac/text/webaddress"
)

// Blame says whose fault a failed request is.
type Blame uint8

// Who is to blame.
const (
	Nobody Blame = iota // it did not fail, or the run ended
	Item                // the server answers, but has this for nobody, not for us, or not in a form that is read
	Gone                // the server answers that it does not exist
	Busy                // the server asks for fewer requests
	Server              // the server does not answer, or not as it should
)

// BlameOf says whose fault the failure of a request is.
func BlameOf(err error) Blame {
	status, answered := errors.AsType[*StatusError](err)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return Nobody
	case answered && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
		return Gone
	case answered && status.Status == http.StatusTooManyRequests:
		return Busy
	case answered && status.Status < http.StatusInternalServerError,
		errors.Is(err, ErrRefused), errors.Is(err, ErrTooLarge), errors.Is(err, ErrContentType):
		return Item
	}
	return Server
}

// ErrDown: a host failed too often and is left to the next run.
var ErrDown = errors.New("is left to the next run")

// After maxFailed failures in a row a host gets no further requests, and after maxDown
// such hosts nobody does: whoever writes one item chooses its host.
const (
	maxFailed = 5
	maxDown   = 20
)

// Hosts makes the requests of one run, but none to a host that is down. It is for
// one goroutine.
type Hosts struct {
	Client *Client

	failed map[string]int   // failures in a row, by host
	down   map[string]error // why hosts get no further requests
	last   error            // of down
}

// Do is Client.Do unless the host is down. Then the error is ErrDown, with the
// failure that was one too many.
func (h *Hosts) Do(ctx context.Context, r Request) (Response, error) {
	host := webaddress.Host(r.URL)
	if err := h.down[host]; err != nil || len(h.down) >= maxDown {
		return Response{}, cmp.Or(err, h.last)
	}
	answer, err := h.Client.Do(ctx, r)
	switch blame := BlameOf(err); {
	case ctx.Err() != nil:
	case blame == Busy || blame == Server:
		h.fail(host, err)
	default:
		delete(h.failed, host)
	}
	return answer, err
}

func (h *Hosts) fail(host string, err error) {
	if h.failed == nil {
		h.failed, h.down = map[string]int{}, map[string]error{}
	}
	if h.failed[host]++; h.failed[host] == maxFailed {
		h.last = fmt.Errorf("%s failed %d times in a row and %w: %w", host, maxFailed, ErrDown, err)
		h.down[host] = h.last
	}
}

// Down returns why a host gets no further requests; nil if none is down.
func (h *Hosts) Down() error { return h.last }
