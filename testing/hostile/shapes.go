//go:build linux

package hostile

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"almanac/ingest"
)

// shapes are pieces of texts that parsers make much of.
var shapes = []string{"# a\n", "a\n", "a ", "- a\n", "> ", "|a|a|\n", "[a](b) ", "<div>", "<b>a</b>", "&amp;", "*a* ",
	"`a` ", "a@b.example ", "https://a.example/a ", "CWP-0001 ", "\u0301", "a: [1,1]\n", "[[", "```\na\n```\n", "\n\n"}

// Text is a text of one shape, as long as it is asked for.
type Text struct {
	Name string
	Make func(bytes int) string
}

// Texts are texts of which whoever reads them may make more than they are long: of each
// shape; of names, dates and words that are each judged by what stands around them; and of
// many parts below one that is as long as all of them.
func Texts() []Text {
	var all []Text
	for _, s := range shapes {
		all = append(all, Text{fmt.Sprintf("%q", s), func(n int) string { return strings.Repeat(s, n/len(s)) }})
	}
	begun := func(name, begin, piece string) {
		all = append(all, Text{name, func(n int) string { return begin + strings.Repeat(piece, n/len(piece)) + "end.\n" }})
	}
	begun("dates", "You must upgrade ", "2031-05-06 and ")
	begun("dates without spaces", "You must upgrade ", "2031-05-06,")
	begun("months", "You must upgrade by ", "May 2031 ")
	begun("abbreviations", "You must upgrade ", "e.g. ")
	begun("other spaces", "You must upgrade ", "no.\u2003")
	begun("tabs", "You must upgrade ", "a.\t")
	begun("blanks between dots", "You must upgrade. ", "a.        ")
	begun("issues", "See ", "a/b#12, ")
	begun("one issue after the other", "See ", "#12 ")
	begun("mail addresses", "Ask ", "jane (at) site (dot) org ")
	below := func(name, begin, long, after, piece string) {
		all = append(all, Text{name, func(n int) string {
			return begin + strings.Repeat(long, n/2/len(long)) + after + strings.Repeat(piece, n/2/len(piece))
		}})
	}
	below("statements below a long heading", "# Breaking ", "changes must ", "\n\n", "- a b c d\n")
	below("items below a long item", "- You must upgrade ", "now ", "\n", "  - a b c d\n")
	below("items below a long line", "You must upgrade ", "now ", ":\n\n", "- you must upgrade\n")
	numbered := func(name, format string) {
		all = append(all, Text{name, func(n int) string {
			var b strings.Builder
			for i := 1; b.Len() < n; i++ {
				fmt.Fprintf(&b, format, i)
			}
			return b.String()
		}})
	}
	numbered("proposals", "CWP-%d ")
	numbered("a list of proposals", "CWPs 1, %d, ")
	numbered("issues of many numbers", "a/b#%d ")
	numbered("statements of many names", "- **a%[1]d:** You must upgrade a%[1]d.\n")
	numbered("headings of many names", "# Removed a%[1]d\n\nIt is a%[1]d.\n\n")
	return all
}

// worldFile has the sources of a whole network: its network.yaml, the files that these read, and below web/HOST/PATH
// what servers answer.
const worldFile = "../../testing/hostile/testdata/world.zip"

// world opens it once: an archive is a file system.
var world = sync.OnceValues(func() (*zip.ReadCloser, error) { return zip.OpenReader(worldFile) })

// swelling makes sources of the world as large as they can be: the largest file or
// answer of each directory has one text, or one list, that fills it to the bound.
type swelling struct {
	kind  string
	limit int // bytes of a file or answer, which its reader takes
	list  bool
	most  int      // files or answers that are swollen, each by another shape
	lists int      // the most of lists: more are a corpus that is too large; 0: any number
	from  []string // directories of files, for kinds that read them; none: servers
}

// swellings are of every kind whose answers are texts or lists; others are among the
// sources.
var swellings = []swelling{
	{kind: "calendar", limit: 8 << 20, from: []string{"calendar"}},
	{kind: "curated", limit: 8 << 20, from: []string{"curated"}},
	{kind: "docs", limit: ingest.MaxText, from: []string{"docs"}},
	{kind: "feed", limit: 8 << 20},
	{kind: "forge", limit: 32 << 20, lists: 2},
	{kind: "forum", limit: 32 << 20},
	{kind: "ledger", limit: 64 << 20, lists: 3},
	{kind: "mail", limit: 64 << 20},
	{kind: "market", limit: 32 << 20},
	{kind: "packages", limit: 64 << 20},
	{kind: "proposals", limit: ingest.MaxText, from: []string{"cips"}},
	{kind: "site", limit: 4 << 20},
	{kind: "snapshot", limit: ingest.MaxText, from: []string{"docs", "release-notes", "ecosystem"}},
	{kind: "video", limit: 8 << 20},
}

