package networks_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
)

func TestEveryPresetLoadsUnderItsName(t *testing.T) {
	names := networks.Names()
	if !slices.Contains(names, "corpus") || !slices.IsSorted(names) {
		t.Fatalf("Names() = %v; want a sorted list with corpus", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			n, err := networks.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if n.Name != name {
				t.Errorf("the file %s.yaml describes the network %q", name, n.Name)
			}
			for kind := range n.Descriptions {
				if _, ok := catalog.InfoOf(catalog.Kind(kind)); !ok {
					t.Errorf("descriptions: %q is not a kind", kind)
				}
			}
			for key := range n.Authority {
				_, kind := catalog.InfoOf(catalog.Kind(key))
				source := false
				for _, s := range n.Sources {
					source = source || s.Name == key
				}
				if !kind && !source {
					t.Errorf("authority: %q is neither a source nor a kind", key)
				}
			}
		})
	}
}

// TestACorpusMayHoldRecordsOfAnyKind: only networks that are read from one do.
func TestACorpusMayHoldRecordsOfAnyKind(t *testing.T) {
	for name, want := range map[string]bool{"corpus": true, "sample": true, "canton": false} {
		n, err := networks.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := connectors.Whole(n); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const text = "name: mine\ntitle: Mine\nproposals: {prefix: MIP, statuses: [Draft], default: Draft}\nsources: " +
		"[{name: a, kind: b}]\n"
	t.Run("a path is read", func(t *testing.T) {
		n, err := networks.Load(write("mine.yaml", text))
		if err != nil || n.Name != "mine" {
			t.Errorf("Load = %q, %v", n.Name, err)
		}
	})
	t.Run("an error names the file and line", func(t *testing.T) {
		file := write("bad.yaml", text+"extra: 1\n")
		if _, err := networks.Load(file); err == nil || !strings.Contains(err.Error(), file+":5: ") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a file that is not there", func(t *testing.T) {
		if _, err := networks.Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("an unknown name suggests the nearest preset", func(t *testing.T) {
		if _, err := networks.Load("korpus"); !errors.Is(err, networks.ErrUnknown) ||
			!strings.Contains(err.Error(), `"corpus"`) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("names do not leave the presets", func(t *testing.T) {
		for _, name := range []string{"", ".", "..", "zzzzzzzzzz"} {
			if _, err := networks.Load(name); !errors.Is(err, networks.ErrUnknown) {
				t.Errorf("Load(%q): error %v", name, err)
			}
		}
	})
}

// TestAFileMayNotBeCalledAsAPreset: both would write to one data directory, and each would
// give up what the other read.
func TestAFileMayNotBeCalledAsAPreset(t *testing.T) {
	for _, tt := range []struct {
		from, name string
		refused    bool
	}{
		{"mine.yaml", "corpus", true},
		{"lagoon/", "sample", true},
		{"mine.yaml", "lagoon", false},
		{"corpus.yaml", "lagoon", false}, // the name counts, not that of the file
		{"corpus", "corpus", false},      // the preset itself
	} {
		err := networks.CheckName(tt.from, network.Network{Name: tt.name})
		if (err != nil) != tt.refused {
			t.Errorf("%s, called %s: %v", tt.from, tt.name, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), tt.from+": ") || !strings.Contains(err.Error(), "--data")) {
			t.Errorf("%v: does not say where, or what to do", err)
		}
	}
}

// TestABegunFileIsNotCalledAsAPreset: it would be refused as soon as it is read.
func TestABegunFileIsNotCalledAsAPreset(t *testing.T) {
	for file, want := range map[string]string{"sample.yaml": "my-sample", "Corpus.yml": "my-corpus", "bay.yaml": "bay"} {
		n, err := network.Parse(file, networks.New(file))
		if err != nil || n.Name != want {
			t.Errorf("%s is called %q, %v; want %q", file, n.Name, err, want)
			continue
		}
		if err := networks.CheckName(file, n); err != nil {
			t.Error(err)
		}
	}
}

// TestThePresetsFilesAreThoseOfItsName: a preset reads no file of another, nor of the
// directory where the program runs.
func TestThePresetsFilesAreThoseOfItsName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("corpus", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"a.md", "corpus/a.md", "sample.yaml"} {
		if err := os.WriteFile(file, []byte("# A"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := networks.Folder("corpus")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.md", "sample.yaml"} {
		if data, err := fs.ReadFile(files, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestANetworkFileThatIsTooLarge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bay.yaml")
	if err := os.WriteFile(file, []byte(strings.Repeat("#\n", 2<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := networks.Load(file)
	if err == nil || !strings.Contains(err.Error(), file+": is larger than 1 MB") {
		t.Errorf("the error is %v", err)
	}
}

// TestTheDocumentedNetworkIsSound reads the network that docs/networks.md begins
// with.
func TestTheDocumentedNetworkIsSound(t *testing.T) {
	page, err := os.ReadFile("../../docs/networks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	n, err := network.Parse("networks.md", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if n.Proposals.Key("12") != "LIP-012" || len(n.Sources) != 1 {
		t.Errorf("%+v", n)
	}
	env := ingest.Environment{Network: n, WorkDir: t.TempDir(), Files: beside(t)}
	if _, err = connectors.All(time.Time{}).Connector(n.Sources[0], env); err != nil {
		t.Error(err)
	}
}

// beside returns the folder of a network file.
func beside(t *testing.T) fs.FS {
	t.Helper()
	files, err := networks.Folder(filepath.Join(t.TempDir(), "mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
