package webpage_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"almanac/text/webpage"
)

func TestMarkdown(t *testing.T) {
	tests := map[string]struct{ html, want string }{
		"nothing":              {"", ""},
		"text":                 {"plain text, no tags", "plain text, no tags"},
		"unclosed":             {"<p>one<p>two <b>three", "one\n\ntwo **three**"},
		"relative link":        {`<a href="../b?x=1#y">b</a>`, "[b](https://example.org/b?x=1#y)"},
		"script link":          {`<a href="javascript:alert(1)">click</a>`, "click"},
		"link with a password": {`<a href="https://u:p@example.org/">x</a>`, "[x](https://example.org/)"},
		"image": {`<p>a <img src="data:image/png;base64,AAAA" alt="chart of tides"> b</p>`,
			"a chart of tides b"},
		"script and style": {"<script>alert(1)</script><style>p{}</style><p>x</p>", "x"},
		"hidden": {
			`<p>x</p><p style="Display: none">y</p><div hidden>z</div><span aria-hidden="true">w</span>`, "x"},
		"angle brackets": {"<p>List&lt;Gate&gt; &amp;lt; 3</p>", "List<Gate> &lt; 3"},
		"no escapes":     {"<p>tide_gate_1 * 2 [x]</p>", "tide_gate_1 * 2 [x]"},
		"code in a table": {"<table><tr><th>a</th></tr><tr><td><pre>x\ny</pre></td></tr></table>",
			"| a |\n|---|\n| `x y` |"},
		"bar in a table": {"<table><tr><th>a</th></tr><tr><td>x|y</td></tr></table>", "| a |\n|---|\n| x\\|y |"},
		"table in a table": {
			"<table><tr><th>a</th></tr><tr><td><table><tr><td>in</td></tr></table></td></tr></table>",
			"| a |\n|---|\n| in |"},
		"lines as divs": {`<pre class="x"><code class="lang-js"><div>let a</div><div>let b</div></code></pre>`,
			"```js\nlet a\nlet b\n```"},
		"empty code":    {"<p>a</p><pre><code> </code></pre>", "a"},
		"fence in code": {"<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"},
		"note kept, ad dropped": {`<aside class="note"><p>mind the gap</p></aside><aside><p>buy</p></aside>`,
			"mind the gap"},
		"zero width, soft": {"<p>key\u200bword soft\u00adhyphen</p>", "keyword softhyphen"},
		"tabs in tabs": {
			`<div><div role="tablist"><button role="tab" id="a">A</button><button role="tab" id="b">B</button></div>` +
				`<div role="tabpanel" aria-labelledby="b"><p>two</p></div><div role="tabpanel" aria-labelledby="a">` +
				`<div><ul role="tablist"><li role="tab">X</li></ul><div role="tabpanel" hidden><p>inner</p></div></div></div></div>`,
			"**B**\n\ntwo\n\n**A**\n\n**X**\n\ninner",
		},
		"tabs without panels": {`<div role="tablist"><a role="tab">A</a></div><p>x</p>`, "x"},
		"anchor with a name":  {`<h2><a name="Old.Name"></a>New name</h2>`, "## New name"},
		"ids": {`<h2 id="other">One</h2><h2 id="two">Two</h2><h2 id="a b">Three</h2>`,
			"## One {#other}\n\n## Two\n\n## Three"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := webpage.Markdown(tt.html, "https://example.org/a/")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseOdd(t *testing.T) {
	tests := map[string]struct {
		html, title, body string
	}{
		"nothing":       {"", "", ""},
		"only text":     {"not found", "", "not found"},
		"title only":    {"<title>Tides | Causeway</title>", "Tides", ""},
		"title, dashes": {"<title>Gates - Tides - Causeway</title>", "Gates - Tides", ""},
		"site in front": {"<title>Causeway Journal of the sea | Tides</title>", "Causeway Journal of the sea", ""},
		"icon's title":  {"<body><svg><title>icon</title></svg><p>x</p>", "", "x"},
		"list of posts": {"<main><h1>All</h1><article><p>one</p></article><article><p>two</p></article></main>", "All",
			"# All\n\none\n\ntwo"},
		"no main": {"<div class=navbar>nav</div><div><h1>T</h1><p>x</p></div><div class='footer'>f</div>", "T",
			"# T\n\nx"},
		"empty article":  {"<main><article></article><p>text of the page</p></main>", "", "text of the page"},
		"frames":         {"<frameset><frame src=x></frameset>", "", ""},
		"frame fallback": {"<html><frameset></frameset><noframes>x</noframes></html>", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := webpage.Parse([]byte(tt.html), "text/html", "https://example.org/")
			if err != nil {
				t.Fatal(err)
			}
			if p.Title != tt.title || p.Body != tt.body {
				t.Errorf("title %q body %q, want %q and %q", p.Title, p.Body, tt.title, tt.body)
			}
		})
	}
	for name, data := range map[string]string{"nested": strings.Repeat("<div>", 600),
		"large": strings.Repeat("x", 9<<20)} {
		if _, err := webpage.Parse([]byte(data), "", "https://example.org/"); !errors.Is(err, webpage.ErrNoPage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHidden(t *testing.T) {
	for html, want := range map[string]bool{
		`<meta name="robots" content="index, max-image-preview:none">`: false,
		`<meta name="ROBOTS" content="NOINDEX">`:                       true,
		`<meta name="googlebot" content="nofollow, none">`:             true, `<p>noindex</p>`: false,
	} {
		p, err := webpage.Parse([]byte(html), "", "https://example.org/")
		if err != nil || p.Hidden != want {
			t.Errorf("%s: %v, %v", html, p.Hidden, err)
		}
	}
}

func TestDecode(t *testing.T) {
	latin, _ := charmap.ISO8859_1.NewEncoder().String("Köln – früh")
	if latin == "" {
		latin = "K\xf6ln fr\xfch"
	}
	wide, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("Köln")
	tests := map[string]struct{ data, contentType, want string }{
		"utf-8":             {"Köln", "text/html; charset=utf-8", "Köln"},
		"mark":              {"\xef\xbb\xbfKöln", "", "Köln"},
		"latin-1 by header": {"K\xf6ln", "text/html; charset=iso-8859-1", "Köln"},
		"latin-1 by meta": {`<meta charset="windows-1252">K` + "\xf6ln \x93x\x94", "text/html",
			`<meta charset="windows-1252">Köln “x”`},
		"utf-8 called latin-1":        {"Köln", "text/html; charset=iso-8859-1", "Köln"},
		"latin-1 in utf-8":            {"Köln K\xf6ln \x96", "text/html; charset=utf-8", "Köln Köln –"},
		"utf-16":                      {wide, "", "Köln"},
		"nothing said, not utf-8":     {"fr\xfch", "", "früh"},
		"unknown charset":             {"Köln", "text/html; charset=klingon", "Köln"},
		"cyrillic":                    {"\xcc\xee\xf1\xf2", "text/html; charset=windows-1251", "Мост"},
		"shift-jis":                   {"\x8b\xb4", "text/html; charset=shift_jis", "橋"},
		"iso-2022-jp, which is ascii": {"\x1b$B66\x1b(B", "text/html; charset=iso-2022-jp", "橋"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := webpage.Decode([]byte(tt.data), tt.contentType); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"Bridges &amp; tides": "Bridges & tides", "<b>Open</b> at\n last": "Open at last", "a < b": "a < b", "": "",
		"R&D": "R&D", "<script>x</script>y": "y",
	} {
		if got := webpage.Plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSitemap(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("<urlset><url><loc>https://example.org/z</loc></url></urlset>"))
	_ = z.Close()
	tests := map[string]struct {
		data        string
		pages, maps []string
		bad         bool
	}{
		"pages": {
			data: `<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet type="text/xsl" href="/s.xsl"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<!-- made by hand --><url><loc> https://example.org/a?x=1&amp;y=2 </loc><lastmod>2031-05-06</lastmod><image:image><image:loc>https://example.org/a.png</image:loc></image:image></url>
<url><loc><![CDATA[https://example.org/b]]></loc></url><url><loc>mailto:x@example.org</loc></url><url></url></urlset>`,
			pages: []string{"https://example.org/a?x=1&y=2 2031-05-06", "https://example.org/b"},
		},
		"index": {
			data: `<sitemapindex><sitemap><loc>https://example.org/sitemap-1.xml.gz</loc></sitemap></sitemapindex>`,
			maps: []string{"https://example.org/sitemap-1.xml.gz"},
		},
		"relative": {data: `<urlset><url><loc>/a</loc></url></urlset>`, pages: []string{"https://example.org/a"}},
		"packed":   {data: packed.String(), pages: []string{"https://example.org/z"}},
		"text": {data: "\xef\xbb\xbfhttps://example.org/a\r\n\r\nhttps://example.org/b\n",
			pages: []string{"https://example.org/a", "https://example.org/b"}},
		"latin-1": {
			data: "<?xml version=\"1.0\" " +
				"encoding=\"iso-8859-1\"?><urlset><url><loc>https://example.org/k\xf6ln</loc></url></urlset>",
			pages: []string{"https://example.org/k%C3%B6ln"}},
		"empty":        {data: `<urlset/>`},
		"cut off":      {data: `<urlset><url><loc>https://example.org/a</loc></url><url><lo`, bad: true},
		"packed, cut":  {data: packed.String()[:packed.Len()-12], bad: true},
		"a page":       {data: "<!doctype html><html><body>Not found</body></html>", bad: true},
		"a feed":       {data: `<rss version="2.0"><channel></channel></rss>`, bad: true},
		"nothing":      {data: "", bad: true},
		"nested":       {data: "<urlset>" + strings.Repeat("<url>", 100), bad: true},
		"unknown code": {data: `<?xml version="1.0" encoding="klingon"?><urlset/>`},
		"control": {data: "<urlset><url><loc>https://example.org/\x08a</loc></url></urlset>",
			pages: []string{"https://example.org/a"}},
		"another entry": {data: `<urlset><url><loc>&nope;/a</loc></url></urlset>`,
			pages: []string{"https://example.org/&nope;/a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := webpage.ParseSitemap([]byte(tt.data), &url.URL{Scheme: "https", Host: "example.org", Path: "/"})
			if (err != nil) != tt.bad || tt.bad && !errors.Is(err, webpage.ErrNoSitemap) {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff([][]string{tt.pages, tt.maps},
				[][]string{locs(got.Pages), strs(got.Maps)}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func locs(list []webpage.Location) []string {
	var out []string
	for _, l := range list {
		out = append(out, strings.TrimSpace(l.URL.String()+" "+l.LastMod))
	}
	return out
}

func strs(list []*url.URL) []string {
	var out []string
	for _, u := range list {
		out = append(out, u.String())
	}
	return out
}

func TestXML(t *testing.T) {
	tests := map[string]struct{ data, contentType, want string }{
		"declared": {"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<a>K\xf6ln</a>", "", "<a>Köln</a>"},
		"declared wrongly": {"\xef\xbb\xbf<?xml version='1.0' encoding='latin1'?><a>Köln</a>",
			"text/xml; charset=us-ascii", "<a>Köln</a>"},
		"mixed": {"<?xml version=\"1.0\" encoding=\"utf-8\"?><a>Köln K\xf6ln</a>", "",
			"<a>Köln Köln</a>"},
		"by the header alone": {"<a>\xcc\xee\xf1\xf2</a>", "text/xml; charset=windows-1251", "<a>Мост</a>"},
		"control characters":  {"<a>b\x00\x08</a>", "", "<a>b</a>"},
		"illegal references": {"<a>b&#x1b;&#8;&#0;&#xFFFF;&#x110000;&#99999999;&#x41;&#10;\uffff</a>", "",
			"<a>b&#x41;&#10;</a>"},
		"entities of HTML": {"<a>&nbsp;&copy; & x</a>", "", "<a>&nbsp;&copy; & x</a>"},
		"cut off":          {"<a><b>x</b>", "", ""},
		"cut in a tag":     {"<a><b", "", ""},
		"JSON":             {`{"version": 1}`, "", ""},
		"nothing":          {"", "", ""},
		"nested":           {strings.Repeat("<a>", 65) + strings.Repeat("</a>", 65), "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := webpage.XML([]byte(tt.data), tt.contentType)
			if string(got) != tt.want || (tt.want == "") != errors.Is(err, webpage.ErrXML) {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// hostile are pages that cost more than they seem to; their sizes are those
// that a page may have.
var hostile = map[string]string{
	"bold":        strings.Repeat("<b>x</b> ", 400_000),
	"tab lists":   strings.Repeat("<i role=tablist></i>", 200_000),
	"tab sets":    strings.Repeat("<div class=sd-tab-set>", 300) + strings.Repeat("<label>x</label>", 100_000),
	"headings":    strings.Repeat("<p>x", 400_000) + "<div>" + strings.Repeat("<h6>x", 300_000),
	"tables":      strings.Repeat("<table><tr><td>x|y</table>", 150_000),
	"columns":     "<table><tr>" + strings.Repeat("<td>x", 300_000) + "<tr><td>y",
	"spans":       "<table>" + strings.Repeat("<tr><td colspan=10000 rowspan=10000>x", 200) + "</table>",
	"lists":       strings.Repeat("<ul><li>x", 200) + strings.Repeat("<li>y", 300_000),
	"quotations":  strings.Repeat("<blockquote>", 300) + strings.Repeat("<p>x", 50_000),
	"left open":   strings.Repeat("<b><i>", 200) + strings.Repeat("<p>x", 10_000),
	"links":       strings.Repeat("<a href=x>y</a>", 250_000),
	"angles":      strings.Repeat("&lt;", 1_000_000),
	"punctuation": strings.Repeat("*_`[", 1_000_000),
	"breaks":      strings.Repeat("<br>", 900_000),
}

// BenchmarkHostile shows that no page takes more than seconds.
func BenchmarkHostile(b *testing.B) {
	for name, data := range hostile {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				_, _ = webpage.Parse([]byte(data), "text/html", "https://example.org/")
			}
		})
	}
}

func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "text/html")
	}
	for _, data := range hostile {
		f.Add([]byte(data[:min(len(data), 4<<10)]), "text/html")
	}
	f.Add([]byte("<table><tr><td><div role=tablist><b role=tab>x<div role=tabpanel>"), "text/html; charset=utf-16")
	f.Add([]byte("<div class=sd-tab-set><label>a<div class=sd-tab-set><div class=tabbed-content><pre><br>x</table>"),
		"")
}

func TestNoCharacterBecomesAnAngleBracket(t *testing.T) {
	const page = "<p>\ue0f1b\ue0f2 a &lt; b <code>&#xE0F1;x<i>\ue0f2</i></code> " +
		"<a href='/\ue0f1' title='\ue0f2'>y</a></p><pre>\ue0f1z</pre>"
	got, err := webpage.Markdown(page, "https://example.org/")
	if err != nil || strings.Count(got, "<") != 1 || strings.ContainsAny(got, ">\ue0f1\ue0f2") ||
		!strings.Contains(got, "b a < b `x`") {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, contentType string) {
		p, err := webpage.Parse(data, contentType, "https://example.org/a")
		if err != nil {
			return
		}
		if !utf8.ValidString(p.Body) || strings.ContainsRune(p.Body, 0) {
			t.Errorf("the body is not clean text: %q", p.Body)
		}
		if strings.ContainsAny(p.Body, "\uE0F1\uE0F2") {
			t.Error("an angle bracket stayed veiled")
		}
		if u := p.Canonical; u != "" && !strings.HasPrefix(u, "http") {
			t.Errorf("canonical %q", u)
		}
	})
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte("<urlset><url><loc>https://example.org/a</loc></url></urlset>"))
	f.Add([]byte("https://example.org/a\n"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := webpage.ParseSitemap(data, nil)
		if err != nil {
			return
		}
		for _, l := range s.Pages {
			s.Maps = append(s.Maps, l.URL)
		}
		for _, u := range s.Maps {
			if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				t.Errorf("lists %s", u)
			}
		}
	})
}
