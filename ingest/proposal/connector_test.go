package proposal_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/proposal"
	"almanac/text/options"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a Sink that keeps what it gets.
type recorder struct {
	entries map[catalog.Ref]catalog.Entry
	events  map[string][]catalog.Event
	warned  []string
	skipped []string
}

func (r *recorder) Begin([]byte) error { return nil }

func (r *recorder) Put(_ context.Context, e catalog.Entry) error {
	ref := e.Record.Ref()
	if _, twice := r.entries[ref]; twice {
		return fmt.Errorf("%s twice", ref)
	}
	if e.Parent.Key != "" {
		if _, ok := r.entries[e.Parent]; !ok {
			return fmt.Errorf("%s before its parent %s", ref, e.Parent)
		}
	}
	r.entries[ref] = e
	return nil
}

func (r *recorder) Events(_ context.Context, events []catalog.Event) error {
	key := events[0].Ref.Key
	if _, twice := r.events[key]; twice {
		return fmt.Errorf("events of %s twice", key)
	}
	r.events[key] = events
	return nil
}
func (r *recorder) Snapshot(catalog.Snapshot) {}

func (r *recorder) Keep(catalog.Ref)          {}
func (r *recorder) Skip(at string, err error) { r.skipped = append(r.skipped, at+": "+err.Error()) }
func (r *recorder) Warn(at, message string)   { r.warned = append(r.warned, at+": "+message) }
func (r *recorder) Progress(int, int)         {}

func (r *recorder) keys() []string {
	var keys []string
	for ref := range maps.Keys(r.entries) {
		keys = append(keys, ref.String())
	}
	slices.Sort(keys)
	return keys
}

// open makes the connector of a source.
func open(given map[string]any, env ingest.Environment) (ingest.Connector[[]byte], error) {
	src := network.Source{Name: "test", Kind: proposal.Kind.Name, Options: options.Of(given)}
	return ingest.Kinds(proposal.Kind).Connector(src, env)
}

// outcome is that of a run, with what it leaves for the next one.
type outcome struct {
	ingest.Outcome
	Cursor string
}

// sync runs a connector once.
func sync(t testing.TB, work, cursor string, options map[string]any) (*recorder, outcome) {
	t.Helper()
	return syncOf(t, testNetwork(), work, cursor, options)
}

// syncOf runs the connector of a network once.
func syncOf(
	t testing.TB, n network.Network, work, cursor string, options map[string]any,
) (*recorder, outcome) {
	t.Helper()
	out := &recorder{entries: map[catalog.Ref]catalog.Entry{}, events: map[string][]catalog.Event{}}
	c, err := open(options, ingest.Environment{Network: n, WorkDir: work})
	if err != nil {
		t.Fatal(err)
	}
	after, o, err := c.Sync(t.Context(), []byte(cursor), out)
	if err != nil {
		t.Fatal(err)
	}
	return out, outcome{o, string(after)}
}

// forge is a repository as a host of pull requests keeps it.
type forge struct {
	t   *testing.T
	dir string
	day int
}

func newForge(t *testing.T) *forge {
	f := &forge{t: t, dir: t.TempDir()}
	f.git("init", "--quiet", "--initial-branch=main")
	return f
}

