package edge

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

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
