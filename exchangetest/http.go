package exchangetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const maxBody = 64 << 20 // bytes of a request or answer

// HTTP returns the base URL that a test talks to, without a slash at its end.
// Where live is empty, that is a server on loopback that plays the recording
// in file (a path from the package's directory, without .gz); a request that
// is not in it fails the test by name. Else it is live itself or, with -record,
// a proxy in front of it that writes the file when the test has passed.
func HTTP(t *testing.T, file, live string, o Options) (baseURL string) {
	t.Helper()
	live = strings.TrimSuffix(live, "/")
	var handler http.Handler
	switch {
	case live == "":
		handler = player{play(t, file, o)}
	case *record:
		handler = recorder{startRecording(t, file, o), live}
	default:
		return live
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// player answers from a tape.
type player struct{ *tape }

func (p player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _, err := p.read(r)
	if err != nil {
		p.fail(w, err)
		return
	}
	e, err := p.answer(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotImplemented)
		return
	}
	p.write(w, e.Status, e.Type, e.Answer.bytes())
}

// recorder forwards to a server and keeps what is said.
type recorder struct {
	*tape
	live string
}

func (p recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, body, err := p.read(r)
	if err != nil {
		p.fail(w, err)
		return
	}
	target := p.live + r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	forward, err := http.NewRequestWithContext(r.Context(), r.Method, target, strings.NewReader(body))
	if err != nil {
		p.fail(w, err)
		return
	}
	forward.Header = r.Header.Clone()
	forward.Header.Del("Connection")
	forward.Header.Set("Accept-Encoding", "identity") // a recording is to be read
	response, err := transport.RoundTrip(forward)
	if err != nil {
		if r.Context().Err() == nil { // the client that gave up is not answered
			p.fail(w, fmt.Errorf("%s: %w", request.name(), err))
		}
		return
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(http.MaxBytesReader(w, response.Body, maxBody))
	if err != nil {
		if r.Context().Err() == nil {
			p.fail(w, fmt.Errorf("%s: %w", request.name(), err))
		}
		return
	}
	contentType := response.Header.Get("Content-Type")
	p.add(request, response.StatusCode, contentType, answer)
	p.write(w, response.StatusCode, contentType, answer)
}

// transport does not keep connections, so that nothing outlives a test.
var transport = &http.Transport{DisableKeepAlives: true, DisableCompression: true}

// read takes a request apart.
func (p *tape) read(r *http.Request) (exchange, string, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return exchange{}, "", fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	query := r.URL.Query()
	for _, name := range p.o.Ignore {
		query.Del(name)
	}
	return p.request(r.Method, r.URL.EscapedPath(), query.Encode(), body), string(body), nil
}

func (p *tape) write(w http.ResponseWriter, status int, contentType string, body []byte) {
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// fail reports what went wrong in the test and to the client.
func (p *tape) fail(w http.ResponseWriter, err error) {
	p.t.Errorf("exchangetest: %v", err)
	http.Error(w, err.Error(), http.StatusBadGateway)
}
