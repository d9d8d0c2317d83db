package rest

import (
	"mime"
	"strconv"
	"strings"

	"almanac/api/op"
)

// chooseType returns the index of the media type that the Accept headers
// prefer (RFC 9110 12.5.1), the first of equals. A client that accepts none of
// them gets the first: an answer in another type is better than none.
func chooseType(accept []string, forms []op.Form) int {
	if len(forms) == 1 || len(accept) == 0 {
		return 0
	}
	best, bestQuality := 0, 0.0
	for i, f := range forms {
		name, _, _ := mime.ParseMediaType(f.Type)
		if q := quality(accept, name); q > bestQuality {
			best, bestQuality = i, q
		}
	}
	return best
}

// quality returns the weight of a media type by the most specific range.
func quality(accept []string, name string) float64 {
	weight, specificity := 0.0, -1
	major, _, _ := strings.Cut(name, "/")
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		at := -1
		switch media {
		case name:
			at = 2
		case major + "/*":
			at = 1
		case "*/*":
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
	return weight
}
