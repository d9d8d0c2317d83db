package meilitest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	condition = regexp.MustCompile(`^(\w+) (EXISTS|IN|>=|<) ?(.*)$`)
	listed    = regexp.MustCompile(`"[^"]*"|\d+`)
)

// filter returns a filter as a function. It reads the language as far as package meili writes it: conditions
// joined by AND, and these by OR, both outside of values, which that package writes in lower case. An attribute
// that is not filterable is an error with the code for that kind of request.
func (x *index) filter(text, code string) (func(document) bool, error) {
	if text == "" {
		return func(document) bool { return true }, nil
	}
	var any [][]func(document) bool
	for alternative := range strings.SplitSeq(text, " OR ") {
		var all []func(document) bool
		for part := range strings.SplitSeq(strings.Trim(alternative, "()"), " AND ") {
			c := condition.FindStringSubmatch(part)
			if c == nil || !x.lists("filterableAttributes", c[1]) {
				return nil, refuse(http.StatusBadRequest, code, "attribute is not filterable: %s", part)
			}
			all = append(all, func(d document) bool { return d.meets(c[1], c[2], c[3]) })
		}
		any = append(any, all)
	}
	return func(d document) bool {
		return slices.ContainsFunc(any, func(all []func(document) bool) bool {
			return !slices.ContainsFunc(all, func(holds func(document) bool) bool { return !holds(d) })
		})
	}, nil
}

// meets reports whether a document meets a condition. One without the attribute meets none.
func (d document) meets(name, sign, operand string) bool {
	value, ok := d[name]
	switch {
	case !ok || sign == "EXISTS":
		return ok
	case sign == "IN":
		text := fmt.Sprint(value)
		if n, ok := value.(float64); ok {
			text = strconv.FormatFloat(n, 'f', -1, 64)
		}
		return slices.ContainsFunc(listed.FindAllString(operand, -1),
			func(listed string) bool { return strings.Trim(listed, `"`) == text })
	}
	n, ok := value.(float64)
	limit, err := strconv.ParseFloat(operand, 64)
	return ok && err == nil && (n < limit) == (sign == "<")
}
