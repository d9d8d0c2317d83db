package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// commands records what the command line prints.
func (p *program) commands(network string, found items) error {
	p.here = strings.NewReplacer(p.data, "DATA", p.dir, "DIR", p.shared, "SHARED")
	lines, err := requests("commands-" + network + ".txt")
	if err != nil {
		return err
	}
	for _, line := range lines {
		args := strings.Split(p.named(line), " ")
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		out, code, err := p.run(append(args, p.args...)...)
		if err != nil {
			return err
		}
		found["$ almanac "+line] = p.plain(fmt.Sprintf("%s(exit %d)\n", columns.ReplaceAllString(out, " "), code))
	}
	return nil
}

// ask records the answers of a server, its operations and its pages.
func (p *program) ask(network, address, dashboard string, found items) error {
	p.here = strings.NewReplacer(address, "HOST", dashboard, "DASHBOARD", p.data, "DATA", p.dir, "DIR", p.shared, "SHARED")
	lines, err := requests("requests-" + network + ".txt")
	if err != nil {
		return err
	}
	for _, line := range lines {
		method, rest, _ := strings.Cut(line, " ")
		target, sent, _ := strings.Cut(rest, " ")
		if method == "tool" {
			sent = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, target, sent)
			method, target = http.MethodPost, "/mcp"
		}
		text, err := p.answer(address, method, p.named(target), p.named(sent))
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		found[line] = text
	}
	tools := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	if err := p.each(address, "POST", "/mcp?toolsets=all&schemas=1", tools, "tools", found); err != nil {
		return err
	}
	if err := p.each(address, "GET", "/api/v1/openapi.json", "", "paths", found); err != nil {
		return err
	}
	if err := p.crawl("http://"+address, "page", []string{"/"}, found); err != nil {
		return err
	}
	return p.crawl("http://"+dashboard, "dashboard", []string{"/"}, found)
}

// requests reads a list of testdata.
func requests(name string) ([]string, error) {
	root, err := top()
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(root, "testing", "contract", "testdata", name))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(string(raw), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "#")
	}), nil
}

