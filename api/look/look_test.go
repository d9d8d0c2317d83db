package look_test

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/net/html"

	"almanac/api/look"
)

func TestMarkdown(t *testing.T) {
	for _, tt := range []struct{ name, markdown, want string }{
		{"emphasis", "*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <del>c</del> <code>d</code></p>\n"},
		{"HTML is its words", "a <b onclick=x>b</b> <script>c</script>", "<p>a b c</p>\n"},
		{"a block of HTML", "<div style=x>\nover\n<script>alert(1)</script>\n</div>\n", "<p>over</p>\n"},
		{"a link", "[a](https://b.example/c)",
			`<p><a href="https://b.example/c" rel="nofollow noopener ugc">a</a></p>` + "\n"},
		{"mail", "<a@b.example>", `<p><a href="mailto:a@b.example" rel="nofollow noopener ugc">a@b.example</a></p>` +
			"\n"},
		{"a link that acts", "[a](javascript:x) [b](data:text/html,x) [c](vbscript:x)", "<p>a b c</p>\n"},
		{"a disguised one", "[a](\tJaVa&#115;cript:x)", "<p>a</p>\n"},
		{"a relative link", "[a](../b.md#c)",
			`<p><a href="https://docs.example/b.md#c" rel="nofollow noopener ugc">a</a></p>` + "\n"},
		{"a link in the page", "[a](#b)", `<p><a href="#s-b">a</a></p>` + "\n"},
		{"a picture", "![a](https://b.example/c.png)",
			`<p><a href="https://b.example/c.png" rel="nofollow noopener ugc">Picture: a</a></p>` + "\n"},
		{"a picture in a link", "[![](x.png)](https://b.example)",
			`<p><a href="https://b.example" rel="nofollow noopener ugc">Picture: without a description</a></p>` + "\n"},
		{"aligned cells have no style", "|a|\n|-:|\n|1|",
			"<table tabindex=\"0\">\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n" +
				"<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n"},
		{"code", "```html\n<script>\n```", "<pre tabindex=\"0\"><code>&lt;script&gt;\n</code></pre>\n"},
		{"a heading that repeats the title", "# The Guide\n\na", "<p>a</p>\n"},
		{"a heading ends once", "## A *b*\n\nc",
			"<h2 id=\"s-a-b\"><a class=\"anchor\" href=\"#s-a-b\">A b</a></h2>\n<p>c</p>\n"},
	} {
		got, _ := look.Markdown(look.Text{
			Markdown: tt.markdown, Base: "https://docs.example/guide/a.md", Prefix: "s-", Title: "The guide",
		})
		if string(got) != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestNamesAreLinks holds where a name in a text becomes a link, and where it does not, and
// that the first place that names a page can be led to.
func TestNamesAreLinks(t *testing.T) {
	const name, id, to = "CWP_7", ` id="s-to:/p?a&amp;b"`, ` href="/p?a&amp;b" title="A &lt;title&gt;">CWP_7</a>`
	for markdown, want := range map[string]string{
		"see CWP_7 and CWP_7,\nCWP_7 now": "<p>see LINK and AGAIN,\nAGAIN now</p>\n",
		"**CWP_7**":                       "<p><strong>LINK</strong></p>\n",
		"> - CWP_7":                       "<blockquote>\n<ul>\n<li>LINK</li>\n</ul>\n</blockquote>\n",
		"|CWP_7|\n|-|":                    "<table tabindex=\"0\">\n<thead>\n<tr>\n<th>LINK</th>\n</tr>\n</thead>\n</table>\n",
		"[CWP_7](mailto:a@b.example)": `<p><a href="mailto:a@b.example" rel="nofollow noopener ugc"><span` + id +
			">CWP_7</span></a></p>\n",
		"`CWP_7`":         "<p><code>CWP_7</code></p>\n",
		"    CWP_7":       "<pre tabindex=\"0\"><code>CWP_7\n</code></pre>\n",
		"# CWP_7":         `<h2 id="s-cwp_7"><a class="anchor" href="#s-cwp_7">CWP_7</a></h2>` + "\n",
		"![CWP_7](x.png)": "<p>Picture: CWP_7</p>\n",
	} {
		var names []look.Name
		for at := strings.Index(markdown, name); at >= 0; {
			names = append(names, look.Name{Start: at, End: at + len(name), Path: "/p?a&b", Title: "A <title>"})
			next := strings.Index(markdown[at+1:], name)
			if next < 0 {
				break
			}
			at += 1 + next
		}
		want = strings.NewReplacer("LINK", "<a"+id+to, "AGAIN", "<a"+to).Replace(want)
		if got, _ := look.Markdown(look.Text{Markdown: markdown, Prefix: "s-", Names: names}); string(got) != want {
			t.Errorf("%q: %s\nwant %s", markdown, got, want)
		}
	}
	wrong := []look.Name{{Start: -3, End: 2}, {Start: 1, End: 1}, {Start: 2, End: 99}}
	if got, _ := look.Markdown(look.Text{Markdown: "a CWP", Names: wrong}); string(got) != "<p>a CWP</p>\n" {
		t.Errorf("%s", got)
	}
}

func TestHeadingsBeginAtTheSecondLevel(t *testing.T) {
	_, got := look.Markdown(look.Text{Prefix: "s-",
		Markdown: "### One\n\n##### Two {#zwei}\n\n### One\n\n#### `Three` *x*"})
	want := []look.Heading{{"s-one", "One", 2}, {"s-zwei", "Two", 3}, {"s-one-1", "One", 2},
		{"s-three-x", "Three x", 3}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWhatIsNestedDeeplyIsShownAsItsWords(t *testing.T) {
	nested := strings.Repeat("**a *b ", 2_000) + "tide" + strings.Repeat("* b**", 2_000)
	for name, text := range map[string]string{
		"quotes": strings.Repeat(">", 20_000) + " tide", "lists": strings.Repeat("* - 1. ", 3_000) + "tide",
		"both": strings.Repeat("> - ", 5_000) + "tide", "emphasis": nested,
		"links in emphasis": strings.Repeat("*a ", 2_000) + "[tide](https://site.example)" + strings.Repeat(" a*", 2_000),
		"a table in quotes": strings.Repeat(strings.Repeat(">", 100)+"|tide\n", 2) + strings.Repeat(">", 100) + "|-",
	} {
		page, _ := look.Markdown(look.Text{Markdown: text})
		if _, err := html.Parse(strings.NewReader(string(page))); err != nil || !strings.Contains(string(page), "tide") {
			t.Errorf("%s: %v in %.200s", name, err, page)
		}
	}
	if page, _ := look.Markdown(look.Text{Markdown: strings.Repeat("> ", 30) + "tide"}); strings.Count(string(page),
		"<blockquote>") != 30 {
		t.Errorf("thirty quotes: %s", page)
	}
}

// FuzzMarkdown holds that no text makes more than elements that say something.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a {#b}\n[c](d)", "<script>", "![a](javascript:b)", "|a|\n|-|\n<b>", "[a]: x\n[a]",
		"<svg/onload=x>"} {
		f.Add(s)
	}
	allowed := strings.Fields(
		"p a em strong del code pre h2 h3 h4 h5 h6 ul ol li blockquote hr br table thead tbody tr th td")
	attributes := strings.Fields("href rel id class tabindex start align title")
	f.Fuzz(func(t *testing.T, s string) {
		text := look.Text{Markdown: s, Base: "https://a.example/b", Prefix: "s-"}
		for i := 0; i+2 <= len(s); i += 3 {
			text.Names = append(text.Names, look.Name{Start: i, End: i + 2, Path: "/p", Title: s})
		}
		out, _ := look.Markdown(text)
		z := html.NewTokenizer(strings.NewReader(string(out)))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			token := z.Token()
			if token.Type == html.CommentToken || token.Type == html.DoctypeToken {
				t.Fatalf("%q has %s", s, token)
			}
			if token.Type == html.TextToken {
				continue
			}
			if !slices.Contains(allowed, token.Data) {
				t.Fatalf("%q has %s", s, token)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Key) || a.Key == "id" && !strings.HasPrefix(a.Val, "s-") {
					t.Fatalf("%q has %s", s, token)
				}
				u, err := url.Parse(a.Val)
				if a.Key == "href" && (err != nil ||
					!slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme)) {
					t.Fatalf("%q links to %s", s, a.Val)
				}
			}
		}
	})
}

