package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"almanac/api/op"
)

// JSONType is the media type of data.
const JSONType = "application/json; charset=utf-8"

// Answer is what a request is answered with.
type Answer struct {
	Status int    // 0 = 200
	Type   string // media type of Body; "" = there is none
	Body   []byte
	Keep   Keep
	// Weak is for bodies that mean the same in every coding: one entity tag for all.
	Weak   bool
	Page   *Policy     // of an answer that browsers show as a page; nil: it is data
	Header http.Header // further headers
	Goto   string      // where a redirect leads
	// Raw writes the answer itself, for one whose body is sent bit by bit.
	Raw http.Handler
}

// Keep is how long a cache may use an answer.
type Keep int

// What caches may do: store nothing; ask by the entity tag whether the answer has
// changed; or use it for good, because its address contains a hash of it.
const (
	NoStore Keep = iota
	Revalidate
	Immutable
)

var keeps = [...]string{
	NoStore: "no-store", Revalidate: "no-cache", Immutable: "public, max-age=31536000, immutable",
}

// tag returns the entity tag: a strong one is of the body in its coding.
func (a *Answer) tag(enc Coding) string {
	sum := sha256.Sum256(a.Body)
	switch {
	case a.Weak:
		return `W/"` + hex.EncodeToString(sum[:12]) + `"`
	case enc != Identity:
		return `"` + hex.EncodeToString(sum[:16]) + "-" + string(enc) + `"`
	}
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// write sends the answer, without a body on HEAD and if the client has it.
func (a *Answer) write(w http.ResponseWriter, r *http.Request) error {
	h, status := w.Header(), cmp.Or(a.Status, http.StatusOK)
	maps.Copy(h, a.Header)
	if a.Page != nil {
		a.Page.protect(h)
	}
	switch {
	case a.Raw != nil:
		a.Raw.ServeHTTP(w, r)
		return nil
	case a.Goto != "":
		http.Redirect(w, r, a.Goto, status)
		return nil
	case a.Type == "":
		w.WriteHeader(status)
		return nil
	}
	h.Set("Cache-Control", keeps[a.Keep])
	if status < http.StatusBadRequest || a.Page != nil { // other refusals are too short to be compressed
		h.Set("Vary", strings.Join(append(h["Vary"], "Accept-Encoding"), ", "))
	}
	coding := ChooseCoding(r.Header.Get("Accept-Encoding"), len(a.Body))
	if a.Keep == Revalidate && status == http.StatusOK {
		tag := a.tag(coding)
		h.Set("ETag", tag)
		if has(r.Header, tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	body := coding.Encode(a.Body)
	if coding != Identity {
		h.Set("Content-Encoding", string(coding))
	}
	h.Set("Content-Type", a.Type)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

// Preflight tells a browser which methods and headers a page may use.
func Preflight(methods, headers string) *Answer {
	return &Answer{Status: http.StatusNoContent, Header: http.Header{
		"Allow": {methods + ", OPTIONS"}, "Access-Control-Allow-Methods": {methods},
		"Access-Control-Allow-Headers": {headers}, "Access-Control-Max-Age": {"86400"},
	}}
}

// A Coding is a value of Content-Encoding.
type Coding string

// Results of ChooseCoding.
const (
	Identity Coding = ""
	Gzip     Coding = "gzip"
	Zstd     Coding = "zstd"
)

// minSize is the smallest body worth compressing, in bytes: one that fits a
// packet does not arrive sooner when smaller.
const minSize = 1400

// ChooseCoding reads Accept-Encoding. At equal weights zstd is preferred.
func ChooseCoding(accept string, size int) Coding {
	if size < minSize {
		return Identity
	}
	weights := map[string]float64{}
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		q := 1.0
		if v, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			var err error
			if q, err = strconv.ParseFloat(v, 64); err != nil {
				q = 0
			}
		}
		weights[strings.ToLower(strings.TrimSpace(name))] = q
	}
	best, most := Identity, 0.0
	for _, c := range []Coding{Zstd, Gzip} {
		q, ok := weights[string(c)]
		if !ok && c == Gzip {
			q = weights["*"]
		}
		if q > most {
			best, most = c, q
		}
	}
	if most < weights["identity"] {
		return Identity
	}
	return best
}

// gzips are for programs, which ask often and from near: the fastest level takes half the
// time of the fifth and a tenth more bytes. Browsers that know zstd get that.
var gzips = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only on an unknown level
	return w
}}

// zstds encodes without additional goroutines.
var zstds = sync.OnceValue(func() *zstd.Encoder {
	level := zstd.WithEncoderLevel(zstd.SpeedDefault)
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), level) // fails only on bad options
	return e
})