// answer asks and returns the status and the normalised answer.
func (p *program) answer(address, method, target, sent string) (string, error) {
	r, err := http.NewRequest(method, "http://"+address+target, strings.NewReader(sent))
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", "application/json, text/event-stream, */*;q=.1")
	if sent != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	text, err := body(res)
	if err != nil {
		return "", err
	}
	return p.plain(fmt.Sprintf("%d %s\n%s", res.StatusCode, res.Header.Get("Content-Type"), pretty(text))), nil
}

// pretty prints JSON by lines.
func pretty(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return text
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if e.Encode(v) != nil {
		return text
	}
	return out.String()
}

// each records the members of a described list, by name, as one item each.
func (p *program) each(address, method, target, sent, list string, found items) error {
	text, err := p.answer(address, method, target, sent)
	if err != nil {
		return err
	}
	_, text, _ = strings.Cut(text, "\n")
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if inner, ok := answer["result"]; ok {
		answer = nil
		if err := json.Unmarshal(inner, &answer); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	var named []struct{ Name string }
	var rows []json.RawMessage
	if json.Unmarshal(answer[list], &rows) == nil && json.Unmarshal(answer[list], &named) == nil {
		for i, row := range rows {
			found[target+" "+named[i].Name] = string(row)
		}
	} else {
		var by map[string]json.RawMessage
		if err := json.Unmarshal(answer[list], &by); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		for name, row := range by {
			found[target+" "+name] = string(row)
		}
	}
	delete(answer, list)
	for name, rest := range answer {
		found[target+" "+list+" beside "+name] = string(rest)
	}
	return nil
}

// mostPages bounds the pages of one address that are read.
const mostPages = 1500

// crawl reads pages and what they lead to, and records what people see and can do there.
func (p *program) crawl(base, name string, queue []string, found items) error {
	seen := map[string]bool{}
	for read := 0; len(queue) > 0 && read < mostPages; read++ {
		target := queue[0]
		queue = queue[1:]
		r, err := http.NewRequest(http.MethodGet, base+target, nil)
		if err != nil {
			return err
		}
		r.Header.Set("Accept", "text/html")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return err
		}
		text, err := body(res)
		if err != nil {
			return err
		}
		var links []string
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			if text, links, err = visible(text); err != nil {
				return err
			}
		} else {
			text = res.Header.Get("Location")
		}
		if !momentary(name, target) {
			found[p.plain(name+" "+target)] = p.plain(fmt.Sprintf("%d\n%s", res.StatusCode, text))
		}
		for _, link := range links {
			link, _, _ = strings.Cut(strings.TrimPrefix(link, base), "#")
			if strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "//") && !seen[link] && !strings.Contains(link, "?") {
				seen[link] = true
				queue = append(queue, link)
			}
		}
	}
	return nil
}

// momentary reports whether a page says what the process does or has counted at that moment.
func momentary(name, target string) bool {
	if name == "page" {
		return target == "/api/v1/reference/list_popular_searches"
	}
	return strings.HasPrefix(target, "/debug/") || target == "/metrics" || target == "/operations"
}

// visible returns a page as lines: its texts by block, the targets of its links and its fields.
func visible(page string) (text string, links []string, err error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		switch n.Type {
		case html.TextNode:
			if n.Parent.Data != "script" && n.Parent.Data != "style" {
				b.WriteString(strings.Join(strings.Fields(n.Data), " ") + "\n")
			}
		case html.ElementNode:
			for _, a := range n.Attr {
				if (a.Key == "href" || a.Key == "action" || a.Key == "name") && n.Data != "link" && n.Data != "meta" {
					b.WriteString("[" + n.Data + " " + a.Val + "]\n")
				}
				if a.Key == "href" && n.Data == "a" {
					links = append(links, a.Val)
				}
			}
		}
	}
	return blank.ReplaceAllString(b.String(), "\n"), links, nil
}

var (
	blank   = regexp.MustCompile(`\n\s*\n+`)
	columns = regexp.MustCompile(` {2,}|\b\d+(\.\d+)?m?s\b`) // of tables, and times
	named   = regexp.MustCompile(`<[a-z_]+:[^>"]+>`)
	numbers = regexp.MustCompile(`\b1\d{6}\b`)
)

// passing is what differs from one run to the next, and what is recorded in its place.
var passing = []struct {
	of *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`T03:[45]\d:\d\d(\.\d+)?Z|\b03:[45]\d UTC|2026-08-25 03:[45]\d`), "03:4x"}, // since the program started
	{regexp.MustCompile(`\b\d+(\.\d+)? (ms|s|seconds?|milliseconds?|GB)( ago)?\b|(?m) \d+\.\d+ \d+\.\d+$`), "SOME TIME"},
	{regexp.MustCompile(`(?m)^(.{200}).* …$`), "$1 …"}, // cut where the length of a time decides
	{regexp.MustCompile(`"(took_ms|age_seconds|uptime_seconds)": [\d.]+`), `"$1": 0`},
	{regexp.MustCompile(`\b(\d+\.\d+\.\d+)\+[0-9a-f]{12}(-modified)?`), "$1"}, // the commit of the build
	{regexp.MustCompile(`\bmember-[0-9a-f]{12}\b`), "member-X"},
	{regexp.MustCompile(`\bconfig=\w+`), "config=X"}, // has the address
}

func settled(text string) string {
	for _, p := range passing {
		text = p.of.ReplaceAllString(text, p.as)
	}
	return text
}

// plain replaces ids of records by their names, and what differs from one run to the next.
func (p *program) plain(text string) string {
	text = p.here.Replace(text)
	return numbers.ReplaceAllStringFunc(settled(text), func(id string) string {
		if name, ok := p.names[id]; ok {
			return name
		}
		return id
	})
}

// named replaces the names of records by their ids.
func (p *program) named(text string) string {
	return named.ReplaceAllStringFunc(text, func(name string) string {
		if id, ok := p.ids[name]; ok {
			return id
		}
		return name
	})
}
