package edge

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// ChooseType returns the index of the media type that a request prefers (RFC 9110
// 12.5.1), the first of equals. A client that accepts none of them gets the first:
// an answer in another type is better than none.
func ChooseType(r *http.Request, types ...string) int {
	best, most := 0, 0.0
	for i, t := range types {
		if weight, _ := Accepts(r, t); weight > most {
			best, most = i, weight
		}
	}
	return best
}

// Accepts returns the weight of a media type by the most specific range of a
// request, and whether that names the type itself.
func Accepts(r *http.Request, mediaType string) (weight float64, named bool) {
	name, _, _ := mime.ParseMediaType(mediaType)
	major, _, _ := strings.Cut(name, "/")
	specificity := -1
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		at := -1
		switch {
		case err != nil:
		case media == name:
			at = 2
		case media == major+"/*":
			at = 1
		case media == "*/*":
			at = 0
		}
		if at <= specificity {
			continue
		}
		specificity, weight = at, 1
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			weight = q
		}
	}
	return weight, specificity == 2
}
