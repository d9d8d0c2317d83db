package networks

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
	"almanac/text/nearest"
)

// Entry is a source as it is added to a network file.
type Entry struct {
	Name    string     `yaml:"name"`
	Kind    string     `yaml:"kind"`
	Every   string     `yaml:"every,omitempty"`
	Options *yaml.Node `yaml:"options,omitempty"` // a mapping, or nil
}

// Set sets an option to a value that is written as in YAML.
func (e *Entry) Set(option, value string) error {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(value), &doc); err != nil || len(doc.Content) != 1 {
		return fmt.Errorf("option %s: %q is not a value of YAML: quote it", option, value)
	}
	if e.Options == nil {
		e.Options = &yaml.Node{Kind: yaml.MappingNode}
	}
	e.Options.Content = append(e.Options.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: option}, doc.Content[0])
	return nil
}

// Add adds a source as the last to the text of a network file. Lines that are there stay
// as they are, as in Remove and Rename.
func Add(file string, text []byte, e Entry) ([]byte, error) {
	doc, err := read(file, text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(e), enc.Close()); err != nil {
		return nil, err
	}
	last := len(doc.names) - 1
	from, end := doc.entry(last)
	indent := strings.Repeat(" ", doc.dash(from))
	var added []string
	if end < len(doc.lines) && blank(doc.lines[end]) || last > 0 && blank(doc.lines[doc.comments(from)-1]) {
		added = append(added, doc.newline)
	}
	if end > 0 && !strings.HasSuffix(doc.lines[end-1], "\n") {
		doc.lines[end-1] += doc.newline
	}
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		added = append(added, indent+map[bool]string{true: "- ", false: "  "}[i == 0]+line+doc.newline)
	}
	return doc.finish(file, slices.Insert(doc.lines, end, added...), append(doc.names, e.Name))
}

// Remove removes a source and the comment right above it.
func Remove(file string, text []byte, name string) ([]byte, error) {
	doc, err := read(file, text)
	if err != nil {
		return nil, err
	}
	i, err := doc.index(file, name)
	if err != nil {
		return nil, err
	}
	if len(doc.names) == 1 {
		return nil, fmt.Errorf("%s: %s is its only source, and a network has at least one: add another before", file, name)
	}
	from, end := doc.entry(i)
	from = doc.comments(from)
	switch { // one blank line stays of two, and none at the end
	case !blank(doc.lines[from-1]):
	case end == len(doc.lines):
		from--
	case blank(doc.lines[end]):
		end++
	}
	return doc.finish(file, slices.Delete(doc.lines, from, end), slices.Delete(doc.names, i, i+1))
}

// Rename gives a source another name, also where its authority is set.
func Rename(file string, text []byte, from, to string) ([]byte, error) {
	doc, err := read(file, text)
	if err != nil {
		return nil, err
	}
	i, err := doc.index(file, from)
	if err != nil {
		return nil, err
	}
	if slices.Contains(doc.names, to) {
		return nil, fmt.Errorf("%s: there is a source %s already: choose another name", file, to)
	}
	_, name := value(doc.sources.Content[i], "name")
	places := []*yaml.Node{name}
	if _, authority := value(doc.root, "authority"); authority != nil {
		if key, _ := value(authority, from); key != nil {
			places = append(places, key)
		}
	}
	slices.SortFunc(places, func(a, b *yaml.Node) int { // the last first: the columns before it hold
		return cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Column, a.Column))
	})
	for _, at := range places {
		line := doc.lines[at.Line-1]
		before, behind, ok := strings.Cut(line[min(at.Column-1, len(line)):], from)
		if !ok || strings.Trim(before, `"'`) != "" {
			return nil, byHand(file)
		}
		doc.lines[at.Line-1] = line[:at.Column-1] + before + to + behind
	}
	doc.names[i] = to
	return doc.finish(file, doc.lines, doc.names)
}

// listing is a network file by lines.
type listing struct {
	lines   []string // with their ends
	newline string
	root    *yaml.Node
	sources *yaml.Node
	names   []string // of the sources
}

func read(file string, data []byte) (t listing, err error) {
	n, err := network.Parse(file, data)
	if err != nil {
		return t, err
	}
	for _, src := range n.Sources {
		t.names = append(t.names, src.Name)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return t, err
	}
	t.root = doc.Content[0]
	_, t.sources = value(t.root, "sources")
	if t.sources == nil || t.sources.Kind != yaml.SequenceNode || t.sources.Style&yaml.FlowStyle != 0 ||
		slices.ContainsFunc(t.sources.Content, func(n *yaml.Node) bool { return n.Kind != yaml.MappingNode }) {
		return t, byHand(file)
	}
	t.lines = strings.SplitAfter(string(data), "\n")
	if t.lines[len(t.lines)-1] == "" {
		t.lines = t.lines[:len(t.lines)-1]
	}
	t.newline = "\n"
	if strings.HasSuffix(t.lines[0], "\r\n") {
		t.newline = "\r\n"
	}
	for i := range t.names {
		if from, _ := t.entry(i); t.dash(from) < 0 {
			return t, byHand(file)
		}
	}
	return t, nil
}

func byHand(file string) error {
	return fmt.Errorf("%s: this command changes files whose sources are a list with a line `- name: …` for each: "+
		"write it so, or change it by hand", file)
}

// finish joins the lines, and fails unless the text has just these sources.
func (t listing) finish(file string, lines []string, names []string) ([]byte, error) {
	data := []byte(strings.Join(lines, ""))
	n, err := network.Parse(file, data)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(n.Sources, names, func(src network.Source, name string) bool { return src.Name == name }) {
		return nil, byHand(file)
	}
	return data, nil
}

// index returns the place of a source.
func (t listing) index(file, name string) (int, error) {
	if i := slices.Index(t.names, name); i >= 0 {
		return i, nil
	}
	if near := nearest.Of(name, t.names); near != "" {
		return 0, fmt.Errorf("%s has no source %q; did you mean %q?", file, name, near)
	}
	return 0, fmt.Errorf("%s has no source %q; it has %s", file, name, strings.Join(t.names, ", "))
}

// entry returns the lines of a source: those behind its first that are indented more than
// the dash, and what lies between them.
func (t listing) entry(i int) (from, end int) {
	from = t.sources.Content[i].Line - 1
	dash := t.dash(from)
	end = from + 1
	for at := end; at < len(t.lines); at++ {
		line := t.lines[at]
		switch in := indent(line); {
		case blank(line):
		case in > dash:
			end = at + 1
		case line[in] != '#':
			return from, end
		}
	}
	return from, end
}

// comments returns where the comment begins that ends right above a line, if it is as
// indented and not an entry that is commented out; else the line.
func (t listing) comments(from int) int {
	at := from
	for ; at > 0; at-- {
		line := t.lines[at-1]
		if in := indent(line); blank(line) || line[in] != '#' || in != t.dash(from) {
			break
		}
		if strings.HasPrefix(strings.TrimLeft(line, "# "), "- ") {
			return from
		}
	}
	return at
}

// dash returns the column of the dash that a line begins with, -1 without one.
func (t listing) dash(line int) int {
	in := indent(t.lines[line])
	if strings.HasPrefix(t.lines[line][in:], "- ") {
		return in
	}
	return -1
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// value returns a key of a mapping and its value; nil if it is not there.
func value(mapping *yaml.Node, key string) (at, of *yaml.Node) {
	for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}