// Sources are all. The largest of each kind are last: of texts so many answers are as
// large as they can be, each of another shape, and of lists as many as a gibibyte indexes.
func Sources(tb testing.TB, most int) []Source {
	tb.Helper()
	all := slices.Clone(sources)
	var network struct {
		Sources []struct {
			Options map[string]any
		}
	}
	files, err := world()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := fs.ReadFile(files, "network.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &network)
	}
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range swellings {
		options := map[string]any{}
		for _, src := range network.Sources {
			if src.Options["connector"] == s.kind {
				options = src.Options
			}
		}
		for _, list := range []bool{false, true} {
			s := s
			s.list, s.most = list, most
			if list {
				s.most = min(most, cmp.Or(s.lists, most))
			}
			what := map[bool]string{false: "texts", true: "lists"}[list]
			all = append(all, Source{Name: fmt.Sprintf("the largest %s of %s", what, s.kind), Kind: s.kind, Long: true,
				world: func(tb testing.TB, dir string) map[string]any { return s.start(tb, files, dir, options) }})
		}
	}
	return all
}

// start makes files and servers, and returns the options that lead to them.
func (s swelling) start(tb testing.TB, files fs.FS, dir string, named map[string]any) map[string]any {
	tb.Helper()
	if s.from != nil {
		s.write(tb, files, dir)
	}
	var servers []string
	if s.from == nil {
		servers = s.serve(tb, files)
	}
	text, err := yaml.Marshal(named)
	if err != nil {
		tb.Fatal(err)
	}
	var options map[string]any
	if err := yaml.Unmarshal([]byte(strings.NewReplacer(servers...).Replace(string(text))), &options); err != nil {
		tb.Fatal(err)
	}
	delete(options, "connector")
	switch s.kind {
	case "calendar":
		options["file"] = filepath.Join(dir, "calendar/operations.yaml")
	case "curated":
		options["dir"] = filepath.Join(dir, "curated")
	case "docs":
		options["folder"] = filepath.Join(dir, "docs")
	case "proposals":
		if err := git(dir, "init -q -b main; git add .; git commit -q -m x"); err != nil {
			tb.Fatal(err)
		}
		options = map[string]any{"repository": dir}
	case "snapshot":
		options = map[string]any{"dir": dir, "content_types": map[string]any{"doc_page": "doc", "release_note": "release",
			"ecosystem_readme": "repo"}}
	}
	return options
}

// write copies the files below some directories, the largest of each swollen.
func (s swelling) write(tb testing.TB, files fs.FS, dir string) {
	tb.Helper()
	n := 0
	for _, from := range append(s.from, ".") {
		err := fs.WalkDir(files, from, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if from == "." && name != "." {
					return fs.SkipDir
				}
				return err
			}
			data, err := fs.ReadFile(files, name)
			if err != nil || from == "." && (s.kind != "snapshot" || name != "manifest.jsonl") {
				return err
			}
			if name == "manifest.jsonl" {
				data = regexp.MustCompile(`,? *"sha256": *"[^"]*"`).ReplaceAll(data, nil)
			} else if n < s.most && name == largest(files, path.Dir(name)) {
				data = s.swell(path.Ext(name), data, shapes[n%len(shapes)])
				n++
			}
			to := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return err
			}
			return os.WriteFile(to, data, 0o600)
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// largest is the largest file of a directory.
func largest(files fs.FS, dir string) (name string) {
	list, _ := fs.ReadDir(files, dir) // none that can be read is none
	var size int64
	for _, d := range list {
		if info, err := d.Info(); err == nil && !d.IsDir() && info.Size() > size {
			name, size = path.Join(dir, d.Name()), info.Size()
		}
	}
	return name
}

// serve starts the servers and returns their addresses, each after its name.
func (s swelling) serve(tb testing.TB, files fs.FS) (addresses []string) {
	tb.Helper()
	hosts, err := fs.ReadDir(files, "web")
	if err != nil {
		tb.Fatal(err)
	}
	var rename *strings.Replacer
	var mu sync.Mutex
	swollen := map[string]int{} // guarded by mu
	for _, host := range hosts {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, body := answer(files, path.Join("web", host.Name(), r.URL.Path), r)
			if name == "" {
				http.NotFound(w, r)
				return
			}
			if r.Method == http.MethodGet && name == largest(files, path.Dir(name)) {
				mu.Lock()
				k, known := swollen[name]
				if !known {
					k = len(swollen)
					swollen[name] = k
				}
				mu.Unlock()
				if k < s.most {
					body = s.swell(path.Ext(name), body, shapes[k%len(shapes)])
				}
			}
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			_, _ = rename.WriteString(w, string(body))
		}))
		tb.Cleanup(server.Close)
		addresses = append(addresses, "https://"+host.Name(), server.URL)
	}
	rename = strings.NewReplacer(addresses...)
	return addresses
}

