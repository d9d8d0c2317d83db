package guard

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

// ProtectPage is Protect for an HTML page. It may use what the directives in
// allow permit ("style-src 'sha256-…'; connect-src 'self'"), "" = nothing, and
// its violations are reported. publicURL is where the page is: browsers send
// reports of report-to only from https, and where there is report-to they
// ignore report-uri.
func ProtectPage(h http.Header, allow, publicURL string) {
	Protect(h)
	if allow != "" {
		allow = "; " + allow
	}
	report := "; report-uri " + ReportPath
	if strings.HasPrefix(publicURL, "https://") {
		report += "; report-to csp"
		h.Set("Reporting-Endpoints", `csp="`+ReportPath+`"`)
	}
	h.Set("Content-Security-Policy", nothing+allow+report)
}
