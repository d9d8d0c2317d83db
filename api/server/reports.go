package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"almanac/api/limit"
	"almanac/api/op"
	"almanac/api/tally"
)

// ClicksPath is where pages say what was shown and opened.
const ClicksPath = "/clicks"

const (
	maxViolations = 64 << 10 // bytes
	maxClicks     = 8 << 10  // a query of the longest kind and ClicksDepth ids
)

// Violations takes reports by POST and answers 204. limit counts every request, and
// every further report of it.
func Violations(counts *tally.Tally, limit *limit.Bucket) Route {
	return Route{
		Method: http.MethodPost, Path: ReportPath, Limit: limit, MaxBody: maxViolations,
		Advice: "browsers send reports by POST",
		Serve: func(r *http.Request) (*Answer, error) {
			counted := http.Header{}
			body, mediaType, err := Body(r, SingleReport, BatchOfReports)
			if err != nil {
				return nil, err
			}
			reports, err := ParseViolations(mediaType, body)
			if err != nil {
				return nil, op.Invalid("%s", err)
			}
			for i, v := range reports {
				if i > 0 {
					if text, wait := limit.Take(counted, r); text != "" {
						return nil, &Refusal{Status: http.StatusTooManyRequests, Message: text, Wait: wait}
					}
				}
				counts.Violation(r.Context(), v.Directive, v.Blocked)
			}
			return &Answer{Status: http.StatusNoContent, Header: counted}, nil
		},
	}
}

// Clicks takes reports by POST and answers 204. Reports from pages of other origins
// are refused: what people choose there is not about our results.
func Clicks(counts *tally.Tally, limit *limit.Bucket) Route {
	own := http.NewCrossOriginProtection()
	return Route{
		Method: http.MethodPost, Path: ClicksPath, Limit: limit, MaxBody: maxClicks, Advice: "pages report by POST",
		Gate: func(r *http.Request) *Answer {
			if own.Check(r) == nil {
				return nil
			}
			return (&Refusal{Status: http.StatusForbidden, Message: "only pages of this service report here"}).JSON()
		},
		Serve: func(r *http.Request) (*Answer, error) {
			body, _, err := Body(r, "application/json")
			if err != nil {
				return nil, err
			}
			report, err := ParseClicks(body)
			if err != nil {
				return nil, op.Invalid("%s", err)
			}
			counts.Shown(r.Context(), report.Query, report.Shown, report.Clicked)
			return &Answer{Status: http.StatusNoContent}, nil
		},
	}
}

// ClicksDepth is how many results of a page are counted.
const ClicksDepth = 20

// Choice is what was shown for a query, best first, and what was opened.
type Choice struct {
	Query   string  `json:"query"`
	Shown   []int64 `json:"shown"`             // record ids
	Clicked int     `json:"clicked,omitempty"` // position from 1; 0: none
}

// ParseClicks reads a report, strictly.
func ParseClicks(body []byte) (Choice, error) {
	var r Choice
	if err := json.Unmarshal(body, &r); err != nil {
		return r, errors.New("the body must be a JSON object with query, shown and clicked")
	}
	sorted := slices.Sorted(slices.Values(r.Shown))
	switch {
	case r.Query == "":
		return r, errors.New("query is missing")
	case len(r.Shown) == 0 || len(r.Shown) > ClicksDepth:
		return r, fmt.Errorf("shown must have 1 to %d records", ClicksDepth)
	case sorted[0] < 1 || len(slices.Compact(sorted)) < len(r.Shown):
		return r, errors.New("shown must have ids of records, each once")
	case r.Clicked < 0 || r.Clicked > len(r.Shown):
		return r, errors.New("clicked must be a position in shown, or 0")
	}
	return r, nil
}

// The media types of reports.
const (
	SingleReport   = "application/csp-report"   // of report-uri: one report
	BatchOfReports = "application/reports+json" // of report-to: reports of several kinds
)

// Limits of what is read of a report.
const (
	maxReports = 100 // of a batch; the rest is dropped
	maxHost    = 100 // bytes of a blocked address's host
)

// Violation is what a directive blocked: a word such as inline, or scheme and host
// of an address.
type Violation struct {
	Directive, Blocked string
}

