package endpoint

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader reads one description.
type reader struct {
	resolve  func(path string) (text string, ok bool)
	files    map[string]*file
	mappings map[*yaml.Node]mapping
	steps    int
	notes    []string
}

// spent reports whether a description takes more steps than any real one.
func (r *reader) spent(steps int) bool {
	if r.steps += steps; r.steps <= maxSteps {
		return false
	}
	r.note("it refers to itself too often; some types are left out")
	return true
}

// file is a parsed file: the description, or one that it refers to.
type file struct {
	*reader
	path string
	root *yaml.Node
}

// mapping is a YAML mapping with what is merged into it.
type mapping struct {
	keys, values []*yaml.Node
	first        map[string]int // of each key, where it comes first
}

// value is a node of a file; without a node it is nothing.
type value struct {
	of   *file
	node *yaml.Node
}

var (
	errSize  = fmt.Errorf("has more than %d values", maxNodes)
	errEmpty = errors.New("is empty")
)

// escapes of JSON, of which YAML does not know a slash and halves of UTF-16.
var escapes = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\.`)

// unescape writes an escape of JSON as YAML has it.
func unescape(escape string) string {
	switch {
	case escape == `\/`:
		return "/"
	case len(escape) == 2:
		return escape
	}
	high, _ := strconv.ParseUint(escape[2:6], 16, 32)
	low, _ := strconv.ParseUint(escape[8:], 16, 32)
	return fmt.Sprintf(`\U%08X`, 0x10000+(high-0xd800)<<10+(low-0xdc00))
}

// parse reads a text as YAML, which JSON is too.
func (r *reader) parse(name, text string) (*file, error) {
	nodes := strings.Count(text, "\n") + strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{")
	if nodes > maxNodes {
		return nil, errSize
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		text = escapes.ReplaceAllStringFunc(text, unescape)
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, errEmpty
	}
	return &file{r, name, document.Content[0]}, nil
}

// open parses another file of the description; nil if it cannot be read.
func (r *reader) open(name string) *file {
	f, known := r.files[name]
	if known || r.resolve == nil || len(r.files) > maxFiles {
		return f
	}
	if text, ok := r.resolve(name); ok {
		f, _ = r.parse(name, text)
	}
	r.files[name] = f
	return f
}

func (r *reader) note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if len(r.notes) < maxNotes && !slices.Contains(r.notes, note) {
		r.notes = append(r.notes, note)
	}
}

// plain returns what an alias stands for.
func plain(n *yaml.Node) *yaml.Node {
	for range maxHops {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// mapping returns the keys and values of a node, its own before those that it merges.
func (r *reader) mapping(n *yaml.Node) mapping {
	if n == nil || n.Kind != yaml.MappingNode {
		return mapping{}
	}
	m, known := r.mappings[n]
	if known {
		return m
	}
	r.mappings[n] = mapping{} // if it is merged into itself
	m.first = map[string]int{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := plain(n.Content[i]), plain(n.Content[i+1])
		switch {
		case key == nil || key.Kind != yaml.ScalarNode:
		case key.Tag == "!!merge" && v != nil && v.Kind == yaml.SequenceNode:
			merged = append(merged, v.Content...)
		case key.Tag == "!!merge":
			merged = append(merged, v)
		default:
			m.add(n.Content[i], key.Value, v)
		}
	}
	for _, n := range merged {
		other := r.mapping(plain(n))
		if r.spent(len(other.keys)) {
			break
		}
		for i, key := range other.keys {
			name := plain(key).Value
			if _, taken := m.first[name]; !taken {
				m.add(key, name, other.values[i])
			}
		}
	}
	r.mappings[n] = m
	return m
}

func (m *mapping) add(key *yaml.Node, name string, v *yaml.Node) {
	if _, taken := m.first[name]; !taken {
		m.first[name] = len(m.keys)
	}
	m.keys, m.values = append(m.keys, key), append(m.values, v)
}

// each yields the keys of a mapping with their values, as they stand: also one that
// comes twice.
func (v value) each(yield func(key *yaml.Node, of value) bool) {
	if v.node == nil {
		return
	}
	m := v.of.mapping(v.node)
	for i, key := range m.keys {
		if !yield(key, value{v.of, m.values[i]}) {
			return
		}
	}
}

// get returns the value of a key.
func (v value) get(key string) value {
	if v.node == nil {
		return value{}
	}
	m := v.of.mapping(v.node)
	if i, ok := m.first[key]; ok {
		return value{v.of, m.values[i]}
	}
	return value{}
}

// at returns what the value of a key stands for.
func (v value) at(key string) value { return v.get(key).follow() }

// list returns the items of a sequence, as many as wanted.
func (v value) list(most int) (items []value) {
	if v.node == nil || v.node.Kind != yaml.SequenceNode {
		return nil
	}
	for _, n := range v.node.Content[:min(most, len(v.node.Content))] {
		items = append(items, value{v.of, plain(n)})
	}
	return items
}

// text returns a scalar; "" for null and for what is none.
func (v value) text() string {
	if v.node == nil || v.node.Kind != yaml.ScalarNode || v.node.Tag == "!!null" {
		return ""
	}
	return v.node.Value
}

func (v value) is(flag string) bool { return strings.EqualFold(v.get(flag).text(), "true") }

func (v value) has(key string) bool { return v.get(key).node != nil }

// texts returns a list of scalars, also one alone.
func (v value) texts(most int) (all []string) {
	if s := v.text(); s != "" {
		return []string{s}
	}
	for _, item := range v.list(most) {
		if s := item.text(); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// follow returns what a value refers to, itself if that is nothing else.
func (v value) follow() value {
	first := v
	for range maxHops {
		ref := v.get("$ref").text()
		if ref == "" {
			return v
		}
		next := v.of.target(ref)
		if next.node == nil {
			v.of.note("line %d of %s: the reference %.200q leads nowhere", v.node.Line, path.Base(v.of.path), ref)
			return value{}
		}
		v = next
	}
	v.of.note("line %d of %s: the reference leads to itself", first.node.Line, path.Base(first.of.path))
	return value{}
}

// target returns what a reference in the file names: by a path to another file, by a
// pointer into it, or by both.
func (f *file) target(ref string) value {
	name, pointer, _ := strings.Cut(ref, "#")
	if name != "" {
		plain, err := url.PathUnescape(name)
		if err != nil || strings.Contains(name, ":") {
			return value{} // no file beside this one
		}
		if f = f.open(path.Join(path.Dir(f.path), plain)); f == nil {
			return value{}
		}
	}
	v := value{f, plain(f.root)}
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	if pointer = strings.TrimPrefix(pointer, "/"); pointer == "" {
		return v
	}
	for part := range strings.SplitSeq(pointer, "/") {
		part = unescaped(part)
		if i, err := strconv.Atoi(part); err == nil && v.node != nil && v.node.Kind == yaml.SequenceNode {
			items := v.list(len(v.node.Content))
			if v = (value{}); i >= 0 && i < len(items) {
				v = items[i]
			}
			continue
		}
		v = v.get(part)
	}
	return v
}
