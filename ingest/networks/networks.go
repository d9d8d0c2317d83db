// Package networks embeds the network files that come with the program and
// loads others. The format is defined in catalog/network; the YAML files here
// describe particular networks.
package networks

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
	"almanac/ingest/folder"
	"almanac/text/markdown"
	"almanac/text/nearest"
)

//go:embed *.yaml
var presets embed.FS

const extension = ".yaml"

// ErrUnknown: the name is neither a preset nor a file.
var ErrUnknown = errors.New("unknown network")

// Names returns the names of the presets, sorted.
func Names() []string {
	entries, err := fs.ReadDir(presets, ".")
	if err != nil { // embedded
		panic(err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), extension); ok {
			names = append(names, name)
		}
	}
	return names
}

// Load reads a network: a preset by its name, else the YAML file at a path, or that of a
// folder of documents. A name with a path separator or a YAML extension is always a path.
// Errors of the file's content name its lines.
func Load(nameOrFile string) (network.Network, error) {
	if IsFolder(nameOrFile) {
		return ofFolder(nameOrFile)
	}
	if !isPath(nameOrFile) {
		data, err := Text(nameOrFile)
		if err != nil {
			return network.Network{}, err
		}
		return network.Parse(nameOrFile+extension, data)
	}
	data, err := folder.ReadFile(nameOrFile, network.MaxBytes)
	if err != nil {
		return network.Network{}, fmt.Errorf("network file: %w", err)
	}
	return network.Parse(nameOrFile, data)
}

// CheckName refuses a network of a file that is called as one that comes with the
// program: they would have one data directory, and each would give up what the other
// read.
func CheckName(nameOrFile string, n network.Network) error {
	if !isPath(nameOrFile) || !slices.Contains(Names(), n.Name) {
		return nil
	}
	return fmt.Errorf("%s: the name %s is that of a network that comes with the program, whose data directory it would "+
		"share: give it a name of its own, or another directory with --data", nameOrFile, n.Name)
}

// Text returns the file of a preset.
func Text(name string) ([]byte, error) {
	data, err := presets.ReadFile(path.Clean(name) + extension)
	if err != nil {
		return nil, unknown(name)
	}
	return data, nil
}

//go:embed new.txt
var begin string

// New returns a commented network file to begin with, for a path.
func New(file string) []byte {
	title := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name := nameOf(title, "mine")
	if slices.Contains(Names(), name) {
		name = "my-" + name
	}
	return []byte(strings.NewReplacer("{{name}}", name, "{{title}}", strconv.Quote(title)).Replace(begin))
}

// Folder returns the folder of a network's files: the directory of its YAML file, or the
// folder of documents itself, as an ingest.Folder from which no link leads out; for a
// preset the directory of its name in this package, which may be missing.
func Folder(nameOrFile string) (fs.FS, error) {
	if !isPath(nameOrFile) {
		return fs.Sub(presets, path.Clean(nameOrFile))
	}
	at := filepath.Dir(nameOrFile)
	if IsFolder(nameOrFile) {
		at = nameOrFile
	}
	dir, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("network file: %w", err)
	}
	return folder.New(dir), nil
}

func isPath(s string) bool {
	ext := filepath.Ext(s)
	return ext == ".yaml" || ext == ".yml" || strings.ContainsAny(s, `/\`)
}

func unknown(name string) error {
	known := Names()
	if near := nearest.Of(name, known); near != "" {
		return fmt.Errorf("%w %q; did you mean %q?", ErrUnknown, name, near)
	}
	return fmt.Errorf("%w %q; use %s, or the path of a .yaml file", ErrUnknown, name, strings.Join(known, ", "))
}

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
