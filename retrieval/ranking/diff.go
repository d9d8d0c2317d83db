package ranking

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Change is a field in which two profiles differ, by its path: weights.passage_bm25,
// lists.dense.depth.
type Change struct {
	Field  string `json:"field"`
	Before string `json:"before"` // "" = it has none
	After  string `json:"after"`
}

// Diff returns the fields in which two profiles differ, by path. What a profile
// leaves out and what it says are the same if they mean the same.
func Diff(a, b Profile) ([]Change, error) {
	before, err := fieldsOf(a)
	if err != nil {
		return nil, err
	}
	after, err := fieldsOf(b)
	if err != nil {
		return nil, err
	}
	both := maps.Clone(before)
	maps.Copy(both, after)
	var out []Change
	for _, field := range slices.Sorted(maps.Keys(both)) {
		if before[field] != after[field] {
			out = append(out, Change{field, before[field], after[field]})
		}
	}
	return out, nil
}

// fieldsOf writes a profile as values by their paths.
func fieldsOf(p Profile) (map[string]string, error) {
	data, err := yaml.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	out := map[string]string{}
	flatten(out, "", tree)
	return out, nil
}

// flatten adds the values of a tree. The lists of a profile are named by their
// retrievers, so that their order does not count as a change: it does not change the
// ranking either.
func flatten(to map[string]string, path string, tree any) {
	under := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	switch v := tree.(type) {
	case map[string]any:
		for name, x := range v {
			flatten(to, under(name), x)
		}
	case []any:
		for i, x := range v {
			list, ok := x.(map[string]any)
			if !ok {
				to[under(fmt.Sprint(x))] = "yes"
				continue
			}
			name := fmt.Sprint(list["retriever"])
			if to[under(name)] != "" { // a second list of it
				name = fmt.Sprintf("%s-%d", name, i+1)
			}
			delete(list, "retriever")
			to[under(name)] = "yes"
			flatten(to, under(name), x)
		}
	default:
		to[path] = fmt.Sprint(v)
	}
}
