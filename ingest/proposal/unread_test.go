package proposal_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
)

// commits adds so many empty commits on top of main under a reference.
func (f *forge) commits(ref string, count int) {
	f.t.Helper()
	f.day++
	var in bytes.Buffer
	for i := range count {
		fmt.Fprintf(&in, "commit %s\ncommitter Host <h@x.example> %d +0000\ndata 4\nwork\n", ref, 1_930_000_000+i)
		if i == 0 {
			fmt.Fprintf(&in, "from %s\n", f.git("rev-parse", "main"))
		}
	}
	cmd := exec.CommandContext(f.t.Context(), "git", "-C", f.dir, "fast-import", "--quiet")
	cmd.Stdin = &in
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("git fast-import: %v: %s", err, out)
	}
}

// deep is a path below more directories than are read.
var deep = strings.Repeat("d/", 300) + "cip-0009.md"

// TestAnUnreadablePullRequestIsSkipped: one bad reference of the host costs neither the
// proposals of main nor the other drafts, and why it is left out is said.
func TestAnUnreadablePullRequestIsSkipped(t *testing.T) {
	f := newForge(t)
	f.commit("Lamps", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Draft")})
	f.git("update-ref", "refs/pull/3/head", f.git("rev-parse", "main^{tree}"))
	f.commits("refs/pull/4/head", 5001)
	f.pull(5, true, map[string]string{deep: text("0009", "Ropes", "Draft")})
	f.pull(6, true, map[string]string{"cip-b/cip-b.md": text("TBD", "Buoys", "Draft")})
	out, outcome := sync(t, t.TempDir(), "", given(f))
	if diff := cmp.Diff([]string{"cip CIP-0001", "cip PR-6"}, out.keys()); diff != "" || !outcome.Complete {
		t.Errorf("complete %t, records (-want +got):\n%s", outcome.Complete, diff)
	}
	for i, want := range []string{"pull request 3: head: ", "pull request 4: more than 5000 commits",
		"directories deeper than 256"} {
		if len(out.skipped) != 3 || !strings.Contains(out.skipped[i], want) {
			t.Errorf("%q is not said: %q", want, out.skipped)
		}
	}
}

// TestAPullRequestWithANameThatNoFileHasIsSkipped: git writes no such tree, but who makes
// one by hand can propose it.
func TestAPullRequestWithANameThatNoFileHasIsSkipped(t *testing.T) {
	f := newForge(t)
	f.commit("Lamps", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Draft")})
	object := func(kind, content string) string {
		file := filepath.Join(t.TempDir(), "object")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return f.git("hash-object", "-t", kind, "-w", "--literally", file)
	}
	entry := func(mode, name, hash string) string {
		raw, err := hex.DecodeString(hash)
		if err != nil {
			t.Fatal(err)
		}
		return mode + " " + name + "\x00" + string(raw)
	}
	ropes := object("blob", text("TBD", "Ropes", "Draft"))
	lamps := entry("40000", "cip-0001", f.git("rev-parse", "main:cip-0001"))
	for i, root := range []string{
		entry("40000", "..", object("tree", entry("100644", "lip-005.md", ropes))) + lamps,
		entry("40000", ".git", object("tree", entry("100644", "lip-006.md", ropes))) + lamps,
		lamps + entry("100644", "lip-007\n\x1b[31m.md", ropes),
	} {
		for _, name := range []string{"head", "merge"} {
			f.git("update-ref", fmt.Sprintf("refs/pull/%d/%s", 3+i, name),
				f.git("commit-tree", "-p", "main", "-m", "Ropes", object("tree", root)))
		}
	}
	out, outcome := sync(t, t.TempDir(), "", given(f))
	if diff := cmp.Diff([]string{"cip CIP-0001"}, out.keys()); diff != "" || !outcome.Complete {
		t.Errorf("complete %t, records (-want +got):\n%s", outcome.Complete, diff)
	}
	for i, want := range []string{`pull request 3: a tree of git has the name ".."`,
		`pull request 4: a tree of git has the name ".git"`, `pull request 5: a tree of git has the name "lip-007\n`} {
		if len(out.skipped) != 3 || !strings.HasPrefix(out.skipped[i], want) {
			t.Errorf("%q is not said: %q", want, out.skipped)
		}
	}
}

// TestTheHeadOfAPullRequestIsInItsMerge: a host may show nothing else of an open one.
func TestTheHeadOfAPullRequestIsInItsMerge(t *testing.T) {
	f := newForge(t)
	f.commit("Lamps", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Draft")})
	f.pull(3, false, map[string]string{"cip-r/cip-r.md": text("TBD", "Ropes", "Draft")})
	head := f.git("rev-parse", "refs/pull/3/head")
	f.git("update-ref", "refs/pull/3/merge",
		f.git("commit-tree", "-p", "main", "-p", head, "-m", "Merge", head+"^{tree}"))
	f.git("update-ref", "-d", "refs/pull/3/head")
	// This one does not merge anything, so that nothing is known of its head.
	f.git("update-ref", "refs/pull/4/merge", head)
	out, _ := sync(t, t.TempDir(), "", given(f))
	if diff := cmp.Diff([]string{"cip CIP-0001", "cip PR-3"}, out.keys()); diff != "" || len(out.skipped) > 0 {
		t.Fatalf("skipped %q, records (-want +got):\n%s", out.skipped, diff)
	}
	draft := out.entries[catalog.Ref{Kind: catalog.KindCIP, Key: "PR-3"}]
	if pull := decode[catalog.CIP](t, draft).Pull; pull == nil || pull.State != "open" || pull.Head != head {
		t.Errorf("the pull request is %+v", pull)
	}
}

// TestAStateOfMainThatIsTooLargeFailsTheRun: without it the proposals are not known, and
// nothing may be taken for gone.
func TestAStateOfMainThatIsTooLargeFailsTheRun(t *testing.T) {
	f := newForge(t)
	f.commit("Deep", map[string]string{deep: text("0009", "Ropes", "Draft"),
		"cip-0001/cip-0001.md": text("0001", "Lamps", "Draft")})
	c, err := open(given(f), ingest.Environment{Network: testNetwork(), WorkDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	_, outcome, err := c.Sync(t.Context(), nil, &recorder{})
	if err == nil || !strings.Contains(err.Error(), "directories deeper than 256") || outcome.Complete {
		t.Errorf("Sync = %+v, %v", outcome, err)
	}
}

// TestAFormerStateOfMainThatIsTooLargeIsSkipped: what changed in it is dated by the next
// state and is no pull request's, as it may be the one's or the other's. Both are merged.
func TestAFormerStateOfMainThatIsTooLargeIsSkipped(t *testing.T) {
	f := newForge(t)
	f.commit("Lamps (#1)", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Draft")})
	buoys := map[string]string{deep: "much else", "cip-0002/cip-0002.md": text("0002", "Buoys", "Draft")}
	f.pull(2, false, map[string]string{"cip-0002/cip-0002.md": buoys["cip-0002/cip-0002.md"]})
	f.commit("Buoys (#2)", buoys)
	f.commit("More of it", map[string]string{deep + ".txt": "more"})
	f.commit("Approve (#3)", map[string]string{deep: "", deep + ".txt": "",
		"cip-0001/cip-0001.md": text("0001", "Lamps", "Approved")})
	f.commit("Nets (#4)", map[string]string{"cip-0003/cip-0003.md": text("0003", "Nets", "Draft")})
	out, outcome := sync(t, t.TempDir(), "", given(f))
	if !outcome.Complete || len(out.skipped) != 1 ||
		!strings.HasPrefix(out.skipped[0], "former states of the branch (2): ") ||
		!strings.Contains(out.skipped[0], "directories deeper than 256") {
		t.Errorf("complete %t, skipped %q", outcome.Complete, out.skipped)
	}
	got := map[string]string{}
	for ref, e := range out.entries {
		got[ref.Key] = fmt.Sprint(e.Aliases)
		for _, change := range out.events[ref.Key] {
			got[ref.Key] += fmt.Sprintf(" %s by %q on day %d", change.RawTo, change.Subject, change.At.Day())
		}
	}
	want := map[string]string{
		"CIP-0001": `[PR-1] Draft by "Lamps (#1)" on day 1 Approved by "Approve (#3)" on day 5`,
		"CIP-0002": `[] Draft by "Approve (#3)" on day 5`,
		"CIP-0003": `[PR-4] Draft by "Nets (#4)" on day 6`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("proposals, their pull requests and status (-want +got):\n%s", diff)
	}
}

// TestWrongOptionsAreNamed: an operator finds the line to mend by it.
func TestWrongOptionsAreNamed(t *testing.T) {
	env := ingest.Environment{Network: testNetwork(), WorkDir: t.TempDir(), Getenv: func(name string) string {
		return map[string]string{"HARBOUR_TOKEN": "hush"}[name]
	}}
	for name, tt := range map[string]struct {
		option string
		value  any
		want   string // "" = is accepted
	}{
		"a file's address": {"url", map[string]any{"file": "https://forge.example/{commit}/{file}"}, "unknown {file}"},
		"a pull request's": {"url", map[string]any{"pull": "https://forge.example/{pull}"}, "unknown {pull}"},
		"aliases": {"url", map[string]any{"file": "https://forge.example/{branch}/{source_path}",
			"pull": "https://forge.example/{n}"}, ""},
		"a token that is not there": {"token_env", "OTHER_TOKEN", "the environment variable OTHER_TOKEN is not set"},
		"a token":                   {"token_env", "HARBOUR_TOKEN", ""},
	} {
		_, err := open(map[string]any{"repository": "https://forge.example/harbour/cips", tt.option: tt.value}, env)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), tt.option) {
			t.Errorf("%s: %v does not name the option", name, err)
		}
	}
}

// TestRecordsThatLinkToNoRepositoryAreAdvisedAgainst: they are valid, but readers cannot
// look at the original.
func TestRecordsThatLinkToNoRepositoryAreAdvisedAgainst(t *testing.T) {
	file, pull := "https://forge.example/{commit}/{path}", "https://forge.example/{number}"
	for name, tt := range map[string]struct {
		repository string
		url        map[string]any
		advised    bool
	}{
		"an unknown host":    {"https://git.example.org/harbour/cips", nil, true},
		"files alone":        {"https://git.example.org/harbour/cips", map[string]any{"file": file}, true},
		"pull requests too":  {"https://git.example.org/harbour/cips", map[string]any{"file": file, "pull": pull}, false},
		"a known forge":      {"https://gitlab.example.org/harbour/cips", nil, false},
		"a directory at all": {"/srv/harbour/cips", nil, true},
	} {
		o := map[string]any{"repository": tt.repository}
		if tt.url != nil {
			o["url"] = tt.url
		}
		c, err := open(o, ingest.Environment{Network: testNetwork(), WorkDir: t.TempDir()})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		advice := c.(ingest.Advised).Advice(t.Context())
		if got := strings.Join(advice, "\n"); strings.Contains(got, "url.file and url.pull") != tt.advised ||
			len(advice) > 0 != tt.advised {
			t.Errorf("%s: the advice is %q", name, advice)
		}
	}
}
