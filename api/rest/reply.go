package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"almanac/api/coding"
	"almanac/api/guard"
	"almanac/api/op"
)

const jsonType = "application/json; charset=utf-8"

// setCommonHeaders allows any page to read the answers, which are public, and
// keeps browsers from treating them as anything but data.
func setCommonHeaders(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers",
		"ETag, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id")
	guard.Protect(h)
}

// reply writes 200, or 304 if the client has this body. Answers to probes and
// POST must not be stored; any other must be revalidated by its entity tag.
func (x *request) reply(body []byte, form op.Form, publicURL string, probe bool) {
	h := x.w.Header()
	h.Set("Content-Type", form.Type)
	if strings.HasPrefix(form.Type, "text/html") {
		guard.ProtectPage(h, form.Policy, publicURL)
	}
	enc := coding.Choose(x.r.Header.Get("Accept-Encoding"), len(body))
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-store")
	if !probe && x.r.Method != http.MethodPost {
		h.Set("Cache-Control", "no-cache")
		tag := entityTag(body, enc)
		h.Set("ETag", tag)
		if coding.Has(x.r.Header, tag) {
			h.Del("Content-Type")
			x.status = http.StatusNotModified
			x.w.WriteHeader(x.status)
			x.gin.Writer.WriteHeaderNow()
			return
		}
	}
	if enc != coding.Identity {
		h.Set("Content-Encoding", string(enc))
		body = enc.Encode(body)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	if x.r.Method == http.MethodHead {
		x.gin.Writer.WriteHeaderNow()
		return
	}
	if _, err := x.w.Write(body); err != nil && x.r.Context().Err() != nil {
		x.status = statusClientGone
	}
}

// entityTag returns a strong tag: each coding of a body has its own.
func entityTag(body []byte, enc coding.Coding) string {
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:16])
	if enc != coding.Identity {
		tag += "-" + string(enc)
	}
	return `"` + tag + `"`
}
