package edge

import (
	"net/http"
	"strings"
)

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
