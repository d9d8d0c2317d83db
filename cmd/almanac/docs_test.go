package main

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// TestGeneratedPages compares the pages of docs that commands print.
func TestGeneratedPages(t *testing.T) {
	for file, command := range map[string][]string{
		"../../docs/configuration.md": {"config", "--markdown"},
		"../../docs/tools.md":         {"tools", "list", "--markdown"},
	} {
		var out bytes.Buffer
		if code := runMain(t.Context(), command, nil, &out, io.Discard); code != 0 {
			t.Fatal(command, code)
		}
		if *updateTour {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(have, out.Bytes()) {
			t.Errorf("%s is not what almanac %v prints (go test ./cmd/almanac -run GeneratedPages -update writes it): %v",
				file, command, err)
		}
	}
}
