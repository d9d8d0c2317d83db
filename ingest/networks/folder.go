package networks

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
	"almanac/ingest/folder"
	"almanac/text/markdown"
)

// frontPages are where a folder says what it is, and maxFrontPage what is read of one.
var frontPages = []string{"README.md", "readme.md", "index.md", "index.mdx", "README.mdx"}

const maxFrontPage = 1 << 20

// IsFolder reports whether the name is the path of a directory.
func IsFolder(name string) bool {
	info, err := os.Stat(name)
	return isPath(name) && err == nil && info.IsDir()
}

// ofFolder describes the network of a folder of documents: it has the folder's title,
// and a name, and so a data directory, of its own.
func ofFolder(dir string) (network.Network, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return network.Network{}, fmt.Errorf("folder: %w", err)
	}
	base := filepath.Base(dir)
	text, err := yaml.Marshal(map[string]any{
		"name": folderName(dir), "title": cmp.Or(titleOf(dir), base), "description": "The documents in " + base + ".",
		"sources": []any{map[string]any{"name": "documents", "kind": "docs", "options": map[string]any{
			"folder":     ".",
			"extensions": []string{".md", ".markdown", ".mdx", ".rst", ".mediawiki", ".txt", ".html", ".htm"},
		}}},
	})
	if err != nil {
		return network.Network{}, fmt.Errorf("folder: %w", err)
	}
	return network.Parse(dir, text)
}

// folderName is the name of the network of a folder: that of the directory, and what
// tells it from others of that name.
func folderName(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("%s-%x", nameOf(filepath.Base(dir), "folder"), sum[:4])
}

// nameOf makes a name of a network from another; fallback if nothing of it can be one.
func nameOf(text, fallback string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	name := strings.Join(words, "-")
	return cmp.Or(strings.Trim(name[:min(len(name), 40)], "-"), fallback)
}

// titleOf is the first heading of a folder's front page; "" without one.
func titleOf(dir string) string {
	for _, name := range frontPages {
		text, err := folder.Read(folder.New(dir), name, maxFrontPage)
		if err != nil {
			continue
		}
		_, body, _ := markdown.CutFront(string(text))
		for b := range markdown.Blocks(body) {
			if title := markdown.Inline(b.Text); b.Level == 1 && strings.TrimSpace(title) != "" {
				return markdown.Clip(strings.Join(strings.Fields(title), " "), 80)
			}
		}
	}
	return ""
}
