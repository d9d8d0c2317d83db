package proposals_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/memory"
	"almanac/ingest/proposal"
)

// keeping is a recorder that says what it was told to keep, too.
type keeping struct {
	recorder
	kept []string
}

func (k *keeping) Keep(ref catalog.Ref) { k.kept = append(k.kept, ref.String()) }

// syncHeld runs a connector once with what an earlier run had in hand.
func syncHeld(t *testing.T, options map[string]any, held ...string) *keeping {
	t.Helper()
	dir := t.TempDir()
	for _, text := range held {
		if err := memory.NewHand(dir, "1").Take([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := open(options, ingest.Environment{Network: testNetwork(), WorkDir: t.TempDir(), Hand: memory.NewHand(dir, "1")})
	if err != nil {
		t.Fatal(err)
	}
	out := &keeping{recorder: recorder{entries: map[catalog.Ref]catalog.Entry{},
		events: map[string][]catalog.Event{}}}
	if _, err := c.Sync(t.Context(), "", out); err != nil {
		t.Fatal(err)
	}
	return out
}

// of returns a text with more below its header.
func of(number, more string) string { return text(number, "Lamps", "Draft") + more }

// frontMatter is a proposal whose front matter has size bytes.
func frontMatter(size int) string {
	const head, tail = "title: Lamps\nstatus: Draft\nx: [1", "]"
	return "---\n" + head + strings.Repeat(",1", (size-len(head)-len(tail))/2) + tail + "\n---\n\n## Abstract\n\nLit.\n"
}

var (
	tooLong   = strings.Repeat("# a\n", ingest.MaxText/4)
	longLines = strings.Repeat("One of many lines about lamps.\n", 3000)
)

func TestWhatIsTooLargeIsSkipped(t *testing.T) {
	f := newForge(t)
	f.commit("Start", map[string]string{"cip-0001/cip-0001.md": of("0001", ""), "cip-0001/notes.md": "# Notes"})
	f.commit("Longer (#1)", map[string]string{"cip-0001/cip-0001.md": of("0001", tooLong),
		"cip-0002/cip-0002.md": of("0002", longLines)})
	f.pull(5, true, map[string]string{"cip-a/cip-a.md": frontMatter(15 << 20)})
	f.pull(6, true, map[string]string{"cip-b/cip-b.md": tooLong + tooLong})
	f.pull(7, true, map[string]string{"cip-c/cip-c.md": frontMatter(70 << 10)})
	f.pull(8, true, map[string]string{"cip-d/cip-d.md": frontMatter(60 << 10)})
	f.pull(9, true, map[string]string{"cip-e/cip-e.md": "<pre>\nCIP: 9\nStatus: Draft\nAuthor: Ada" +
		strings.Repeat(" Quill", 12<<10) + "\n</pre>\n"})
	out := syncHeld(t, given(f))
	want := []string{"cip CIP-0002", "cip PR-8"}
	if diff := cmp.Diff(want, out.keys()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	wantSkipped := []string{
		fmt.Sprintf("cip-0001/cip-0001.md: has %d bytes, larger than the limit of 2097152", len(of("0001", tooLong))),
		fmt.Sprintf("pull request 5: has %d bytes, larger than the limit of 2097152", len(frontMatter(15<<20))),
		"pull request 6: has 4194304 bytes, larger than the limit of 2097152",
		"pull request 7: proposals: cip-c/cip-c.md: its header has 71680 bytes, larger than the limit of 65536",
		"pull request 9: proposals: cip-e/cip-e.md: its header has 73758 bytes, larger than the limit of 65536",
	}
	if diff := cmp.Diff(wantSkipped, out.skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"attachment cip-0001/notes.md", "cip CIP-0001", "cip PR-5", "cip PR-6", "cip PR-7",
		"cip PR-9"}, out.kept); diff != "" {
		t.Errorf("kept as they were (-want +got):\n%s", diff)
	}
}

func TestGrantsThatAreTooLargeAreSkipped(t *testing.T) {
	f := newForge(t)
	grant := func(more string) string { return "# Ropes\n\n**Author:** Ada Quill\n**Status:** Approved\n\n" + more }
	f.commit("Ropes (#1)", map[string]string{"proposals/ropes.md": grant(tooLong)})
	f.commit("Nets (#2)", map[string]string{"proposals/nets.md": grant("Nets."), "proposals/two.md": grant(tooLong)})
	f.pull(3, true, map[string]string{"proposals/oars.md": frontMatter(15 << 20)})
	out := syncHeld(t, given(f, "kind", "grant"))
	if diff := cmp.Diff([]string{"proposal 2"}, out.keys()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"proposal 1", "proposal 2/proposals/two.md", "proposal 3"}, out.kept); diff != "" ||
		len(out.skipped) != 3 {
		t.Errorf("kept as they were (-want +got):\n%s\nskipped %q", diff, out.skipped)
	}
}

func TestWhatARunEndedWithIsSkipped(t *testing.T) {
	f := newForge(t)
	lamps, ropes := of("0001", longLines), of("0003", longLines+"Ropes.\n")
	f.commit("Lamps", map[string]string{"cip-0001/cip-0001.md": lamps, "cip-0001/notes.md": longLines,
		"cip-0002/cip-0002.md": of("0002", longLines)})
	f.pull(3, true, map[string]string{"cip-r/cip-r.md": ropes})
	out := syncHeld(t, given(f), lamps, ropes, longLines)
	if diff := cmp.Diff([]string{"cip CIP-0002"}, out.keys()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if len(out.skipped) != 2 || len(out.kept) != 3 {
		t.Errorf("skipped %q, kept %q", out.skipped, out.kept)
	}
	for _, s := range out.skipped {
		if !strings.Contains(s, memory.ErrHeld.Error()) {
			t.Errorf("%s: does not say why", s)
		}
	}
	if again := syncHeld(t, given(f)); len(again.entries) != 4 || len(again.skipped) != 0 {
		t.Errorf("without it: %v, skipped %q", again.keys(), again.skipped)
	}
}

func TestReaderRefusesWhatIsTooLarge(t *testing.T) {
	r := proposal.Reader{Network: testNetwork()}
	pull := &catalog.PullRequest{Number: 3, State: "open"}
	for name, text := range map[string]string{"a text": tooLong + ".", "front matter": frontMatter(70 << 10)} {
		in := proposal.File{Path: "a.md", Text: text, Pull: pull}
		_, asProposal := r.Proposal(in)
		_, asGrant := r.Grant(in)
		for _, err := range []error{asProposal, asGrant} {
			if !errors.Is(err, proposal.ErrTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
