package proposal_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/proposal"
	"almanac/testing/editiontest"
)

// writer keeps what is put, as text.
type writer struct {
	ingest.Sink
	t     *testing.T
	lines []string
}

func (w *writer) add(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	w.lines = append(w.lines, string(raw))
}

func (w *writer) Put(_ context.Context, e catalog.Entry) error {
	w.add(e)
	return nil
}

func (w *writer) Events(_ context.Context, events []catalog.Event) error {
	w.add(events)
	return nil
}

func (w *writer) Begin([]byte) error                 { return nil }
func (w *writer) Keep(catalog.Ref)                   {}
func (w *writer) Progress(int, int)                  {}
func (w *writer) Warn(locator, message string)       { w.add([]string{locator, message}) }
func (w *writer) Skip(locator string, because error) { w.add([]string{locator, because.Error()}) }

func TestEdition(t *testing.T) {
	day := time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)
	texts := map[string]string{
		"README.md": "# Proposals\n\n| Number | Title | Status |\n|---|---|---|\n| 7 | Lamps at dusk | Active |\n",
		"cip-0007/cip-0007.md": "<pre>\nCIP: 0007\nTitle: Lamps at dusk\nAuthor: Ada Quill\nStatus: Final\n" +
			"Created: 2031-05-04\nReplaces: 3\n</pre>\n\n## Abstract\n\nLamps are lit at dusk. They burn until six.\n",
		"cip-0007/table.csv": "lamp,hour\nfirst,18\n",
		"cip-0008.rst":       "Tides\n=====\n\n:CIP: 8\n:Status: Draft\n\nAbstract\n--------\n\nTides are told by a bell.\n",
		"drafts/bell.md":     "---\ntitle: A bell for fog\nstatus: Draft\n---\n\nIt rings *thrice* when nobody sees the lamp.\n",
		"grants/buoys.md": "# Buoys\n\n**Champion:** Bo Marlin\n**Funding:** 12,000 shells\n\nBuoys mark the channel.\n\n" +
			"## Milestones\n\n### Milestone 1: Moor ten\n\nTen are moored. 4,000 shells.\n",
	}
	repo := func(files ...string) *proposal.Repository {
		r := &proposal.Repository{Name: "harbour/cips", Files: map[string]string{}, Whole: true,
			URL:     func(file, _ string) string { return "https://forge.example/" + file },
			Content: func(_ context.Context, blob string, _ int64) ([]byte, error) { return []byte(texts[blob]), nil },
		}
		step := proposal.Step{At: day, Commit: "c0", Subject: "Begin"}
		for _, file := range files {
			r.Files[file] = file
			step.Changes = append(step.Changes, gitrepo.Change{New: file, Blob: r.Files[file]})
		}
		r.Steps = []proposal.Step{step}
		return r
	}
	pull := func(file string) *proposal.Pull {
		return &proposal.Pull{
			PullRequest: catalog.PullRequest{Number: 9, State: "open", Author: "Cy Reed", FirstCommit: "2031-05-02T00:00:00Z"},
			URL:         "https://forge.example/pull/9", Updated: day,
			Changes: []gitrepo.Change{{New: file, Blob: file}},
		}
	}
	out := &writer{t: t}
	for _, of := range []struct {
		kind, draft string
		repo        *proposal.Repository
	}{
		{"cip", "drafts/bell.md", repo("README.md", "cip-0007/cip-0007.md", "cip-0007/table.csv", "cip-0008.rst")},
		{"grant", "grants/buoys.md", repo("grants/buoys.md")},
	} {
		of.repo.Pulls = map[int]*proposal.Pull{9: pull(of.draft)}
		layout, err := proposal.Options{Kind: of.kind, Index: "README.md"}.Layout()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := proposal.Read(t.Context(), of.repo, layout, testNetwork(), out); err != nil {
			t.Fatal(err)
		}
	}
	editiontest.Check(t, out.lines...)
}
