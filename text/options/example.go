package options

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

// Describe gives a schema of options the descriptions that an example has: an entry
// of a network file with a comment on each option.
func Describe(s *jsonschema.Schema, example string) error {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(example), &doc); err != nil {
		return fmt.Errorf("example: %w", err)
	}
	if len(doc.Content) == 1 {
		root := doc.Content[0]
		if sources := child(root, "sources"); sources != nil && len(sources.Content) == 1 {
			root = sources.Content[0]
		}
		describe(s, child(root, "options"))
	}
	return nil
}

func describe(s *jsonschema.Schema, n *yaml.Node) {
	if s == nil || n == nil {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			describe(s.Items, item)
		}
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		p, ok := s.Properties[key.Value]
		if !ok { // a name of the operator's choice
			describe(s.AdditionalProperties, value)
			continue
		}
		comment := cmp.Or(value.LineComment, key.LineComment)
		p.Description = cmp.Or(p.Description, strings.TrimPrefix(comment, "# "))
		describe(p, value)
	}
}
