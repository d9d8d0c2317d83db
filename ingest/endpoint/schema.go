package endpoint

import (
	"path"
	"strings"

	"almanac/catalog"
)

// shown is how many values of an enumeration, and of alternatives, are named.
const shown = 8

// typeOf says in words what a schema allows. One that is referred to is called by its
// name, which ends recursion.
func typeOf(v value, nesting int) string {
	if ref := v.get("$ref").text(); ref != "" {
		return unescaped(path.Base(strings.TrimSuffix(ref, "/")))
	}
	if nesting > maxNesting || v.node == nil || v.of.spent(1) {
		return ""
	}
	inner := func(key string) string { return typeOf(v.get(key), nesting+1) }
	var said string
	types := v.get("type").texts(shown) // several since OpenAPI 3.1
	for i, t := range types {
		switch {
		case t == "array":
			types[i] = "array"
			if of := inner("items"); of != "" {
				types[i] = "array of " + of
			}
		case t == "object" && v.has("additionalProperties") && !v.has("properties"):
			types[i] = "map"
			if of := inner("additionalProperties"); of != "" {
				types[i] = "map of " + of
			}
		case t != "null" && v.has("format"):
			types[i] = t + " (" + v.get("format").text() + ")"
		}
	}
	said = strings.Join(types, " or ")
	if said == "" {
		for _, key := range []string{"oneOf", "anyOf", "allOf"} {
			var all []string
			for _, x := range v.get(key).list(shown) {
				if t := typeOf(x, nesting+1); t != "" {
					all = append(all, t)
				}
			}
			if key == "allOf" {
				said = strings.Join(all, " and ")
			} else {
				said = strings.Join(all, " or ")
			}
			if said != "" {
				break
			}
		}
	}
	switch {
	case said == "" && v.has("properties"):
		said = "object"
	case said == "" && v.has("items"):
		said = "array of " + inner("items")
	}
	if values := v.get("enum").texts(shown + 1); len(values) > shown {
		said += ": " + strings.Join(values[:shown], ", ") + ", …"
	} else if len(values) > 0 {
		said += ": " + strings.Join(values, ", ")
	} else if c := v.get("const").text(); c != "" {
		said += ": " + c
	}
	if v.is("nullable") {
		said += " or null"
	}
	return line(strings.TrimPrefix(said, ": "))
}

func unescaped(pointer string) string {
	return strings.ReplaceAll(strings.ReplaceAll(pointer, "~1", "/"), "~0", "~")
}

// fields are the properties of an object that a request has, not those within them.
func fields(schema value, in string, nesting int) (all []catalog.APIParameter) {
	if schema = schema.follow(); nesting > maxNesting || schema.node == nil || schema.of.spent(1) {
		return nil
	}
	for _, part := range schema.get("allOf").list(shown) {
		all = append(all, fields(part, in, nesting+1)...)
	}
	required := map[string]bool{}
	for _, name := range schema.get("required").texts(maxParameters) {
		required[name] = true
	}
	for key, v := range schema.get("properties").each {
		if len(all) == maxParameters {
			break
		}
		name := plain(key).Value
		all = append(all, catalog.APIParameter{Name: name, In: in, Required: required[name], Type: typeOf(v, 0),
			Description: line(described(v))})
	}
	return all
}

// described returns the description of a schema, also of one that is referred to.
func described(v value) string {
	if own := v.get("description").text(); own != "" || v.get("$ref").text() == "" {
		return own
	}
	return v.follow().get("description").text()
}
