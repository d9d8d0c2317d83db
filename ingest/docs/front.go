package docs

import (
	"strings"

	"almanac/text/markdown"
	"almanac/text/markup"
)

// front is the front matter about a page's publication; title and description
// are read with the text.
type front struct {
	// Slug is where the page is published: relative to the site's root if it
	// begins with a slash, otherwise instead of the file's name.
	Slug string
	// Hidden means that readers must not find the page.
	Hidden bool
}

const maxSlug = 300

// readFront reads the front matter of a page as Docusaurus, Hugo, Jekyll and
// Mintlify do. What cannot be read, and what nothing closes, is ignored.
func readFront(text string) front {
	block, _, _ := markdown.CutFront(markup.Clean(text[:min(len(text), markdown.MaxFront)]))
	meta, err := block.Values()
	if err != nil || !block.Closed {
		return front{}
	}
	f := front{
		Hidden: isTrue(meta["draft"]) || isTrue(meta["hidden"]) || isTrue(meta["unlisted"]) || isTrue(meta["noindex"]),
	}
	if shown, ok := meta["published"].(bool); ok && !shown {
		f.Hidden = true
	}
	for _, key := range []string{"slug", "permalink", "id"} {
		slug, _ := meta[key].(string)
		slug = strings.TrimSpace(slug)
		usable := slug != "" && len(slug) <= maxSlug &&
			!strings.ContainsAny(slug, ":?#\\\n") // not a URL, not a pattern
		if usable && (key != "permalink" || slug[0] == '/') && (key != "id" || !strings.Contains(slug, "/")) {
			f.Slug = slug
			break
		}
	}
	return f
}

func isTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(v, "true")
	}
	return false
}
