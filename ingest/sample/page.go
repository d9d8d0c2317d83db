package sample

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// authored are the files that people write and the templates below answers/ render into what servers send: what
// their heads may say, and what the lines of their entries may add. A file without a field has no head.
var authored = []struct{ files, head, entry string }{
	{"people.yaml", "name login mail role kind", ""},
	{"forum/categories.yaml", "id name slug description below", ""},
	{"forum/*.md", "title slug category tags views accepted pinned closed", "re likes reads"},
	{"forge/*/*/repo.yaml", "description language topics licence created pushed stars forks members", ""},
	{"forge/*/*/readme.md", "", ""},
	{"forge/*/*/[ip]*/*.md", // issues and pulls
		"title labels assignees milestone closed declined merged draft branch additions deletions files", "likes file line"},
	{"forge/*/*/discussions/*.md", "title category labels closed", "re likes answer"},
	{"forge/*/*/releases/*.md", "published author prerelease", ""},
	{"mail/*/group.yaml", "title first", ""},
	{"mail/*/*.md", "subject", "re as"},
	{"blog/*.md", "title author published tags description", ""},
	{"videos/*.md", "title published description views likes automatic", ""},
	{"papers/*.md", "title authors", ""},
	{"ledger/apps.yaml", "provider since rewards", ""},
	{"ledger/votes/*.md", "before url outcome action", "accept reject"},
}

// page is an authored file. A file in YAML is all head. Others have a head in
// YAML between lines of three hyphens, then a text; or, as what people write
// to each other, entries, each below a line that says who wrote it, how many
// days before the anchor, when, and what else its source knows of it:
//
//	---
//	title: Receipts for a tea shop
//	---
//	=== ottoline -22 14:05 likes=3
//	What do I show the customer?
//
//	=== fenn-m -22 15:40 re=1
//	A disclosed contract.
type page struct {
	Path    string
	Head    any // a map, or a list of them; what is left out is nil, what is a moment a time.Time
	Text    string
	Entries []*entry
	Of      *page // the file in YAML of its directory or of one above it
}

// entry is one contribution to a thread.
type entry struct {
	Page *page
	N    int // from 1
	By   string
	At   time.Time
	Attr map[string]any // a number, a text or true; what is left out is nil
	Text string
}

// Dir is the directory without the first, which says what kind of server it is for.
func (p *page) Dir() string {
	_, dir, _ := strings.Cut(path.Dir(p.Path), "/")
	return dir
}

// Kind is the last part of the directory.
func (p *page) Kind() string { return path.Base(path.Dir(p.Path)) }

// Name is that of the file without its extension.
func (p *page) Name() string { return strings.TrimSuffix(path.Base(p.Path), path.Ext(p.Path)) }

// Number is a name that is one.
func (p *page) Number() (int, error) { return strconv.Atoi(p.Name()) }

// First is the entry that began the thread.
func (p *page) First() *entry { return p.Entries[0] }

// Last is the entry at the thread's end.
func (p *page) Last() *entry { return p.Entries[len(p.Entries)-1] }

// Writers are who wrote its entries, each once.
func (p *page) Writers() (all []string) {
	for _, e := range p.Entries {
		if !slices.Contains(all, e.By) {
			all = append(all, e.By)
		}
	}
	return all
}

// Updated is the newest time that the head or an entry names.
func (p *page) Updated() (newest time.Time) {
	head, _ := p.Head.(map[string]any)
	for _, value := range head {
		if at, ok := value.(time.Time); ok && at.After(newest) {
			newest = at
		}
	}
	for _, e := range p.Entries {
		if e.At.After(newest) {
			newest = e.At
		}
	}
	return newest
}

// Replies are the entries that answer the entry.
func (e *entry) Replies() []*entry {
	return slices.DeleteFunc(slices.Clone(e.Page.Entries), func(o *entry) bool { return o.Attr["re"] != e.N })
}

// Answered are the entries that led to the entry, the first of the thread first. It answers that one if it does not
// say which.
func (e *entry) Answered() []*entry {
	if e.N == 1 {
		return nil
	}
	re, _ := e.Attr["re"].(int)
	to := e.Page.Entries[max(re, 1)-1]
	return append(to.Answered(), to)
}

