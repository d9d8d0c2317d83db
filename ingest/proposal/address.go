package proposal

import (
	"net/url"
	"strings"
)

// Address puts values into the template of an address, escaped as parts of its
// path: pairs are placeholders with their values. A template with a missing value
// yields no address rather than a wrong one.
func Address(template string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(template, pairs[i]) {
			continue
		}
		if pairs[i+1] == "" {
			return ""
		}
		parts := strings.Split(pairs[i+1], "/")
		for j, part := range parts {
			parts[j] = url.PathEscape(part)
		}
		template = strings.ReplaceAll(template, pairs[i], strings.Join(parts, "/"))
	}
	return template
}
