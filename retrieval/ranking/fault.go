package ranking

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fault is what is wrong with a profile, in a sentence for whoever wrote it.
type Fault struct {
	Problem string // without its place: dense must be a number
	Field   string // which one, by the keys that lead to it, with dots; "" = none in particular
	Line    int    // of the text, from 1; 0 = not known
}

// Error implements error.
func (f Fault) Error() string {
	if f.Line == 0 {
		return f.Problem
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Problem)
}

// In returns the fault with the line of its field in a text.
func (f Fault) In(text []byte) Fault {
	var doc yaml.Node
	if f.Line != 0 || f.Field == "" || yaml.Unmarshal(text, &doc) != nil {
		return f
	}
	at := &doc
	for _, key := range append([]string{"0"}, strings.Split(f.Field, ".")...) { // a document has one node
		next := child(at, key)
		if next == nil {
			return f
		}
		at = next
	}
	f.Line = at.Line
	return f
}

// child is the value of a key, or the item of a place from 0; nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
		return nil
	}
	if at, err := strconv.Atoi(key); err == nil && at >= 0 && at < len(n.Content) {
		return n.Content[at]
	}
	return nil
}

// The messages of the YAML library that an author of a profile may cause.
var (
	located   = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)`)
	wrongType = regexp.MustCompile("^cannot unmarshal (!!\\w+)(?: `(.*)`)? into (.*)")
	unknown   = regexp.MustCompile(`^field (.*) not found in type `)
	twice     = regexp.MustCompile(`^mapping key "(.*)" already defined at line (\d+)`)
)

// plainly makes a fault of an error of the YAML library; of several errors it takes
// the first.
func plainly(text []byte, err error) Fault {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if several, ok := errors.AsType[*yaml.TypeError](err); ok && len(several.Errors) > 0 {
		message = several.Errors[0]
	}
	if errors.Is(err, io.EOF) {
		return Fault{Problem: "there is no text"}
	}
	var f Fault
	if m := located.FindStringSubmatch(message); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	switch {
	case wrongType.MatchString(message):
		m := wrongType.FindStringSubmatch(message)
		f.Problem = named(text, f.Line, m[1], strings.TrimSuffix(m[2], "...")) + " must be " + kindOf(m[3])
	case unknown.MatchString(message):
		f.Problem = fmt.Sprintf("there is no field %q", unknown.FindStringSubmatch(message)[1])
	case twice.MatchString(message):
		m := twice.FindStringSubmatch(message)
		f.Problem = fmt.Sprintf("%s is there twice, first in line %s", m[1], m[2])
	default:
		f.Problem = "this is not YAML: " + message
	}
	return f
}

// kindOf is what a Go type is in YAML.
func kindOf(t string) string {
	switch {
	case t == "float64":
		return "a number"
	case t == "int":
		return "a whole number"
	case t == "bool":
		return "true or false"
	case t == "string":
		return "a text"
	case strings.HasPrefix(t, "[]"):
		return "a list"
	}
	return "fields with values, such as rank_k: 60"
}

// named returns the key of the value in a line, which is recognised by its spelling
// and its type.
func named(text []byte, line int, tag, value string) string {
	var doc yaml.Node
	name := "this"
	if yaml.Unmarshal(text, &doc) == nil {
		name = keyOf(&doc, name, line, tag, value)
	}
	return name
}

// keyOf looks for the value below a node that belongs to the key owner.
func keyOf(n *yaml.Node, owner string, line int, tag, value string) string {
	if n.Line == line && n.ShortTag() == tag && strings.HasPrefix(n.Value, value) && n.Kind != yaml.DocumentNode {
		return owner
	}
	for i, c := range n.Content {
		at := owner
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			at = n.Content[i-1].Value
		}
		if found := keyOf(c, at, line, tag, value); found != "this" {
			return found
		}
	}
	return "this"
}