// readPages reads the authored files, sorted by path.
func readPages(files map[string][]byte, anchor time.Time) ([]*page, error) {
	var all []*page
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, kind := range authored {
			if ok, _ := path.Match(kind.files, name); !ok { // the patterns are valid
				continue
			}
			p, err := readPage(name, string(files[name]), strings.Fields(kind.head), strings.Fields(kind.entry), anchor)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, p)
		}
	}
	for _, p := range all {
		for _, of := range all {
			if of != p && path.Ext(of.Path) == ".yaml" && strings.HasPrefix(p.Path, path.Dir(of.Path)+"/") {
				p.Of = of
			}
		}
	}
	return all, nil
}

// readPage reads one of them. It is a thread if there are attributes of entries.
func readPage(name, text string, fields, attributes []string, anchor time.Time) (*page, error) {
	p, head := &page{Path: name, Text: text}, text
	if len(fields) == 0 {
		return p, nil
	}
	if path.Ext(name) == ".md" {
		var ok bool
		if head, p.Text, ok = strings.Cut(text, "\n---\n"); !ok || !strings.HasPrefix(head, "---\n") {
			return nil, errors.New("want a head between lines of three hyphens")
		}
	}
	if err := yaml.NewDecoder(bytes.NewReader([]byte(head))).Decode(&p.Head); err != nil {
		return nil, err
	}
	var err error
	if p.Head, err = shape(p.Head, fields, anchor); err != nil {
		return nil, err
	}
	if len(attributes) == 0 {
		return p, nil
	}
	return p, p.read(attributes, anchor)
}

var momentText = regexp.MustCompile(`^[-+]\d+ \d\d:\d\d$`)

// shape returns what a head says, or each row of a list: with no fields but those, and times for moments.
func shape(value any, fields []string, anchor time.Time) (_ any, err error) {
	switch v := value.(type) {
	case string:
		if momentText.MatchString(v) {
			return moment(v, anchor)
		}
	case []any:
		for i := range v {
			if v[i], err = shape(v[i], fields, anchor); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if !slices.Contains(fields, name) {
				return nil, fmt.Errorf("unknown field %s; want one of %s", name, strings.Join(fields, ", "))
			}
		}
		for _, name := range fields {
			if _, free := v[name].(map[string]any); free {
				continue
			}
			if v[name], err = shape(v[name], fields, anchor); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return value, nil
}

var (
	entryLine = regexp.MustCompile(`^=== (.+?) (-\d+ \d\d:\d\d)((?: [a-z]+(?:=\S+)?)*)$`)
	// counted are the attributes whose values are numbers.
	counted = []string{"re", "likes", "reads", "line"}
)

// read makes the text into the entries of a thread.
func (p *page) read(attributes []string, anchor time.Time) error {
	for line := range strings.Lines(p.Text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "=== ") {
			if len(p.Entries) > 0 {
				p.Last().Text += line + "\n"
			} else if strings.TrimSpace(line) != "" {
				return fmt.Errorf("%.40q comes before the first entry", line)
			}
			continue
		}
		e := &entry{Page: p, N: len(p.Entries) + 1, Attr: map[string]any{}}
		if err := e.read(line, attributes, anchor); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		p.Entries = append(p.Entries, e)
	}
	if len(p.Entries) == 0 {
		return fmt.Errorf("no entry: want a line such as %q", "=== tavish-d -28 09:00")
	}
	for _, e := range p.Entries {
		e.Text = strings.TrimSpace(e.Text)
	}
	return nil
}

// read reads the line above an entry.
func (e *entry) read(line string, attributes []string, anchor time.Time) (err error) {
	m := entryLine.FindStringSubmatch(line)
	if m == nil {
		return errors.New("want === WRITER -DAYS HH:MM NAME=VALUE…")
	}
	e.By = m[1]
	if e.At, err = moment(m[2], anchor); err != nil {
		return err
	}
	for _, name := range attributes {
		e.Attr[name] = nil
	}
	for _, f := range strings.Fields(m[3]) {
		name, value, given := strings.Cut(f, "=")
		switch {
		case !slices.Contains(attributes, name):
			return fmt.Errorf("unknown attribute %s; want one of %s", name, strings.Join(attributes, ", "))
		case slices.Contains(counted, name):
			if e.Attr[name], err = strconv.Atoi(value); err != nil {
				return fmt.Errorf("%s is not a number", name)
			}
		case given:
			e.Attr[name] = value
		default:
			e.Attr[name] = true
		}
	}
	if re, _ := e.Attr["re"].(int); re >= e.N {
		return fmt.Errorf("answers entry %d, which does not come before it", re)
	}
	return nil
}
