package edge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strconv"
	"strings"
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
