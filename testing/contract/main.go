// Command contract compares what the program promises from outside with what is recorded in testdata: the catalog that
// it makes of known sources, its answers over REST, as tools and on the command line, its pages, and the description of
// its operations. It starts the program as a user does and imports nothing of it.
//
// Recorded are a digest and the length of each item. If some differ and -before names a commit, that commit is built too
// and the differences of the texts are printed.
package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// contract is what was found, by file below testdata.
type contract map[string]items

// items are normalised texts by name.
type items map[string]string

func main() {
	update := flag.Bool("update", false, "record what is found")
	before := flag.String("before", "", "a commit to print the differences to")
	texts := flag.String("texts", "", "a directory to write all texts to")
	flag.Parse()
	if err := run(*update, *before, *texts, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

// run compares the named parts, or all.
func run(update bool, before, texts string, parts []string) error {
	root, err := top()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "contract-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	found, err := observe(root, filepath.Join(dir, "now"), parts)
	if err != nil {
		return err
	}
	if texts != "" {
		if err := write(texts, found); err != nil {
			return err
		}
	}
	folder := filepath.Join(root, "testing", "contract", "testdata")
	if update {
		return record(folder, found)
	}
	var differing []string
	for _, file := range slices.Sorted(maps.Keys(found)) {
		recorded, err := read(filepath.Join(folder, file))
		if err != nil {
			return err
		}
		differing = append(differing, compare(file, recorded, found[file])...)
	}
	if len(differing) == 0 {
		fmt.Println("the contract is as it is recorded")
		return nil
	}
	for _, line := range differing {
		fmt.Println(line)
	}
	if before != "" {
		if err := explain(root, dir, before, parts, found); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d items differ: mend them, or record them with -update and say why in the commit", len(differing))
}

// compare names what is new, gone and different.
func compare(file string, recorded map[string]string, found items) (out []string) {
	all := maps.Clone(recorded)
	for name := range found {
		all[name] = ""
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, before := recorded[name]
		text, now := found[name]
		switch {
		case !now:
			out = append(out, "gone      "+file+": "+name)
		case !before:
			out = append(out, "new       "+file+": "+name)
		case was != digest(text):
			out = append(out, "different "+file+": "+name)
		}
	}
	return out
}

// explain prints the texts that differ from those of a commit.
func explain(root, dir, commit string, parts []string, found contract) error {
	tree := filepath.Join(dir, "tree")
	if _, err := command(root, nil, "git", "worktree", "add", "--detach", tree, commit); err != nil {
		return err
	}
	defer func() { _, _ = command(root, nil, "git", "worktree", "remove", "--force", tree) }()
	before, err := observe(tree, filepath.Join(dir, "before"), parts)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		for _, name := range slices.Sorted(maps.Keys(found[file])) {
			was, ok := before[file][name]
			if text := found[file][name]; ok && was != text {
				fmt.Printf("\n== %s: %s\n", file, name)
				printDifference(was, text)
			}
		}
	}
	return nil
}

// mostLines bounds the lines that are printed of an item.
const mostLines = 40

// printDifference prints the lines that only one of two texts has.
func printDifference(was, now string) {
	count := map[string]int{}
	for line := range strings.Lines(was) {
		count[line]++
	}
	var added []string
	for line := range strings.Lines(now) {
		if count[line]--; count[line] < 0 {
			added = append(added, "+ "+line)
		}
	}
	var removed []string
	for line := range strings.Lines(was) {
		if count[line] > 0 {
			count[line]--
			removed = append(removed, "- "+line)
		}
	}
	for i, line := range append(removed, added...) {
		if i == mostLines {
			fmt.Println("  …")
			return
		}
		fmt.Printf("  %.300s\n", strings.TrimRight(line, "\n"))
	}
	if len(removed)+len(added) == 0 {
		fmt.Println("  the same lines in another order")
	}
}

// digest is what is recorded of a text.
func digest(text string) string {
	return fmt.Sprintf("%.6x %d", sha256.Sum256([]byte(text)), len(text))
}

// record writes the digests of what was found.
func record(folder string, found contract) error {
	for file, all := range found {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&b, "%s\t%s\n", digest(all[name]), name)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, file), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// write writes the texts of each file as one, to be compared by other programs.
func write(dir string, found contract) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for file, all := range found {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&b, "=== %s\n%s\n", name, all[name])
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// read returns the digests of a file by name; a file that is missing has none.
func read(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			return nil, fmt.Errorf("%s: no digest in %q", file, lines.Text())
		}
		out[name] = sum
	}
	return out, lines.Err()
}
