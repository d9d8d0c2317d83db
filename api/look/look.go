// Package look is what the program's pages share: layout, styles and scripts, charts,
// the Markdown of strangers, and the policy that browsers apply. Pages are rendered on
// the server from html/template and are complete without scripts.
package look

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"almanac/api/server"
	"almanac/catalog/network"
)

// allowed is what a page may use: styles, scripts, pictures and answers of this
// server. HTML that a script inserts must come from the one policy of trusted
// types.
const allowed = "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
	"require-trusted-types-for 'script'; trusted-types almanac"

// Site is what all pages of a server have in common.
type Site struct {
	Name      string // what people call it
	PublicURL string // without a slash at the end; "" if it is not known
	Version   string // of the program
	About     string // a sentence on what the site is about, at its foot
	Nav       []Link // of the masthead, where a page has none of its own
	More      []Link // of the footer
	// Tool is what a site for operators is called. Such a site has no search field, no
	// feeds, and nothing for search engines.
	Tool string
	// Proposals says which statuses mean that a proposal is decided.
	Proposals network.Proposals
	// Files are a site's own, in a directory "assets"; its styles and modules are
	// loaded by every page. nil = none.
	Files fs.FS

	prefix string // path of the public URL
	assets map[string]*asset
	own    []string // names of those that are the site's own
	base   *template.Template
}

// Own returns the names of the site's own files with an extension.
func (s *Site) Own(extension string) []string {
	return slices.DeleteFunc(slices.Clone(s.own), func(name string) bool { return path.Ext(name) != extension })
}

// Link is an address of this server with what it is called.
type Link struct{ Title, Path string }

// Page is what the layout needs to know of a page.
type Page struct {
	Title       string // "" = that of the site
	Description string
	Path        string // address on this server
	Canonical   string // address of the page that this is a part of; "" = Path
	NoIndex     bool   // search engines leave it out
	Query       string // in the search field
	Home        bool   // the search field is in the page, not in the masthead
	Kind        string // of the content: website, article
	Refresh     int    // seconds until the page is asked for again; 0 = never
	Next        string // address of the next part
	Alternates  []Alternate
	LinkedData  any    // JSON-LD; nil = none
	Section     string // path of the section that the page is in; "" = Path
	Script      string // name of an asset that only this page loads; "" = none
	Nav         []Link // of the masthead; nil = that of the site
	State       []Link // of a tool, at the end of its masthead: what is live, who works here
	// Form is the one of a tool that was sent and refused; its templates know how to ask it.
	Form any
	// Filters are those of the search, which the search field keeps.
	Filters []Field
}

// Field is one of a form that nobody sees.
type Field struct{ Name, Value string }

// Alternate is another form of a page.
type Alternate struct{ Type, Path, Title string }

//go:embed layout.html
var layout string

//go:embed assets
var files embed.FS

// New prepares a site.
func New(s Site) (*Site, error) {
	if u, err := url.Parse(s.PublicURL); err == nil {
		s.prefix = strings.TrimSuffix(u.Path, "/")
	}
	var err error
	if s.assets, err = readAssets(files); err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	if s.Files != nil {
		own, err := readAssets(s.Files)
		if err != nil {
			return nil, fmt.Errorf("look: %w", err)
		}
		for _, name := range slices.Sorted(maps.Keys(own)) {
			s.assets[name] = own[name]
			s.own = append(s.own, name)
		}
	}
	if s.base, err = template.New("layout").Funcs(s.funcs()).Parse(layout); err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	return &s, nil
}

// Templates are pages by the names of their files without .html. Each defines
// the template main, which gets a View.
type Templates struct {
	site  *Site
	pages map[string]*template.Template
}

// View is what a template gets.
type View struct {
	Page
	Site *Site
	Data any
}

// Parse reads the templates of the files that a pattern names. What the shared file
// defines is known to all.
func (s *Site) Parse(files fs.FS, funcs template.FuncMap, shared, pages string) (*Templates, error) {
	base, err := template.Must(s.base.Clone()).Funcs(funcs).ParseFS(files, shared)
	if err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	names, err := fs.Glob(files, pages)
	if err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	t := &Templates{site: s, pages: map[string]*template.Template{}}
	for _, file := range names {
		page, err := template.Must(base.Clone()).ParseFS(files, file)
		if err != nil {
			return nil, fmt.Errorf("look: %w", err)
		}
		t.pages[strings.TrimSuffix(path.Base(file), ".html")] = page
	}
	return t, nil
}

