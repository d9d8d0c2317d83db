package meili

import (
	"errors"
	"io"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
)

// maxAnswer is the longest response that is read, in bytes: the hits of a
// search of the largest depth.
const maxAnswer = 64 << 20

var errAnswerTooLarge = errors.New("answer too large")

// limited ends responses that are too long with an error, and has the server continue the trace.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &limitedBody{response.Body, maxAnswer}
	}
	return response, err
}

// CloseIdleConnections lets http.Client close the inner transport's.
func (l limited) CloseIdleConnections() {
	if c, ok := l.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errAnswerTooLarge
	}
	return n, err
}
