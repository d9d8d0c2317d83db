package feed

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func address(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

const (
	atomFeed = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Tide tables</title><link href="https://tides.example.org/"/>
<link rel="self" href="https://tides.example.org/atom.xml"/><link rel="next" href="?page=2"/><updated>2031-05-06T00:00:00Z</updated>
<entry><title type="html">Springs &amp;amp; &lt;b&gt;neaps&lt;/b&gt;</title><link rel="alternate" href="/springs.html"/><id>tag:tides.example.org,2031:1</id>
<published>2031-05-05T10:00:00+02:00</published><updated>2031-05-06T00:00:00Z</updated><author><name>Ada Quay</name><email>ada@example.org</email></author>
<author><name>Bram Pier</name></author><category term="tides" label="Tides"/>
<summary>About springs.</summary><content type="html">&lt;p&gt;All about &lt;a href="neaps.html"&gt;springs&lt;/a&gt;.&lt;/p&gt;</content></entry>
<entry><id>tag:tides.example.org,2031:2</id><title/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>No title, no link.</p></div></content></entry>
<entry><title></title></entry></feed>`
	rdfFeed = `<?xml version="1.0" encoding="ISO-8859-1"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://k.example.org/"><title>K</title><link>https://k.example.org/</link></channel>
<item rdf:about="https://k.example.org/1"><title>K` + "\xf6" +
		`ln</title><link>https://k.example.org/1</link><dc:date>2031-02-03</dc:date><dc:creator>C. Quill</dc:creator></item></rdf:RDF>`
	jsonFeed = `{"version":"https://jsonfeed.org/version/1.1","title":"J","home_page_url":"https://j.example.org","language":"de","next_url":"https://j.example.org/2.json",
"items":[{"id":"1","url":"https://j.example.org/a","title":"A","content_html":"<p>Text</p>","date_published":"2031-01-02T03:04:05Z","authors":[{"name":"D. Mole"}],"tags":["x"],"image":"/i.png"}]}`
	clicks = `<rss version="2.0" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"><channel><title>C</title><link>https://c.example.org</link>
<item><title>One</title><link>https://clicks.example.org/~r/c/1</link><feedburner:origLink>https://c.example.org/one?utm_campaign=x</feedburner:origLink><pubDate>Mon, 32 Foo 2031</pubDate></item>
<item><guid>https://c.example.org/two</guid><description>Two.&nbsp;` + "\x93quoted\x94" +
		`</description></item></channel></rss>`
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		data, contentType string
		want              parsed
	}{
		"atom": {atomFeed, "text/html", parsed{next: "https://tides.example.org/atom.xml?page=2", posts: []post{
			{
				name: "tides.example.org/springs", address: address("https://tides.example.org/springs.html"),
				Said: Said{
					GUID: "tag:tides.example.org,2031:1", Title: "Springs & neaps", Language: "en",
					Content: "All about [springs](https://tides.example.org/neaps.html).", Description: "About springs.",
					Authors: []string{"Ada Quay", "Bram Pier"}, Tags: []string{"Tides"},
					Published: time.Date(2031, 5, 5, 8, 0, 0, 0, time.UTC),
					Updated:   time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC),
				},
			},
			{name: "tides.example.org#tag:tides.example.org,2031:2", Said: Said{GUID: "tag:tides.example.org,2031:2",
				Language: "en", Content: "No title, no link."}},
		}}},
		"rdf": {rdfFeed, "", parsed{posts: []post{{
			name: "k.example.org/1", address: address("https://k.example.org/1"),
			Said: Said{
				Title: "Köln", Authors: []string{"C. Quill"}, Published: time.Date(2031, 2, 3, 0, 0, 0, 0, time.UTC),
				Updated: time.Date(2031, 2, 3, 0, 0, 0, 0, time.UTC),
			},
		}}}},
		"json": {"\xef\xbb\xbf " + jsonFeed, "application/feed+json",
			parsed{next: "https://j.example.org/2.json", posts: []post{{
				name: "j.example.org/a", address: address("https://j.example.org/a"),
				Said: Said{
					GUID: "1", Title: "A", Language: "de", Image: "https://tides.example.org/i.png", Content: "Text",
					Authors: []string{"D. Mole"}, Tags: []string{"x"}, Published: time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC),
				},
			}}}},
		"clicks, no dates, mixed encoding": {clicks, "text/xml; charset=utf-8", parsed{posts: []post{
			{name: "c.example.org/one", address: address("https://c.example.org/one"), Said: Said{Title: "One"}},
			{name: "c.example.org/two", address: address("https://c.example.org/two"), Said: Said{
				GUID: "https://c.example.org/two", Content: "Two. “quoted”", Description: "Two. “quoted”"}},
		}}},
		"no items": {`<rss version="2.0"><channel><title>x</title></channel></rss>`, "", parsed{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse([]byte(tt.data), tt.contentType, "https://tides.example.org/atom.xml")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(parsed{}, post{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for name, data := range map[string]string{
		"a page": "<!doctype html><html><body>Sign in</body></html>", "JSON of something else": `{"error": "x"}`,
		"nothing": "",
		"cut off": atomFeed[:900], "a sitemap": "<urlset></urlset>", "nested": "<rss><channel><item>" +
			strings.Repeat("<a:b>", 100_000),
	} {
		if _, err := parse([]byte(data), "", "https://tides.example.org/"); !errors.Is(err, ErrNoFeed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOddFeeds: each feed has one item, which is read in spite of how it is written.
func TestOddFeeds(t *testing.T) {
	const item = "<title>Köln</title><link>https://e.example/1</link>"
	rss := func(item string) string {
		return `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>x</title><item>` + item +
			`</item></channel></rss>`
	}
	for name, tt := range map[string]struct{ data, name, title, content string }{
		"a false encoding": {`<?xml version="1.0" encoding="utf-16"?>` + rss(item), "e.example/1", "Köln", ""},
		"an unknown one":   {`<?xml version="1.0" encoding="x-quay"?>` + rss(item), "e.example/1", "Köln", ""},
		"a server's words before it": {"<br />\n<b>Warning</b>: no tide in gate.php\n<?xml version='1.0'?>" + rss(item),
			"e.example/1", "Köln", ""},
		"an address of another vocabulary": {rss(`<title>A</title><atom:link rel="self" href="https://e.example/x"/>` +
			`<atom:link href="/2"/>`), "t.example/2", "A", ""},
		"CDATA": {rss("<title><![CDATA[A & <b>B</b>]]></title><link><![CDATA[ https://e.example/3?a=1&b=2 ]]></link>" +
			"<description><![CDATA[<p>One &hellip; two</p>]]></description>"), "e.example/3?a=1&b=2", "A & B", "One … two"},
		"entities that nobody declared": {rss("<title>A &mdash; B & C &quay;</title><guid>https://e.example/4</guid>"),
			"e.example/4", "A — B & C &quay;", ""},
		"addresses below a base": {`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://e.example/log/"><title>x</title>` +
			`<entry xml:base="2031/"><id>tag:1</id><title>A</title><link href="five.html"/><content type="html">` +
			`&lt;a href="six">B&lt;/a></content></entry></feed>`,
			"e.example/log/2031/five", "A", "[B](https://e.example/log/2031/six)"},
	} {
		got, err := parse([]byte(tt.data), "text/xml", "https://t.example/feeds/rss.xml")
		if err != nil || len(got.posts) != 1 {
			t.Errorf("%s: %d posts, %v", name, len(got.posts), err)
			continue
		}
		if p := got.posts[0]; p.name != tt.name || p.Title != tt.title || p.Content != tt.content {
			t.Errorf("%s: %q, %q, %q", name, p.name, p.Title, p.Content)
		}
	}
}

// TestDatesOfItems: publishing programs write dates of RSS in more ways than RFC
// 822 has, and an item must not lose its date or stand hours beside it.
func TestDatesOfItems(t *testing.T) {
	for written, want := range map[string]string{
		"Tue, 6 May 2031 07:08:09 +0200": "2031-05-06T05:08:09Z", "6 May 2031 07:08 +0200": "2031-05-06T05:08:00Z",
		"Tue,06 May 2031 07:08:09 GMT": "2031-05-06T07:08:09Z", "Tue, 6 May 2031 07:08:09 Z": "2031-05-06T07:08:09Z",
		"Tue, 06 May 2031 07:08:09 JST": "2031-05-05T22:08:09Z", "Tue, 6 May 31 07:08 CET": "2031-05-06T06:08:00Z",
		"Tue, 06 May 2031 07:08:09 +02:00": "2031-05-06T05:08:09Z", "Nov. 2nd, 2031": "2031-11-02T00:00:00Z",
		"Tue, 06 May 2031 07:08:09  +0000 (UTC)": "2031-05-06T07:08:09Z", "3/4/2031": "0001-01-01T00:00:00Z",
	} {
		const item = `<rss version="2.0"><channel><title>T</title><item><link>https://t.example.org/a</link>` +
			`<pubDate>%s</pubDate></item></channel></rss>`
		got, err := parse(fmt.Appendf(nil, item, written), "", "https://t.example.org/feed")
		if err != nil || len(got.posts) != 1 || got.posts[0].Published.Format(time.RFC3339) != want {
			t.Errorf("%q: %+v, want %s; %v", written, got.posts, want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		atomFeed, rdfFeed, jsonFeed, clicks, `<rss><channel><item><media:group><media:title>`,
		"<rss version='0.91'><channel><item><link/><guid>%zz</guid></item></channel></rss>",
		`{"version":"https://jsonfeed.org/version/1","items":[null,{"id":1}]}`,
		"<feed><entry><link href='javascript:x'/></entry></feed>",
		"<rss><channel><title><![CDATA[</title></channel></rss>",
		"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='::'><entry><id>&#0;</id></entry></feed>",
	} {
		f.Add([]byte(seed), "application/xml; charset=utf-8")
	}
	f.Fuzz(func(t *testing.T, data []byte, contentType string) {
		got, err := parse(data, contentType, "https://example.org/feed")
		if err != nil && !errors.Is(err, ErrNoFeed) {
			t.Error(err)
		}
		for _, p := range got.posts {
			if p.name == "" || p.address != nil && p.address.Host == "" || !utf8.ValidString(p.Content+p.Title+p.name) {
				t.Errorf("%+v", p)
			}
		}
	})
}
