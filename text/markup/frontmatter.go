package markup

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter is the maximum size of front matter; a longer leading "---"
// block is not front matter.
const maxFrontMatter = 64 << 10

type frontMatter struct {
	Title       string `yaml:"title"`
	Description string `yaml:"description"`
}

// splitFrontMatter splits the leading "---" block from a page. A block that is
// not YAML is read line by line; one that is never closed ends at the first
// line that is not "key: value".
func splitFrontMatter(text string) (frontMatter, string) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, "\n \t"), "---\n")
	if !ok {
		return frontMatter{}, text
	}
	block, after, closed := cutFrontMatter(rest)
	if !closed {
		block, after = leadingKeys(rest)
		if block == "" {
			return frontMatter{}, text
		}
	}
	var meta frontMatter
	var raw struct {
		Title       any `yaml:"title"`
		Description any `yaml:"description"`
	}
	if err := yaml.Unmarshal([]byte(block), &raw); err == nil {
		meta.Title, _ = raw.Title.(string)
		meta.Description, _ = raw.Description.(string)
	}
	for line := range strings.SplitSeq(block, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch key {
		case "title":
			meta.Title = first(meta.Title, value)
		case "description":
			meta.Description = first(meta.Description, value)
		}
	}
	meta.Title, meta.Description = plainText(meta.Title), plainText(meta.Description)
	return meta, after
}

// cutFrontMatter splits at the closing "---" or "..." line.
func cutFrontMatter(s string) (block, after string, ok bool) {
	limit := min(len(s), maxFrontMatter)
	for at := 0; at < limit; {
		line, _, _ := strings.Cut(s[at:], "\n")
		end := min(at+len(line)+1, len(s))
		if t := strings.TrimRight(line, " \t"); t == "---" || t == "..." {
			return s[:at], s[end:], true
		}
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "`") || strings.HasPrefix(line, "~") {
			return "", "", false // the page has started: no key begins so
		}
		at = end
	}
	return "", "", false
}

// leadingKeys splits after the first lines that look like "key: value".
func leadingKeys(s string) (block, after string) {
	at := 0
	for at < len(s) && at < maxFrontMatter {
		line, _, _ := strings.Cut(s[at:], "\n")
		key, _, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \t#") {
			break
		}
		at = min(at+len(line)+1, len(s))
	}
	return s[:at], s[at:]
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
