package sample

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html/template"
	"slices"
	"time"
)

// article is the head of blog/SLUG.md.
type article struct {
	Title       string   `yaml:"title"`
	Author      string   `yaml:"author"`
	Published   string   `yaml:"published"`
	Tags        []string `yaml:"tags"`
	Description string   `yaml:"description"`
}

// journalPost is what the pages of the journal are made of.
type journalPost struct {
	article
	Slug string
	At   time.Time
	Text template.HTML
}

func (p journalPost) Address() string {
	return "https://blog.causeway.example.org/posts/" + p.Slug + "/"
}
func (p journalPost) Day() string   { return p.At.Format("January 2, 2006") }
func (p journalPost) Stamp() string { return p.At.Format(time.RFC3339) }
func (p journalPost) Mail() string  { return p.At.Format(time.RFC1123Z) }

var journalPage = template.Must(template.New("post").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{.Title}} | Causeway Journal</title>
<meta name="description" content="{{.Description}}">
<meta name="author" content="{{.Author}}">
<meta property="og:type" content="article">
<meta property="og:site_name" content="Causeway Journal">
<meta property="article:published_time" content="{{.Stamp}}">
{{range .Tags}}<meta property="article:tag" content="{{.}}">
{{end}}<link rel="canonical" href="{{.Address}}">
<link rel="alternate" type="application/rss+xml" href="/feed.xml">
</head>
<body>
<header><nav><a href="/">Causeway Journal</a> <a href="/feed.xml">Feed</a></nav></header>
<main>
<article>
<h1>{{.Title}}</h1>
<p class="byline">By {{.Author}}, {{.Day}}</p>
<div class="entry-content">
{{.Text}}
</div>
</article>
</main>
<footer><p>The Causeway Journal, its authors and its network are fictional.</p></footer>
</body>
</html>
`))

// journalFeed is RSS 2.0 as the journal's server writes it.
type journalFeed struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	DC      string   `xml:"xmlns:dc,attr"`
	Channel struct {
		Title       string     `xml:"title"`
		Link        string     `xml:"link"`
		Description string     `xml:"description"`
		Language    string     `xml:"language"`
		Built       string     `xml:"lastBuildDate"`
		Items       []feedItem `xml:"item"`
	} `xml:"channel"`
}

type feedItem struct {
	Title       string   `xml:"title"`
	Link        string   `xml:"link"`
	GUID        string   `xml:"guid"`
	Published   string   `xml:"pubDate"`
	Creator     string   `xml:"dc:creator"`
	Categories  []string `xml:"category"`
	Description string   `xml:"description"`
}

// journal writes the pages and the feed of the foundation's journal.
func (w *world) journal() error {
	const host = "web/blog.causeway.example.org/"
	var posts []journalPost
	for _, name := range below(w.files, "blog") {
		p, err := w.article(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var page bytes.Buffer
		if err := journalPage.Execute(&page, p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		w.out[host+"posts/"+p.Slug+"/index.html"] = page.Bytes()
		posts = append(posts, p)
	}
	slices.SortFunc(posts, func(a, b journalPost) int { return b.At.Compare(a.At) })
	f := journalFeed{Version: "2.0", DC: "http://purl.org/dc/elements/1.1/"}
	f.Channel.Title, f.Channel.Link, f.Channel.Language = "Causeway Journal", "https://blog.causeway.example.org/", "en"
	f.Channel.Description = "News and background of the (fictional) Causeway Network."
	for _, p := range posts {
		f.Channel.Items = append(f.Channel.Items,
			feedItem{p.Title, p.Address(), p.Address(), p.Mail(), p.Author, p.Tags, p.Description})
	}
	if len(posts) > 0 {
		f.Channel.Built = posts[0].Mail()
	}
	return w.xml(host+"feed.xml", f)
}

func (w *world) article(name string) (journalPost, error) {
	p := journalPost{Slug: base(name)}
	front, text, err := cutHead(w.files[name])
	if err != nil {
		return p, err
	}
	if err := decodeYAML(front, &p.article); err != nil {
		return p, err
	}
	if _, err := w.people.find(p.Author); err != nil {
		return p, err
	}
	if p.At, err = moment(p.Published, w.anchor); err != nil {
		return p, fmt.Errorf("published: %w", err)
	}
	body, err := markdownToHTML(string(text))
	p.Text = template.HTML(body) // our own file
	return p, err
}

// xml writes an answer.
func (w *world) xml(name string, value any) error {
	data, err := xml.MarshalIndent(value, "", "  ")
	w.out[name] = append([]byte(xml.Header), data...)
	return err
}