// answer is the file for a request to a path, whatever its query: a page may be a directory of others. A question in
// GraphQL has the whole document of the repository that its variables name.
func answer(files fs.FS, at string, r *http.Request) (name string, body []byte) {
	var question struct{ Variables struct{ Owner, Name string } }
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&question) == nil {
		at = path.Join(at, question.Variables.Owner, question.Variables.Name)
	}
	for _, name := range []string{at, at + ".json", at + "/index.html"} {
		if body, err := fs.ReadFile(files, name); err == nil {
			return name, body
		}
	}
	return "", nil
}

var (
	run      = regexp.MustCompile(`[^<>&\n"]{20,}`)
	elements = map[string]*regexp.Regexp{
		".xml":  regexp.MustCompile(`(?s)<(?:item|entry|url)>.*?</(?:item|entry|url)>`),
		".mbox": regexp.MustCompile(`(?s)\nFrom .*$`), ".yaml": regexp.MustCompile(`(?s)\n *- [^\n]*\n.*$`),
		".vtt": regexp.MustCompile(`(?s)\n\n[^\n]*-->.*$`),
	}
	line = regexp.MustCompile(`\n[^\n]+\n?$`)
	name = regexp.MustCompile(`"(id|number|name|key|slug|tag_name|version|party_id|contract_id|html_url|url)":("[^"]*|\d+)`)
)

// swell fills a file to the limit: its longest text with a shape, or its last list
// with its last entry.
func (s swelling) swell(extension string, data []byte, shape string) []byte {
	room := s.limit - len(data) - 1024
	if extension == ".json" {
		return s.swellJSON(data, shape, room)
	}
	if extension == ".pdf" || room < 0 {
		return data
	}
	if s.list {
		pattern := elements[extension]
		if pattern == nil {
			pattern = line
		}
		if at := pattern.FindIndex(data); at != nil && at[1] > at[0] {
			return slices.Concat(data[:at[1]], bytes.Repeat(data[at[0]:at[1]], room/(at[1]-at[0])), data[at[1]:])
		}
		return data
	}
	if extension == ".xml" || extension == ".html" {
		shape = html.EscapeString(shape)
	}
	if extension == ".yaml" {
		shape = strings.NewReplacer("\n", " ", ": ", ":", "#", "", "`", "").Replace(shape)
	}
	longest := []int{0, 0}
	for _, at := range run.FindAllIndex(data, -1) {
		if at[1]-at[0] > longest[1]-longest[0] {
			longest = at
		}
	}
	return slices.Concat(data[:longest[1]], bytes.Repeat([]byte(shape), room/max(len(shape), 1)), data[longest[1]:])
}

func (s swelling) swellJSON(data []byte, shape string, room int) []byte {
	var tree any
	if json.Unmarshal(data, &tree) != nil {
		return data
	}
	if s.list {
		list := longestList(tree)
		if len(list) == 0 {
			return data
		}
		last, _ := json.Marshal(list[len(list)-1]) // it was decoded
		whole, _ := json.Marshal(tree)
		at := bytes.LastIndex(whole, last)
		if at < 0 {
			return data
		}
		var more bytes.Buffer
		for i := 0; more.Len() < room-2*len(last); i++ {
			more.Write(name.ReplaceAll(last, fmt.Appendf(nil, `"$1":${2}%d`, i)))
			more.WriteByte(',')
		}
		return slices.Concat(whole[:at], more.Bytes(), whole[at:])
	}
	text := longestText(tree)
	whole, _ := json.Marshal(tree)
	quoted, _ := json.Marshal(text)
	piece, _ := json.Marshal(shape)
	at := bytes.Index(whole, quoted)
	if at < 0 || len(text) < 20 {
		return data
	}
	piece = piece[1 : len(piece)-1]
	return slices.Concat(whole[:at+len(quoted)-1], bytes.Repeat(piece, room/len(piece)), whole[at+len(quoted)-1:])
}

// longestList is the list of a JSON value with the most entries.
func longestList(v any) (list []any) {
	switch v := v.(type) {
	case []any:
		list = v
		for _, e := range v {
			if l := longestList(e); len(l) > len(list) {
				list = l
			}
		}
	case map[string]any:
		for _, e := range v {
			if l := longestList(e); len(l) > len(list) {
				list = l
			}
		}
	}
	return list
}

// longestText is the longest string of a JSON value.
func longestText(v any) (text string) {
	each := func(e any) {
		if t := longestText(e); len(t) > len(text) {
			text = t
		}
	}
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, e := range v {
			each(e)
		}
	case map[string]any:
		for _, e := range v {
			each(e)
		}
	}
	return text
}
