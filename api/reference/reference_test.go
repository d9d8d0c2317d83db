package reference_test

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"almanac/api/openapi"
	"almanac/api/reference"
	"almanac/testing/optest"
)

func page(t *testing.T, publicURL string) (text, policy string) {
	t.Helper()
	o, err := reference.Operation(reference.Config{
		Title: "Shelf <&>", PublicURL: publicURL, Operations: optest.Operations(), Group: "meta",
		Groups: []openapi.Group{{Name: "shelf", Description: "Books."}, {Name: "desk"}, {Name: "attic"},
			{Name: "empty"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := o.Forms[0].Write(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), o.Forms[0].Policy
}

// TestThePageIsItsOwn holds that the policy allows exactly the style and the
// script of the page, and that nothing is loaded from elsewhere.
func TestThePageIsItsOwn(t *testing.T) {
	text, policy := page(t, "https://kb.example")
	for _, tag := range []string{"style", "script"} {
		found := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("%d elements %s", len(found), tag)
		}
		sum := sha256.Sum256([]byte(found[0][1]))
		want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(policy, want) {
			t.Errorf("%s is not in the policy %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Error(policy)
	}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src":
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			case a.Key == "href" || a.Key == "action":
				if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") && a.Val != "data:," {
					t.Errorf("<%s %s=%q> is elsewhere", n.Data, a.Key, a.Val)
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	walk(root)
	if !strings.Contains(text, "<title>REST reference · Shelf &lt;&amp;&gt;</title>") {
		t.Error("the title is not there or not escaped")
	}
}

// TestEveryOperationIsShown holds that each has its address, its parameters
// with constraints, a curl line and, if it is a GET, a form.
func TestEveryOperationIsShown(t *testing.T) {
	text, _ := page(t, "https://kb.example")
	forms := 0
	for _, o := range optest.Operations() {
		if o.Path == "" || o.Group == "" {
			continue
		}
		if o.Method == "GET" {
			forms++
		}
		at := strings.Index(text, `<article id="`+o.ID+`">`)
		if at < 0 {
			t.Errorf("%s is not shown", o.ID)
			continue
		}
		article, _, _ := strings.Cut(text[at:], "</article>")
		for _, p := range o.Params {
			if p.REST && !strings.Contains(article, "<dt><code>"+p.Name+"</code>") {
				t.Errorf("%s: %s is not shown", o.ID, p.Name)
			}
		}
		if !strings.Contains(article, "curl &#39;https://kb.example"+strings.Split(o.Path, "{")[0]) {
			t.Errorf("%s: no curl line in %s", o.ID, article)
		}
	}
	if n := strings.Count(text, "<form "); n != forms || strings.Contains(text, `id="group-empty"`) {
		t.Errorf("%d forms of %d operations by GET", n, forms)
	}
	for _, want := range []string{
		"integer, 1 to 100, default 20", `min="1" max="100"`, "<strong>required</strong>",
		"list of strings, separated by commas",
		`data-in="path"`, "-H &#39;Content-Type: application/json&#39; -d ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestAServiceBelowAPath holds that addresses of the page have its prefix.
func TestAServiceBelowAPath(t *testing.T) {
	text, _ := page(t, "https://example.org/kb")
	if strings.Contains(text, `action="/api/`) || !strings.Contains(text, `action="/kb/api/v1/books"`) {
		t.Error("the prefix is missing")
	}
}