func TestMarked(t *testing.T) {
	for _, tt := range []struct {
		text  string
		spans [][2]int
		want  string
	}{
		{"a <b> c", [][2]int{{2, 5}}, "a <mark>&lt;b&gt;</mark> c"},
		{"déjà", [][2]int{{1, 3}, {2, 4}, {4, 99}}, "d<mark>é</mark>jà"},
		{"é", [][2]int{{1, 2}, {-1, 1}}, "é"},
		{"ab", [][2]int{{1, 2}, {0, 1}}, "a<mark>b</mark>"},
	} {
		if got := look.Marked(tt.text, tt.spans); string(got) != tt.want {
			t.Errorf("%q %v: %s, want %s", tt.text, tt.spans, got, tt.want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"**Who** `pays` | [cip-4](a/b.md) | it\n\n- x": "Who pays cip-4 it x", "a*b*c &amp; d": "abc & d", "": "",
	} {
		if got := look.Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestInert(t *testing.T) {
	if got := look.Inert([]byte("a\u202eb\u2066c “d” \u200f")); string(got) != "abc “d” \u200f" {
		t.Errorf("%q", got)
	}
}

func TestLine(t *testing.T) {
	type row struct {
		At    *time.Time
		Value *float64
	}
	day := func(n int) *time.Time { return new(time.Date(2031, 1, n, 0, 0, 0, 0, time.UTC)) }
	rows := []row{{day(3), new(30.0)}, {day(2), nil}, {nil, new(20.0)}, {day(1), new(10.0)}}
	points := look.Series(rows, func(r row) *time.Time { return r.At }, func(r row) any { return r.Value })
	if len(points) != 2 || points[0].Value != 10 {
		t.Fatal(points)
	}
	chart := string(look.Chart{Name: `A "<b>"`, Points: points, Format: "usd"}.Draw())
	for _, want := range []string{"A &#34;&lt;b&gt;&#34;: from $10 on 1 Jan 2031 to $30 on 3 Jan 2031", ">$30</text>",
		`class="stroke"`} {
		if !strings.Contains(chart, want) {
			t.Errorf("no %s in %s", want, chart)
		}
	}
	if strings.Contains(chart, "style=") || (look.Chart{Points: points[:1]}).Draw() != "" {
		t.Error("a style, or a chart of one point")
	}
}

// TestChartsClaimNoProportion holds that an area is filled from zero only, whatever
// the width is, and that what is known within an interval is drawn as a band.
func TestChartsClaimNoProportion(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2031, 1, 1, hour, 0, 0, 0, time.UTC) }
	line := func(values ...float64) (out []look.Point) {
		for i, v := range values {
			out = append(out, look.Point{At: at(i), Value: v})
		}
		return out
	}
	measured := line(.66, .67)
	measured[0].Low, measured[0].High = .6, .7
	for name, tt := range map[string]struct {
		chart     look.Chart
		has, lack []string
	}{
		"from zero": {look.Chart{Points: line(1, 9, 5)}, []string{`class="area"`, ">9</text>"}, []string{`class="band"`}},
		"truncated": {look.Chart{Points: line(69, 71)}, []string{">69</text>"}, []string{`class="area"`}},
		"flat":      {look.Chart{Points: line(61, 61)}, []string{`class="area" d="M0 22.0L1000 22.0L`}, nil},
		"negative":  {look.Chart{Points: line(-3, -3)}, nil, []string{`class="area"`, "NaN"}},
		"a share":   {look.Chart{Points: line(.661, .667), Top: 1}, []string{`class="area"`}, nil},
		"an hour":   {look.Chart{Points: line(1, 2)}, []string{">1 Jan 2031, 00:00</text>", ">01:00 UTC</text>"}, nil},
		"intervals": {look.Chart{Points: measured, Dots: true}, []string{`class="band"`}, []string{`class="area"`}},
		"publishing": {look.Chart{Points: line(1, 2, 3), Marks: []look.Mark{{At: at(1), Name: "<r2>"}, {At: at(5), Name: "later"}}},
			[]string{`x1="50%" x2="50%"`, "&lt;r2&gt;</text>"}, []string{"later"}},
	} {
		drawn := string(tt.chart.Draw())
		for _, want := range tt.has {
			if !strings.Contains(drawn, want) {
				t.Errorf("%s: no %s in %s", name, want, drawn)
			}
		}
		for _, not := range append(tt.lack, "NaN", "style=") {
			if strings.Contains(drawn, not) {
				t.Errorf("%s: %s in %s", name, not, drawn)
			}
		}
		outer, plot, _ := strings.Cut(drawn, "<svg width")
		if plot, _, _ = strings.Cut(plot, "</svg>"); strings.Contains(outer, "viewBox") || strings.Contains(plot, "<text") {
			t.Errorf("%s: texts are stretched in %s", name, drawn)
		}
	}
}

// TestAssets holds the sizes of what every page loads, uncompressed.
func TestAssets(t *testing.T) {
	s, err := look.New(look.Site{Name: "Harbour", PublicURL: "https://kb.example/almanac"})
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]int{"look.css": 28_000, "site.js": 15_000} {
		address, err := s.Asset(name)
		if err != nil || !strings.HasPrefix(address, "/almanac/static/") {
			t.Fatal(address, err)
		}
		if n := s.Size(name); n > most || n == 0 {
			t.Errorf("%s has %d bytes, at most %d", name, n, most)
		}
	}
	if _, err := s.Asset("none.css"); err == nil {
		t.Error("an asset that is not there")
	}
	if got := s.Local("https://kb.example/almanac/cips/1"); got != "/almanac/cips/1" {
		t.Errorf("a page of ours is at %s", got)
	}
	if got := s.Local("https://other.example/cips/1"); got != "https://other.example/cips/1" {
		t.Errorf("another's is at %s", got)
	}
}

func TestRender(t *testing.T) {
	s, err := look.New(look.Site{Name: "Harbour"})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := s.Parse(fstest.MapFS{
		"shared.html": {Data: []byte(`{{define "greeting"}}Ahoy, {{.}}{{end}}`)},
		"hello.html":  {Data: []byte(`{{define "main"}}<p>{{template "greeting" .Data}}</p>{{end}}`)},
	}, nil, "shared.html", "*.html")
	if err != nil {
		t.Fatal(err)
	}
	page, err := pages.Render("hello", "", look.Page{
		Title: "</title><b>", LinkedData: map[string]string{"name": "</script><script>alert(1)</script>"},
	}, "<i>")
	if err != nil || !bytes.Contains(page, []byte("<p>Ahoy, &lt;i&gt;</p>")) ||
		bytes.Contains(page, []byte("</title><b>")) ||
		bytes.Count(page, []byte("<script")) != 2 {
		t.Errorf("%v\n%s", err, page)
	}
	part, err := pages.Render("hello", "main", look.Page{}, "you")
	if err != nil || string(part) != "<p>Ahoy, you</p>" {
		t.Errorf("%v %s", err, part)
	}
	if _, err := pages.Render("none", "", look.Page{}, nil); err == nil {
		t.Error("a page that is not there")
	}
}
