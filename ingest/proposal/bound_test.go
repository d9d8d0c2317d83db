package proposal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
)

// keeping is a recorder that says what it was told to keep, too.
type keeping struct {
	recorder
	kept []string
}

func (k *keeping) Keep(ref catalog.Ref) { k.kept = append(k.kept, ref.String()) }

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
	c, err := open(given(f), ingest.Environment{Network: testNetwork(), WorkDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	out := &keeping{recorder: recorder{entries: map[catalog.Ref]catalog.Entry{},
		events: map[string][]catalog.Event{}}}
	if _, _, err := c.Sync(t.Context(), nil, out); err != nil {
		t.Fatal(err)
	}
	want := []string{"cip CIP-0002", "cip PR-8"}
	if diff := cmp.Diff(want, out.keys()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	wantSkipped := []string{
		fmt.Sprintf("cip-0001/cip-0001.md: has %d bytes, larger than the limit of 2097152", len(of("0001", tooLong))),
		fmt.Sprintf("pull request 5: has %d bytes, larger than the limit of 2097152", len(frontMatter(15<<20))),
		"pull request 6: has 4194304 bytes, larger than the limit of 2097152",
		"pull request 7: proposal: cip-c/cip-c.md: its header has 71680 bytes, larger than the limit of 65536",
		"pull request 9: proposal: cip-e/cip-e.md: its header has 73758 bytes, larger than the limit of 65536",
	}
	if diff := cmp.Diff(wantSkipped, out.skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"attachment cip-0001/notes.md", "cip CIP-0001", "cip PR-5", "cip PR-6", "cip PR-7",
		"cip PR-9"}, out.kept); diff != "" {
		t.Errorf("kept as they were (-want +got):\n%s", diff)
	}
}