// directives are those that a report can name.
var directives = []string{
	"base-uri", "child-src", "connect-src", "default-src", "fenced-frame-src", "font-src", "form-action",
	"frame-ancestors", "frame-src", "img-src", "manifest-src", "media-src", "object-src", "prefetch-src",
	"require-trusted-types-for", "sandbox", "script-src", "script-src-attr", "script-src-elem", "style-src",
	"style-src-attr", "style-src-elem", "trusted-types", "upgrade-insecure-requests", "worker-src",
}

var errNoReport = errors.New("the body is not a report of a violation of the content security policy")

// ParseViolations reads the violations of a body. It returns an error if the body holds no
// report. Reports of other kinds in a batch are left out.
func ParseViolations(mediaType string, body []byte) ([]Violation, error) {
	if mediaType == BatchOfReports {
		return parseBatch(body)
	}
	var report struct {
		Report *struct {
			Effective string `json:"effective-directive"`
			Violated  string `json:"violated-directive"`
			Blocked   string `json:"blocked-uri"`
		} `json:"csp-report"`
	}
	if err := json.Unmarshal(body, &report); err != nil || report.Report == nil {
		return nil, errNoReport
	}
	r := report.Report
	v, ok := violation(cmp.Or(r.Effective, r.Violated), r.Blocked)
	if !ok {
		return nil, errNoReport
	}
	return []Violation{v}, nil
}

func parseBatch(body []byte) (all []Violation, err error) {
	var reports []struct {
		Type string          `json:"type"`
		Body json.RawMessage `json:"body"`
	}
	if json.Unmarshal(body, &reports) != nil || len(reports) == 0 {
		return nil, errNoReport
	}
	for _, r := range reports[:min(len(reports), maxReports)] {
		if r.Type == "" {
			return nil, errNoReport
		}
		if r.Type != "csp-violation" {
			continue
		}
		var body struct {
			Directive string `json:"effectiveDirective"`
			Blocked   string `json:"blockedURL"`
		}
		if json.Unmarshal(r.Body, &body) != nil {
			return nil, errNoReport
		}
		v, ok := violation(body.Directive, body.Blocked)
		if !ok {
			return nil, errNoReport
		}
		all = append(all, v)
	}
	return all, nil
}

// violation makes a violation of a report's words; false for a directive that
// does not exist. Older browsers report the directive with its sources.
func violation(directive, blocked string) (Violation, bool) {
	directive, _, _ = strings.Cut(strings.TrimSpace(directive), " ")
	directive = strings.ToLower(directive)
	return Violation{directive, CutBlocked(blocked)}, slices.Contains(directives, directive)
}

// words are reported in place of an address.
var words = []string{
	"inline", "eval", "wasm-eval", "data", "blob", "self", "filesystem", "about", "trusted-types-policy",
	"trusted-types-sink",
}

// schemes are reported alone: what else is in their addresses is no host.
var schemes = []string{
	"about", "blob", "chrome-extension", "data", "file", "filesystem", "moz-extension", "safari-extension",
	"safari-web-extension",
}

// plainHost is a name of the DNS, in the form that browsers look up, with a port
// or without.
var plainHost = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](:\d{1,5})?$`)

// CutBlocked shortens a blocked address to scheme and host. A host that is an IP address
// is not named, one that is no plain name is left out, and whatever else a client
// may write is an other address.
func CutBlocked(blocked string) string {
	blocked = strings.TrimSpace(blocked)
	if blocked == "" {
		return "unknown"
	}
	if word := strings.ToLower(blocked); slices.Contains(words, word) {
		return word
	}
	u, err := url.Parse(blocked)
	if err != nil {
		return "other"
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss":
	default:
		if slices.Contains(schemes, u.Scheme) {
			return u.Scheme
		}
		return "other"
	}
	host := strings.ToLower(u.Host)
	address, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Hostname() == "localhost", address.IsLoopback():
		return u.Scheme + "://localhost"
	case err == nil:
		return u.Scheme + "://ip-address"
	case len(host) > maxHost, !plainHost.MatchString(host), tally.Private(host):
		return u.Scheme
	}
	return u.Scheme + "://" + host
}
