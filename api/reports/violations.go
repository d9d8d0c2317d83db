package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"almanac/api/tally"
)

// The media types of reports.
const (
	Single = "application/csp-report"   // of report-uri: one report
	Batch  = "application/reports+json" // of report-to: reports of several kinds
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

// Parse reads the violations of a body. It returns an error if the body holds no
// report. Reports of other kinds in a batch are left out.
func Parse(mediaType string, body []byte) ([]Violation, error) {
	if mediaType == Batch {
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
	return Violation{directive, Cut(blocked)}, slices.Contains(directives, directive)
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

// Cut shortens a blocked address to scheme and host. A host that is an IP address
// is not named, one that is no plain name is left out, and whatever else a client
// may write is an other address.
func Cut(blocked string) string {
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
