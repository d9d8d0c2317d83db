package networks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"almanac/ingest"
	"almanac/ingest/networks"
)

func TestAFolderIsANetwork(t *testing.T) {
	names := map[string]string{}
	for _, tt := range []struct{ dir, page, text, title, name string }{
		{"Harbour Docs", "README.md", "---\ntitle: x\n---\n\n## Not yet\n\n# The *Harbour* `book`\n", "The Harbour book",
			`^harbour-docs-[0-9a-f]{8}$`},
		{"a/quay", "index.mdx", "# Quay\n", "Quay", `^quay-[0-9a-f]{8}$`},
		{"b/quay", "tide.md", "# Tide\n", "quay", `^quay-[0-9a-f]{8}$`},
		{"埠頭", "README.md", "No heading: [\n", "埠頭", `^folder-[0-9a-f]{8}$`},
		{"- -", "README.md", "```\n# code\n```\n", "- -", `^folder-[0-9a-f]{8}$`},
	} {
		dir := filepath.Join(t.TempDir(), tt.dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, tt.page), []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		n, err := networks.Load(dir)
		if err != nil {
			t.Fatalf("%s: %v", tt.dir, err)
		}
		if n.Title != tt.title || !regexp.MustCompile(tt.name).MatchString(n.Name) || names[n.Name] != "" {
			t.Errorf("%s is %q, called %q", tt.dir, n.Name, n.Title)
		}
		names[n.Name] = dir
		files, err := networks.Folder(dir)
		if f, ok := files.(ingest.Folder); err != nil || !ok || f.Dir() != dir {
			t.Errorf("%s has its files in %v: %v", tt.dir, files, err)
		}
	}
}
