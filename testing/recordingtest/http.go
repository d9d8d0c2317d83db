package recordingtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const maxBody = 64 << 20 // bytes of a request or response

// HTTP returns the base URL that a test calls, without a trailing slash. If
// live is empty, that is a server on loopback that plays the recording in file
// (a path relative to the package's directory, without .gz); a request that is
// not in it fails the test by name. Otherwise it is live itself or, with
// -record, a proxy in front of it that writes the file when the test has
// passed.
func HTTP(t *testing.T, file, live string, o Options) (baseURL string) {
	t.Helper()
	live = strings.TrimSuffix(live, "/")
	var handler http.Handler
	switch {
	case live == "":
		handler = player{Play(t, file, o)}
	case *record:
		handler = recorder{Record(t, file, o), live}
	default:
		return live
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// player responds from a recording.
type player struct{ *Recording }

func (p player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _, err := p.read(r)
	if err != nil {
		p.fail(w, err)
		return
	}
	reply, err := p.Answer(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotImplemented)
		return
	}
	write(w, reply)
}

// recorder forwards to a server and keeps the calls.
type recorder struct {
	*Recording
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
	forward.Header.Set("Accept-Encoding", "identity") // recordings are to be readable
	response, err := transport.RoundTrip(forward)
	if err != nil {
		if r.Context().Err() == nil { // a client that gave up gets no response
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
	reply := Reply{response.StatusCode, response.Header.Get("Content-Type"), answer}
	p.Add(request, reply)
	write(w, reply)
}

// transport keeps no connections, so that nothing outlives a test.
var transport = &http.Transport{DisableKeepAlives: true, DisableCompression: true}

// read parses a request.
func (r *Recording) read(request *http.Request) (Call, string, error) {
	body, err := io.ReadAll(io.LimitReader(request.Body, maxBody))
	if err != nil {
		return Call{}, "", fmt.Errorf("%s %s: %w", request.Method, request.URL.Path, err)
	}
	return r.Request(request.Method, request.URL.EscapedPath(), request.URL.Query().Encode(), body), string(body), nil
}

func write(w http.ResponseWriter, reply Reply) {
	if reply.Type != "" {
		w.Header().Set("Content-Type", reply.Type)
	}
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.Body) // a client that is gone needs no response
}

// fail reports an error in the test and to the client.
func (r *Recording) fail(w http.ResponseWriter, err error) {
	r.Fail(err)
	http.Error(w, err.Error(), http.StatusBadGateway)
}
