package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"almanac/api/kb"
	"almanac/ingest/outbound"
)

// failure is a server's failure to answer, in words for the client. It leaks
// neither addresses nor the server's own words.
type failure struct{ message string }

func (f *failure) Error() string { return f.message }

// wire is the transport of one call. It remembers what went wrong, because the
// SDK turns errors of bodies into text.
type wire struct {
	next http.RoundTripper

	mu      sync.Mutex
	err     error // the first error of a request or of a body
	status  int   // of the first answer that is not a success
	reached bool  // there was an answer
	calling bool  // the tool's call is on its way
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(req)
	w.note(err)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.reached = true
	if resp.StatusCode >= http.StatusBadRequest && w.status == 0 {
		w.status = resp.StatusCode
	}
	w.mu.Unlock()
	resp.Body = body{resp.Body, w}
	return resp, nil
}

func (w *wire) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// body notes the errors of a response's body.
type body struct {
	io.ReadCloser
	wire *wire
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !errors.Is(err, io.EOF) {
		b.wire.note(err)
	}
	return n, err
}

// explain returns why a call failed: ErrCredentials, a failure, or the error of
// the client's context. ctx is that of the call, below the client's.
func (w *wire) explain(client, ctx context.Context) error {
	if client.Err() != nil {
		return client.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	message := "the server does not answer as MCP over HTTP prescribes"
	switch {
	case errors.Is(w.err, outbound.ErrRefused):
		message = "the server's address, or one it redirects to, is refused: it is private, or the redirect " +
			"changes the request"
	case errors.Is(w.err, outbound.ErrTooLarge):
		message = fmt.Sprintf("the server's answer is larger than %d kB", maxBody>>10)
	case ctx.Err() != nil, errors.Is(w.err, outbound.ErrTimeout):
		message = "the server did not answer in time"
	case w.status == http.StatusUnauthorized, w.status == http.StatusForbidden:
		return kb.ErrCredentials
	case w.status != 0:
		message = fmt.Sprintf("the server answered with the status %d %s", w.status, http.StatusText(w.status))
	case w.err != nil && w.reached:
		message = "the server broke off"
	case w.err != nil:
		message = "the server cannot be reached"
	}
	if w.calling {
		message += "; the tool may have run all the same"
	}
	return &failure{message}
}