// Render writes a page, or only one of the templates in it: part "main" is the
// page without its frame, "" all of it.
func (t *Templates) Render(name, part string, page Page, data any) ([]byte, error) {
	tmpl, ok := t.pages[name]
	if !ok {
		return nil, fmt.Errorf("look: there is no template %s", name)
	}
	if part == "" {
		part = "layout"
	}
	var out bytes.Buffer
	if err := tmpl.ExecuteTemplate(&out, part, View{page, t.site, data}); err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	return Inert(out.Bytes()), nil
}

// Inert removes the characters that change the direction of the text after them: with
// these a stranger can make a line appear to say something else.
func Inert(page []byte) []byte {
	if !bytes.Contains(page, []byte("\u202a")[:2]) && !bytes.Contains(page, []byte("\u2066")[:2]) {
		return page
	}
	return bytes.Map(func(r rune) rune {
		if r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return -1
		}
		return r
	}, page)
}

// Policy is what browsers hold the pages to.
func (s *Site) Policy() *server.Policy {
	return &server.Policy{Allow: allowed, PublicURL: s.PublicURL, Forms: s.Tool != ""}
}

// Local returns the path of an address on this server; any other unchanged.
func (s *Site) Local(address string) string {
	if rest, ok := strings.CutPrefix(address, s.PublicURL); ok && strings.HasPrefix(rest, "/") {
		return s.prefix + rest
	}
	return address
}

// At returns a path of this server as the browser sees it.
func (s *Site) At(path string) string { return s.prefix + path }

// Absolute returns a path of this server with its host.
func (s *Site) Absolute(path string) string { return s.PublicURL + path }

// Has reports whether there is a page of a name.
func (t *Templates) Has(name string) bool { return t.pages[name] != nil }

// AssetPath is where styles and scripts are. Their names have a hash of their
// content, so that browsers keep them for good.
const AssetPath = "/static/"

// asset is a file.
type asset struct {
	name string // with the hash: look.1f3a5b7c.css
	kind string
	body []byte
}

// readAssets reads the files.
func readAssets(files fs.FS) (map[string]*asset, error) {
	out := map[string]*asset{}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		body, err := fs.ReadFile(files, "assets/"+e.Name())
		if err != nil {
			return nil, err
		}
		if path.Ext(e.Name()) == ".css" {
			body = tight(body)
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(e.Name())
		a := &asset{
			name: strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:4]) + ext,
			kind: mime.TypeByExtension(ext), body: body,
		}
		if a.kind == "" {
			return nil, fmt.Errorf("%s has no media type", e.Name())
		}
		out[e.Name()] = a
	}
	return out, nil
}

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/`)
	loose    = regexp.MustCompile(`\s*([{};])\s*`)
)

// tight removes from a style sheet what only people read. No string in ours has
// braces, semicolons or comments.
func tight(css []byte) []byte {
	return loose.ReplaceAll(comments.ReplaceAll(css, nil), []byte("$1"))
}

// Asset returns the address of a file.
func (s *Site) Asset(name string) (string, error) {
	a, ok := s.assets[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return s.At(AssetPath + a.name), nil
}

// Assets serves the files.
func (s *Site) Assets() server.Route {
	byName := map[string]*asset{}
	for _, a := range s.assets {
		byName[a.name] = a
	}
	return server.Route{Method: http.MethodGet, Path: AssetPath + "{name...}",
		Serve: func(r *http.Request) (*server.Answer, error) {
			a, ok := byName[r.PathValue("name")]
			if !ok {
				return nil, &server.Refusal{Status: http.StatusNotFound, Message: "there is no such file"}
			}
			return &server.Answer{Type: a.kind, Body: a.body, Keep: server.Immutable}, nil
		}}
}

// Size is the length of a file as it is served, in bytes.
func (s *Site) Size(name string) int {
	if a, ok := s.assets[name]; ok {
		return len(a.body)
	}
	return 0
}