func (f *forge) git(args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git",
		append([]string{"-C", f.dir, "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false"}, args...)...)
	when := fmt.Sprintf("2031-01-%02dT12:00:00+02:00", f.day)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada Quill",
		"GIT_AUTHOR_EMAIL=a@x.example", "GIT_COMMITTER_NAME=Host", "GIT_COMMITTER_EMAIL=h@x.example",
		"GIT_AUTHOR_DATE="+when,
		"GIT_COMMITTER_DATE="+when)
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files (an empty text removes one) and commits them a day after
// the last commit.
func (f *forge) commit(message string, files map[string]string) string {
	f.t.Helper()
	f.day++
	for name, text := range files {
		path := filepath.Join(f.dir, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				f.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	f.git("add", "--all")
	f.git("commit", "--quiet", "--message", message)
	return f.git("rev-parse", "HEAD")
}

// pull makes a pull request from the branch's head and goes back to it.
func (f *forge) pull(number int, mergeable bool, files map[string]string) {
	f.t.Helper()
	f.git("checkout", "--quiet", "--detach")
	hash := f.commit("work on it", files)
	f.git("update-ref", fmt.Sprintf("refs/pull/%d/head", number), hash)
	if mergeable {
		f.git("update-ref", fmt.Sprintf("refs/pull/%d/merge", number), hash)
	}
	f.git("checkout", "--quiet", "main")
}

func text(number, title, status string) string {
	return fmt.Sprintf("## CIP %s\n\n<pre>\n  CIP: %s\n  Title: %s\n  Author: Ada Quill\n  Status: %s\n  Type: "+
		"Process\n  Created: 2030-12-01\n</pre>\n\n## Abstract\n\nThis is about %s. It says what each keeper does "+
		"with them at dusk and at dawn.\n",
		number, number, title, status, strings.ToLower(title))
}

func given(f *forge, more ...string) map[string]any {
	o := map[string]any{
		"repository": f.dir, "name": "harbour/cips",
		"url": map[string]any{"file": "https://forge.example/blob/{commit}/{path}",
			"pull": "https://forge.example/pull/{number}"},
	}
	for i := 0; i+1 < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return o
}

func TestSyncReadsProposalsDraftsAndHistory(t *testing.T) {
	f := newForge(t)
	f.commit("Start", map[string]string{
		"README.md": "| Number | Title | Author | Type | Status |\n|--|--|--|--|--|\n| cip-0001 | Lamps | Ada | " +
			"Process | Proposed |\n| cip-0009 | Lost | Bo | Process | Withdrawn |\n"})
	f.commit("Lamps (#2)", map[string]string{"cip-1/cip-1.md": text("0001", "Lamps", "Draft"),
		"cip-XXXX/cip-XXXX.md": text("XXXX", "<title>", "Draft")})
	f.commit("Follow naming (#3)", map[string]string{"cip-1/cip-1.md": "", "cip-0001/cip-0001.md": text("0001", "Lamps",
		"Draft"), "cip-0001/votes on it.pdf": "no pdf"})
	f.commit("Approve (#4)", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Approved")})
	f.commit("Nets (#5)", map[string]string{"CIP-0002/Cip-0002.md": text("0002", "Nets", "Final") +
		"\n[Vote](/CIP-0002/ballot%20%281%29.pdf)\n", "CIP-0002/ballot (1).pdf": "x", "CIP-0002/images/net.png": "png",
		"CIP-0002/notes.md": "# Notes on nets"})
	f.commit("Back", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Proposed")})
	f.pull(7, true, map[string]string{"cip-ropes/cip-ropes.md": text("<to be assigned>", "Ropes", "Draft"),
		"README.md": "changed"})
	f.pull(8, false, map[string]string{"cip-0002/cip-0002.md": text("0002", "Better nets", "Approved")})
	f.pull(9, true, map[string]string{"README.md": "only the table"})
	head := f.git("rev-parse", "HEAD")

	out, outcome := sync(t, t.TempDir(), "", given(f))
	if !outcome.Complete || outcome.Cursor == "" || len(out.skipped) > 0 {
		t.Errorf("outcome %+v, skipped %v", outcome, out.skipped)
	}
	want := []string{
		"attachment CIP-0002/ballot (1).pdf", "attachment CIP-0002/images/net.png", "attachment CIP-0002/notes.md",
		"attachment cip-0001/votes on it.pdf", "cip CIP-0001", "cip CIP-0002", "cip PR-7", "cip PR-8",
	}
	if diff := cmp.Diff(want, out.keys()); diff != "" {
		t.Fatalf("records (-want +got):\n%s", diff)
	}
	get := func(kind catalog.Kind, key string) catalog.Entry {
		return out.entries[catalog.Ref{Kind: kind, Key: key}]
	}
	at := func(d int) time.Time { return time.Date(2031, 1, d, 10, 0, 0, 0, time.UTC) }

	lamps := get(catalog.KindCIP, "CIP-0001")
	if lamps.Record.State != "Review" || !lamps.Record.UpdatedAt.Equal(at(6)) ||
		lamps.Record.URL != "https://forge.example/blob/"+head+"/cip-0001/cip-0001.md" {
		t.Errorf("CIP-0001: %+v", lamps.Record)
	}
	if diff := cmp.Diff([]string{"PR-2", "PR-3", "PR-4"}, lamps.Aliases); diff != "" {
		t.Errorf("aliases of CIP-0001 (-want +got):\n%s", diff)
	}
	if p := decode[catalog.CIP](t, lamps).Pull; p == nil || p.Number != 2 || p.State != "merged" ||
		p.MergedAt != "2031-01-02T10:00:00Z" {
		t.Errorf("pull request of CIP-0001: %+v", p)
	}
	ropes := get(catalog.KindCIP, "PR-7").Record
	if ropes.State != "Draft" || ropes.Title != "Ropes" || ropes.URL != "https://forge.example/pull/7" ||
		ropes.Path != "cip-ropes/cip-ropes.md" {
		t.Errorf("PR-7: %+v", ropes)
	}
	if nets := get(catalog.KindCIP, "PR-8").Record; nets.State != "Withdrawn" || nets.Title != "Better nets" {
		t.Errorf("PR-8: %+v", nets)
	}
	for key, role := range map[string]string{"cip-0001/votes on it.pdf": "vote_record",
		"CIP-0002/ballot (1).pdf": "vote_record", "CIP-0002/images/net.png": "figure", "CIP-0002/notes.md": "other"} {
		if a := decode[catalog.Attachment](t, get(catalog.KindAttachment, key)); a.Role != role ||
			a.TextLayer != (key == "CIP-0002/notes.md") {
			t.Errorf("%s: %+v", key, a)
		}
	}

	var events []string
	for _, key := range []string{"CIP-0001", "CIP-0002", "CIP-0009"} {
		for _, e := range out.events[key] {
			events = append(events, fmt.Sprintf("%s %d %s→%s %s %s", key, e.At.Day(), e.RawFrom, e.RawTo, e.Via,
				e.Subject))
		}
	}
	wantEvents := []string{
		"CIP-0001 1 →Proposed index Start", "CIP-0001 2 Proposed→Draft header Lamps (#2)",
		"CIP-0001 4 Draft→Approved header Approve (#4)", "CIP-0001 6 Approved→Proposed header Back",
		"CIP-0002 5 →Final header Nets (#5)", "CIP-0009 1 →Withdrawn index Start",
	}
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestSyncFollowsTheRepository(t *testing.T) {
	f := newForge(t)
	first := f.commit("Lamps (#1)", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Draft")})
	f.commit("Nets (#2)", map[string]string{"cip-0002/cip-0002.md": text("0002", "Nets", "Draft")})
	work := t.TempDir()
	_, before := sync(t, work, "", given(f))

	out, again := sync(t, work, before.Cursor, given(f))
	if len(out.entries)+len(out.events) > 0 || again.Complete || again.Cursor != before.Cursor {
		t.Errorf("an unchanged repository yields %v, %+v", out.keys(), again)
	}

	f.pull(3, true, map[string]string{"cip-0003/cip-0003.md": text("0003", "Ropes", "Draft")})
	out, drafted := sync(t, work, before.Cursor, given(f))
	if _, ok := out.entries[catalog.Ref{Kind: catalog.KindCIP, Key: "PR-3"}]; !ok || !drafted.Complete {
		t.Errorf("a new pull request is not seen: %v", out.keys())
	}
	f.git("update-ref", "-d", "refs/pull/3/merge")
	out, closed := sync(t, work, drafted.Cursor, given(f))
	if s := out.entries[catalog.Ref{Kind: catalog.KindCIP, Key: "PR-3"}].Record.State; s != "Withdrawn" {
		t.Errorf("a closed pull request is %q", s)
	}

	// The branch is rewritten: what was in the second commit is gone.
	f.git("reset", "--quiet", "--hard", first)
	out, rewritten := sync(t, work, closed.Cursor, given(f))
	if diff := cmp.Diff([]string{"cip CIP-0001", "cip PR-3"}, out.keys()); diff != "" || !rewritten.Complete {
		t.Errorf("rewritten history (-want +got):\n%s", diff)
	}

	out, _ = sync(t, work, rewritten.Cursor, given(f, "name", "other/name"))
	if len(out.entries) == 0 {
		t.Error("changed options leave the records as they were")
	}
	if err := os.RemoveAll(filepath.Join(work, "repository.git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if out, _ = sync(t, work, "", given(f)); len(out.entries) != 2 {
		t.Errorf("a broken clone is not recreated: %v", out.keys())
	}
}

func TestSyncReadsGrants(t *testing.T) {
	f := newForge(t)
	grant := func(title string) string {
		return "# Development Fund Proposal: " + title +
			"\n\n**Author:** Ada Quill\n**Status:** Approved\n\n## Abstract\n\nThe " + title +
			" is kept dry in the shed by the pier.\n\n" +
			strings.Repeat("More of "+title+" on a line of its own.\n", 12)
	}
	f.commit("template (#1)", map[string]string{"proposals/_template.md": "# Development Fund Proposal",
		"people.md": "# People"})
	f.commit("Ropes (#2)", map[string]string{"proposals/ropes.md": grant("rope"),
		"proposals/rope annex.md": grant("annex"), "proposals/rope.png": "png"})
	f.commit("Nets (#3)", map[string]string{"proposals/nets.md": grant("net")})
	f.commit("Names updated (#4)", map[string]string{
		"proposals/ropes.md": "", "proposals/2031-01 ropes.md": grant("rope") + "Renamed.\n", "proposals/nets.md": "",
		"proposals/2031-02-nets.md": grant("net"),
	})
	f.commit("Amend nets (#5)", map[string]string{"proposals/2031-02-nets.md": grant("better net")})
	f.commit("People (#6)", map[string]string{"people.md": "# People\n\nAda"})
	f.pull(7, true, map[string]string{"proposals/oars.md": grant("oar"), "proposals/_template.md": "# changed"})
	f.pull(8, false, map[string]string{"people.md": "# Others"})

	o := given(f, "kind", "grant", "name", "harbour/fund")
	o["paths"], o["exclude"], o["bulk_pulls"] = []any{"proposals/*"}, []any{"people.md", "**/_template.md"}, []any{4}
	out, _ := sync(t, t.TempDir(), "", o)
	want := []string{
		"attachment proposals/rope.png", "proposal 2", "proposal 2/proposals/rope annex.md", "proposal 3", "proposal 5",
		"proposal 7",
	}
	if diff := cmp.Diff(want, out.keys()); diff != "" || len(out.skipped) > 0 {
		t.Fatalf("records (-want +got):\n%s\nskipped %v", diff, out.skipped)
	}
	get := func(key string) catalog.Entry { return out.entries[catalog.Ref{Kind: catalog.KindGrant, Key: key}] }
	ropes := get("2")
	if ropes.Record.Path != "proposals/2031-01 ropes.md" || !strings.Contains(ropes.Record.Body, "Renamed.") ||
		ropes.Record.State != "closed" {
		t.Errorf("grant 2: %+v", ropes.Record)
	}
	if data := decode[catalog.Grant](t, ropes); !data.Merged || data.Pull.MergedAt == "" || len(data.Files) != 2 {
		t.Errorf("grant 2: %+v", data)
	}
	head := f.git("rev-parse", "HEAD")
	if annex := get("2/proposals/rope annex.md").Record; annex.URL !=
		"https://forge.example/blob/"+head+"/proposals/rope%20annex.md" {
		t.Errorf("a further file of grant 2: %s", annex.URL)
	}
	if nets := get("3").Record; nets.Path != "proposals/2031-02-nets.md" || nets.Title != "Better net" {
		t.Errorf("grant 3: %q at %s", nets.Title, nets.Path)
	}
	if oars := get("7").Record; oars.State != "open" || oars.Title != "Oar" ||
		oars.URL != "https://forge.example/pull/7" {
		t.Errorf("grant 7: %+v", oars)
	}
	states := map[string]string{}
	for key, events := range out.events {
		for _, e := range events {
			states[key] += fmt.Sprintf("%s %d ", e.To, e.At.Day())
		}
	}
	if diff := cmp.Diff(map[string]string{"2": "merged 2 ", "3": "merged 3 ", "5": "merged 5 ", "7": "open 7 "},
		states); diff != "" {
		t.Errorf("changes of state (-want +got):\n%s", diff)
	}
}

// TestANumberInTheHeaderFindsItsDraft: as long as no proposal of the branch has the
// number, and one draft alone says it.
func TestANumberInTheHeaderFindsItsDraft(t *testing.T) {
	f := newForge(t)
	f.commit("Lamps (#1)", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Final")})
	for n, c := range map[int]struct {
		number string
		open   bool
	}{2: {"0001", true}, 3: {"0007", false}, 4: {"0008", true}, 5: {"0008", false}, 6: {"0009", true}, 7: {"0009", true},
		8: {"TBD", true}} {
		f.pull(n, c.open, map[string]string{fmt.Sprintf("cip-x/%d.md", n): text(c.number, fmt.Sprint("Ropes ", n), "Draft")})
	}
	out, _ := sync(t, t.TempDir(), "", given(f))
	got := map[string][]string{}
	for ref, e := range out.entries {
		if len(e.Aliases) > 0 {
			got[ref.Key] = e.Aliases
		}
	}
	want := map[string][]string{"CIP-0001": {"PR-1"}, "PR-3": {"CIP-0007"}, "PR-4": {"CIP-0008"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("aliases (-want +got)\n%s", diff)
	}
}

// TestReferencesOfAnyForge reads the pull requests of hosts that name them
// otherwise: what is open there and cannot be seen is not withdrawn.
func TestReferencesOfAnyForge(t *testing.T) {
	for name, c := range map[string]struct {
		head, merge string // reference of a pull request
		merged      string // message of a merge
		closed      string // state of a draft without a merge reference
	}{
		"GitHub":           {"refs/pull/%d/head", "refs/pull/%d/merge", "Merge pull request #2 from ada/nets", "Withdrawn"},
		"GitHub, squashed": {"refs/pull/%d/head", "refs/pull/%d/merge", "Nets (#2)", "Withdrawn"},
		"Forgejo": {"refs/pull/%d/head", "refs/pull/%d/merge",
			"Merge pull request 'Nets' (#2) from nets into main", "Withdrawn"},
		"GitLab": {"refs/merge-requests/%d/head", "refs/merge-requests/%d/merge",
			"Merge branch 'nets' into 'main'\n\nNets\n\nSee merge request harbour/cips!2", "Draft"},
		"GitLab, squashed": {"refs/merge-requests/%d/head", "refs/merge-requests/%d/merge", "Nets (!2)", "Draft"},
		"Bitbucket": {"refs/pull-requests/%d/from", "refs/pull-requests/%d/merge",
			"Pull request #2: Nets\n\nMerge in HAR/cips from nets to main", "Withdrawn"},
		"Bitbucket's cloud": {"refs/pull-requests/%d/from", "refs/pull-requests/%d/merge",
			"Merged in nets (pull request #2)", "Withdrawn"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForge(t)
			f.commit("Start", map[string]string{"README.md": "# All"})
			f.commit(c.merged, map[string]string{"cip-0001/cip-0001.md": text("0001", "Nets", "Final")})
			for n, open := range map[int]bool{3: true, 4: false} {
				f.pull(n, open, map[string]string{fmt.Sprintf("cip-x/%d.md", n): text("TBD", fmt.Sprint("Lamps ", n), "Draft")})
				for from, to := range map[string]string{"head": c.head, "merge": c.merge} {
					if from == "merge" && !open {
						continue
					}
					old := fmt.Sprintf("refs/pull/%d/%s", n, from)
					hash := f.git("rev-parse", old)
					f.git("update-ref", "-d", old)
					f.git("update-ref", fmt.Sprintf(to, n), hash)
				}
			}
			out, _ := sync(t, t.TempDir(), "", given(f))
			got := map[string]string{}
			for ref, e := range out.entries {
				got[ref.Key] = fmt.Sprint(e.Record.State, e.Aliases)
			}
			want := map[string]string{"CIP-0001": "Final[PR-2]", "PR-3": "Draft[]", "PR-4": c.closed + "[]"}
			if diff := cmp.Diff(want, got); diff != "" || len(out.skipped) > 0 {
				t.Errorf("skipped %q (-want +got)\n%s", out.skipped, diff)
			}
		})
	}
}

// TestReadsBranchesOfDrafts: a network may draft on branches. What these add is a
// proposal by its number, unless the main branch or a pull request has that.
func TestReadsBranchesOfDrafts(t *testing.T) {
	f := newForge(t)
	f.commit("Start", map[string]string{"README.md": "# All", "cip-0001.md": text("0001", "Nets", "Final")})
	f.pull(3, true, map[string]string{"cip-new.md": text("0009", "Ropes", "Draft")})
	branch := func(name string, files map[string]string) string {
		f.git("checkout", "--quiet", "-b", name)
		defer f.git("checkout", "--quiet", "main")
		return f.commit("Draft", files)
	}
	at := branch("draft/lamps", map[string]string{"cip-0007.md": text("0007", "Lamps", "Draft"),
		"notes.md": "# Notes\n\nNone.\n", "README.md": "# All of them"})
	branch("draft/more", map[string]string{"cip-0001.md": text("0001", "Finer nets", "Draft"),
		"cip-0007.md": text("0007", "Other lamps", "Draft"), "ropes.md": text("0009", "Other ropes", "Draft")})
	branch("fix/words", map[string]string{"cip-0008.md": text("0008", "Buoys", "Draft")})
	f.git("branch", "draft/merged")
	o := given(f)
	o["drafts"] = []string{"draft/**"}
	out, _ := sync(t, t.TempDir(), "", o)
	got := map[string]string{}
	for ref, e := range out.entries {
		got[ref.Key] = fmt.Sprint(e.Record.Title, " ", e.Record.State, " ", e.Record.URL)
	}
	nets := out.entries[catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0001"}].Record
	want := map[string]string{"CIP-0001": "Nets Final " + nets.URL,
		"PR-3":     "Ropes Draft https://forge.example/pull/3",
		"CIP-0007": "Lamps Draft https://forge.example/blob/" + at + "/cip-0007.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	said := strings.Join(out.skipped, "\n")
	for _, reason := range []string{"draft/lamps: notes.md: ", "draft/more: cip-0001.md: ", "the main branch has CIP-0001",
		"branch draft/lamps", "ropes.md: ", "pull request 3 has CIP-0009"} {
		if !strings.Contains(said, reason) {
			t.Errorf("%q is not said:\n%s", reason, said)
		}
	}
	if len(out.skipped) != 4 {
		t.Errorf("skipped:\n%s", said)
	}
}

func TestBadSourcesAreErrors(t *testing.T) {
	env := ingest.Environment{Network: testNetwork(), WorkDir: t.TempDir()}
	for name, o := range map[string]map[string]any{
		"no repository":      {},
		"an unknown kind":    {"repository": "x", "kind": "rfc"},
		"an unknown option":  {"repository": "x", "brunch": "main"},
		"an option as a ref": {"repository": "x", "branch": "--upload-pack=x"},
		"a path upwards":     {"repository": "x", "branch": "a/../../b"},
		"branches of grants": {"repository": "x", "kind": "grant", "drafts": []string{"draft/*"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := open(o, env); err == nil {
				t.Error("is accepted")
			}
		})
	}
	marker := filepath.Join(t.TempDir(), "marker")
	empty := newForge(t)
	for name, repository := range map[string]string{
		"an option as a repository": "--upload-pack=touch " + marker,
		"a command as a repository": "ext::sh -c touch% " + marker,
		"another helper":            "ext://touch " + marker,
		"a missing path":            filepath.Join(t.TempDir(), "missing"),
		"a repository without main": empty.dir,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := open(map[string]any{"repository": repository}, env)
			if err != nil {
				t.Fatal(err)
			}
			out := &recorder{}
			if _, outcome, err := c.Sync(t.Context(), nil, out); err == nil || outcome.Complete {
				t.Errorf("Sync = %+v, %v", outcome, err)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("ran a command")
			}
		})
	}
	t.Run("a cancelled run", func(t *testing.T) {
		f := newForge(t)
		f.commit("Lamps", map[string]string{"cip-0001/cip-0001.md": text("0001", "Lamps", "Draft")})
		c, err := open(given(f), env)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := c.Sync(ctx, nil, &recorder{}); err == nil {
			t.Error("ends well")
		}
	})
}
