package webpage

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// content returns the main content of a page, ready to be rendered, and the
// page's heading.
func content(root *html.Node, base *url.URL) (*html.Node, string) {
	body := find(root, "body")
	if body == nil { // a page with frames
		body = Element("body")
	}
	tabs(body)
	declutter(body)
	chosen := choose(body)
	permalinks(body)
	heading := ""
	for _, n := range []*html.Node{chosen, body} {
		if h := find(n, "h1"); h != nil && heading == "" {
			heading = Line(h)
		}
	}
	dress(chosen, base)
	return chosen, heading
}

// shape prepares a piece of HTML that is only content.
func shape(n *html.Node, base *url.URL) {
	tabs(n)
	declutter(n)
	permalinks(n)
	dress(n, base)
}

// never are elements without readable content.
var never = []string{
	"script", "style", "noscript", "template", "nav", "footer", "form", "button", "svg", "canvas", "iframe", "object",
	"dialog", "select", "input", "textarea", "video", "audio", "map",
}

// roles are the ARIA roles of elements around the content.
var roles = []string{"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu",
	"menubar", "toolbar"}

// clutter are the classes that page generators and blogs use for elements
// around the content or only for screen readers.
var clutter = []string{
	"navbar", "nav", "navigation", "menu", "sidebar", "breadcrumb", "breadcrumbs", "theme-doc-breadcrumbs",
	"theme-doc-footer", "theme-doc-toc-mobile", "theme-doc-toc-desktop", "theme-doc-version-badge",
	"theme-edit-this-page", "toc", "table-of-contents", "toctree-wrapper", "contents", "on-this-page", "pagination",
	"pagination-nav", "prev-next-area", "prev-next-footer", "related-pages", "footer", "site-footer", "site-header",
	"page-footer", "md-header", "md-footer", "md-sidebar", "md-source-file", "md-feedback",
	"share", "sharing", "social", "social-share", "share-buttons", "sharedaddy", "related", "related-posts",
	"jp-relatedposts", "comments", "comments-area", "newsletter", "subscribe", "subscription", "signup", "cookie",
	"cookies", "cookie-banner", "cookie-consent", "advertisement", "promo", "author-bio", "post-navigation",
	"skip-link", "skip-to-content", "sr-only", "visually-hidden", "screen-reader-text", "copybtn", "copy-button",
	"clipboard-button", "edit-this-page", "last-updated", "feedback", "wy-nav-side", "rst-versions",
	"linenos", "lnt", "lineno", "line-numbers", "line-number", "linenodiv", "gutter", "reading-time",
}

// callout are classes of asides that are part of the text.
var callout = []string{"note", "tip", "info", "caution", "warning", "danger", "important", "hint", "admonition",
	"callout", "alert", "starlight-aside"}

func declutter(body *html.Node) {
	for e := range Elements(body) {
		if surrounds(e) {
			Remove(e)
		}
	}
}

func surrounds(e *html.Node) bool {
	switch {
	case slices.Contains(never, e.Data):
		return true
	case e.Data == "article" || e.Data == "main" || e.Data == "body":
		return false
	case e.Data == "aside":
		return !HasClass(e, callout...)
	case e.Data == "header":
		return !Within(e, "article", "main")
	case hasAttr(e, "hidden") || strings.EqualFold(Attr(e, "aria-hidden"), "true"):
		return true
	case strings.Contains(strings.ReplaceAll(strings.ToLower(Attr(e, "style")), " ", ""), "display:none"):
		return true
	case slices.Contains(roles, strings.ToLower(Attr(e, "role"))):
		return true
	}
	return HasClass(e, clutter...)
}

// containers match the elements that contain a page's content, narrowest first.
var containers = []func(*html.Node) bool{
	func(e *html.Node) bool { return Attr(e, "itemprop") == "articleBody" },
	func(e *html.Node) bool {
		return HasClass(e, "theme-doc-markdown", "sl-markdown-content", "md-content__inner", "markdown-body",
			"entry-content", "post-content", "article-content", "article-body", "post-body", "bd-article")
	},
	func(e *html.Node) bool { return e.Data == "article" },
	func(e *html.Node) bool { return e.Data == "main" || Attr(e, "role") == "main" },
}

// choose returns the narrowest container that holds most of the page's text.
func choose(body *html.Node) *html.Node {
	whole := len(Line(body))
	for e := range Elements(body) {
		if containers[len(containers)-1](e) {
			whole = min(whole, len(Line(e)))
			break
		}
	}
	for _, is := range containers {
		var found []*html.Node
		for e := range Elements(body) {
			if is(e) {
				found = append(found, e)
			}
		}
		if len(found) > 0 && len(Line(found[0]))*2 > whole {
			return found[0]
		}
	}
	return body
}