// Encode compresses a body.
func (c Coding) Encode(body []byte) []byte {
	switch c {
	case Gzip:
		w := gzips.Get().(*gzip.Writer)
		defer gzips.Put(w)
		var buf bytes.Buffer
		w.Reset(&buf)
		_, _ = w.Write(body) // a buffer does not fail
		_ = w.Close()
		return buf.Bytes()
	case Zstd:
		return zstds().EncodeAll(body, make([]byte, 0, len(body)/3))
	}
	return body
}

// has reports whether a client has the body with an entity tag already: a request's
// If-None-Match names it. Tags are compared weakly (RFC 9110, 13.1.2).
func has(request http.Header, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for _, h := range request.Values("If-None-Match") {
		for known := range strings.SplitSeq(h, ",") {
			known = strings.TrimPrefix(strings.TrimSpace(known), "W/")
			if known == tag || known == "*" {
				return true
			}
		}
	}
	return false
}

// ReportPath is where browsers report what the policy of a page blocked.
const ReportPath = "/csp-reports"

// OwnReferrer lets the pages of a listener that take forms name themselves to it,
// and to nobody else. Under no-referrer browsers send their forms with Origin:
// null, as they send those of strangers, and over plain HTTP beyond loopback
// nothing else tells the two apart.
func OwnReferrer(h http.Header) { h.Set("Referrer-Policy", "same-origin") }

const nothing = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"

// Protect keeps browsers from treating an answer as anything but data.
func Protect(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

// Policy is what a page may use, and who may know where people come from.
type Policy struct {
	// Allow are directives ("style-src 'sha256-…'; connect-src 'self'"); "" = nothing.
	Allow string
	// PublicURL is where the page is: browsers send reports of report-to only from
	// https, and where there is report-to they ignore report-uri.
	PublicURL string
	// Forms says that the pages take forms: see OwnReferrer.
	Forms bool
}

// protect is Protect for a page, whose violations are reported.
func (p Policy) protect(h http.Header) {
	Protect(h)
	if p.Forms {
		OwnReferrer(h)
	}
	allow, report := "", "; report-uri "+ReportPath
	if p.Allow != "" {
		allow = "; " + p.Allow
	}
	if strings.HasPrefix(p.PublicURL, "https://") {
		report += "; report-to csp"
		h.Set("Reporting-Endpoints", `csp="`+ReportPath+`"`)
	}
	h.Set("Content-Security-Policy", nothing+allow+report)
}

// Refusal is an error as it is answered.
type Refusal struct {
	Status  int
	Message string // for the client, without internals
	Wait    int    // seconds until another try; 0: another try is no use
	Allow   string // the methods that a path has; "": it is not about the method
}

func (f *Refusal) Error() string { return f.Message }

// JSON is the answer for programs: {"error": message}.
func (f *Refusal) JSON() *Answer {
	return &Answer{Status: f.Status, Type: JSONType, Body: op.ErrorJSON(f.Message)}
}

// statusOf maps the kinds of failure; anything else is 500.
var statusOf = map[error]int{
	op.ErrInvalid:            http.StatusBadRequest,
	op.ErrNotFound:           http.StatusNotFound,
	op.ErrUnavailable:        http.StatusServiceUnavailable,
	context.DeadlineExceeded: http.StatusGatewayTimeout,
}

// Explain returns what a client may know of an error.
func Explain(ctx context.Context, err error) *Refusal {
	if f, ok := errors.AsType[*Refusal](err); ok {
		return f
	}
	e := op.Explain(err)
	f := &Refusal{Status: statusOf[e.Kind], Message: e.Message}
	switch f.Status {
	case 0:
		f.Status, f.Message = http.StatusInternalServerError, op.Internal(ctx)
	case http.StatusServiceUnavailable:
		f.Wait = max(1, int(math.Ceil(e.RetryAfter.Seconds())))
	}
	return f
}

// NotAllowed refuses the method of a request; advice says what to do instead.
func NotAllowed(r *http.Request, allowed, advice string) error {
	text := op.Cut(r.Method) + " is not allowed here"
	if advice == "" {
		text += "; allowed: " + allowed
	} else {
		text += ": " + advice
	}
	return &Refusal{Status: http.StatusMethodNotAllowed, Message: text, Allow: allowed}
}

// Body reads the body of a request, up to the route's MaxBody, and returns which of
// the media types it has.
func Body(r *http.Request, types ...string) (body []byte, kind string, err error) {
	kind, _, err = mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(types, kind) {
		return nil, "", &Refusal{Status: http.StatusUnsupportedMediaType,
			Message: "Content-Type must be " + strings.Join(types, " or ")}
	}
	body, err = io.ReadAll(r.Body)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, "", &Refusal{Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("the body must be at most %d KiB", large.Limit>>10)}
	}
	if err != nil {
		return nil, "", op.Invalid("the body could not be read")
	}
	return body, kind, nil
}
