package proposals

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/proposal"
	"almanac/testing/race"
	"almanac/text/options"
)

// shared finds the directory of real material: ALMANAC_SHARED, else beside
// the repository.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	dir := os.Getenv("ALMANAC_SHARED")
	if dir == "" {
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for !exists(filepath.Join(root, "go.mod")) && filepath.Dir(root) != root {
			root = filepath.Dir(root)
		}
		dir = filepath.Join(filepath.Dir(root), "shared")
	}
	found, _ := filepath.Glob(filepath.Join(append([]string{dir}, parts...)...))
	if len(found) != 1 {
		t.Skipf("%s is missing; set ALMANAC_SHARED to the directory that has it",
			filepath.Join(append([]string{dir}, parts...)...))
	}
	return found[0]
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func readLines[T any](t testing.TB, file string) (rows []T) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 4<<20)
	for scanner.Scan() {
		var row T
		if err := json.Unmarshal(scanner.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func corpusNetwork() network.Network {
	return network.Network{Name: "corpus", Proposals: network.Proposals{
		Prefix: "CIP", Default: "Draft", Statuses: []string{"Draft", "Review", "Final", "Withdrawn", "Rejected",
			"Superseded"},
		StatusMap: map[string]string{"Proposed": "Review", "Deferred": "Review", "Approved": "Review",
			"Active": "Final", "Replaced": "Superseded", "Obsolete": "Superseded"},
	}}
}

// gathered is a Sink that keeps what it gets.
type gathered struct {
	entries []catalog.Entry
	events  []catalog.Event
	skipped []string
}

func (g *gathered) Put(_ context.Context, e catalog.Entry) error {
	g.entries = append(g.entries, e)
	return nil
}
func (g *gathered) Events(_ context.Context, e []catalog.Event) error {
	g.events = append(g.events, e...)
	return nil
}
func (g *gathered) Snapshot(catalog.Snapshot) {}
func (g *gathered) Keep(catalog.Ref)          {}
func (g *gathered) Skip(at string, err error) { g.skipped = append(g.skipped, at+": "+err.Error()) }
func (g *gathered) Warn(string, string)       {}
func (g *gathered) Progress(int, int)         {}

func corpusConnector(t testing.TB, bundle string, given map[string]any) ingest.Cursored {
	t.Helper()
	given["repository"] = bundle
	src := network.Source{Name: "corpus", Kind: Kind.Name, Options: options.Of(given)}
	c, err := ingest.Kinds(Kind).Connector(src, ingest.Environment{Network: corpusNetwork(), WorkDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// readBundle reads a bundle once.
func readBundle(t *testing.T, bundle string, options map[string]any) *gathered {
	t.Helper()
	out := &gathered{}
	if _, err := corpusConnector(t, bundle, options).Sync(t.Context(), "", out); err != nil {
		t.Fatal(err)
	}
	return out
}

// long skips a test that reads thousands of commits.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("reads a whole repository: run without -short")
	}
	t.Parallel()
}

// historyRow is a row of the snapshot's status history.
type historyRow struct {
	CIP     string    `json:"cip"`
	Date    time.Time `json:"date"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Commit  string    `json:"commit"`
	Initial bool      `json:"initial"`
	Source  string    `json:"source"`
}

// change is the row as a change of status.
func (r historyRow) change() proposal.Change {
	_, path, _ := strings.Cut(r.Source, ":")
	return proposal.Change{Number: r.CIP, At: r.Date, From: r.From, To: r.To, Initial: r.Initial, Commit: r.Commit,
		Path: path, Index: path == "README.md"}
}

func TestTheProposalBundle(t *testing.T) {
	race.Skip(t)
	long(t)
	out := readBundle(t, shared(t, "bundles", "cips.bundle"), map[string]any{})
	t.Run("history", func(t *testing.T) { checkHistory(t, out.events) })
	t.Run("records", func(t *testing.T) { checkProposals(t, out) })
}

// checkHistory holds that the repository's texts tell what the snapshot lists.
func checkHistory(t *testing.T, events []catalog.Event) {
	rows := readLines[historyRow](t, shared(t, "corpus", "cips", "status_history.jsonl"))
	var changes []proposal.Change
	headers := 0
	for _, r := range rows {
		// For two commits the table had two rows of one number, the second by
		// mistake. The snapshot took the last of them, we take the first.
		if at := r.Date.UTC().Format(time.RFC3339); r.CIP == "0116" && r.Source == "main:README.md" &&
			(at == "2026-06-03T17:07:59Z" || at == "2026-06-03T17:09:45Z") {
			continue
		}
		if changes = append(changes, r.change()); !changes[len(changes)-1].Index {
			headers++
		}
	}
	if headers != 208 {
		t.Errorf("the snapshot has %d header changes, not 208", headers)
	}
	want := slices.Concat(proposal.Reader{Network: corpusNetwork()}.Events(changes)...)
	same := func(e catalog.Event) string {
		return fmt.Sprint(e.Ref.Key, e.At.UTC(), e.From, e.To, e.RawFrom, e.RawTo, e.Via, e.Commit)
	}
	if diff := cmp.Diff(lines(want, same), lines(events, same)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	checkEvents(t, rows, events)
}

func lines[T any](list []T, line func(T) string) (out []string) {
	for _, item := range list {
		out = append(out, line(item))
	}
	return out
}

// checkEvents checks events against the raw rows: the header's are exactly the
// rows that say another status than the one before, the index table's only
// rows from before the header's first, and each begins where the last ended.
func checkEvents(t *testing.T, rows []historyRow, events []catalog.Event) {
	t.Helper()
	slices.SortStableFunc(rows, func(a, b historyRow) int { return a.Date.Compare(b.Date) })
	type fact struct{ Key, At, To, Commit string }
	var want, got []fact
	last, first := map[string]string{}, map[string]time.Time{}
	index := map[fact]bool{}
	for _, r := range rows {
		f := fact{"CIP-" + r.CIP, r.Date.UTC().String(), r.To, r.Commit}
		switch {
		case r.Source == "main:README.md":
			index[f] = true
		case r.To != "" && r.To != last[r.CIP]:
			want = append(want, f)
			last[r.CIP] = r.To
			if first[f.Key].IsZero() {
				first[f.Key] = r.Date
			}
		}
	}
	before := map[string]catalog.Event{}
	fromIndex := map[string]int{}
	for _, e := range events {
		f := fact{e.Ref.Key, e.At.String(), e.RawTo, e.Commit}
		if b := before[f.Key]; b.To != e.From || b.RawTo != e.RawFrom || b.At.After(e.At) {
			t.Errorf("%s: %q→%q does not follow %q→%q", f.Key, e.RawFrom, e.RawTo, b.RawFrom, b.RawTo)
		}
		before[f.Key] = e
		if e.Via == "header" {
			got = append(got, f)
			continue
		}
		fromIndex[f.Key]++
		if start, ok := first[f.Key]; !index[f] || ok && !e.At.Before(start) {
			t.Errorf("index event %+v fills nothing", f)
		}
	}
	order := func(a, b fact) int { return strings.Compare(a.Key+a.At, b.Key+b.At) }
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("header events (-want +got):\n%s", diff)
	}
	if len(want) != 205 || fromIndex["CIP-0023"] != 1 || fromIndex["CIP-0022"] != 1 {
		t.Errorf("%d header events; of the index: %v", len(want), fromIndex)
	}
}

func checkProposals(t *testing.T, out *gathered) {
	superseded := map[string]string{}
	for _, e := range out.entries {
		if e.Record.Kind != catalog.KindCIP || !strings.HasPrefix(e.Record.Key, "PR-") {
			continue
		}
		var data catalog.CIP
		if err := json.Unmarshal(e.Record.Data, &data); err != nil {
			t.Fatal(err)
		}
		if len(data.SupersededBy) > 0 {
			superseded[e.Record.Key] = strings.Join(data.SupersededBy, " ")
		}
	}
	// Drafts that a numbered text replaced; not those that took a number which
	// another got (PR-65, PR-124, PR-162), nor open changes of a numbered one.
	if diff := cmp.Diff(map[string]string{
		"PR-5": "CIP-0032", "PR-26": "CIP-0047", "PR-34": "CIP-0000", "PR-63": "CIP-0000", "PR-67": "CIP-0064",
		"PR-82": "CIP-0073", "PR-93": "CIP-0075",
		"PR-113": "CIP-0083", "PR-115": "CIP-0080", "PR-120": "CIP-0086", "PR-183": "CIP-0113", "PR-218": "CIP-0119",
	}, superseded); diff != "" {
		t.Errorf("superseded drafts (-want +got):\n%s", diff)
	}
	drafts, states, attachments, readable := map[string]bool{}, map[string]int{}, 0, 0
	aliases := map[string]string{}
	for _, e := range out.entries {
		for _, a := range e.Aliases {
			if aliases[a] != "" {
				t.Errorf("%s is an alias of %s and of %s", a, aliases[a], e.Record.Key)
			}
			aliases[a] = e.Record.Key
		}
		switch {
		case e.Record.Kind == catalog.KindAttachment:
			attachments++
			if e.Record.Body != "" {
				readable++
			}
		case strings.HasPrefix(e.Record.Key, "PR-"):
			drafts[e.Record.Key] = true
		default:
			states[e.Record.State]++
		}
		if e.Record.Title == "" || e.Record.CreatedAt.IsZero() {
			t.Errorf("%s: title %q, created %v", e.Record.Ref(), e.Record.Title, e.Record.CreatedAt)
		}
	}
	type pullRow struct {
		Number int    `json:"number"`
		Stored string `json:"stored"`
	}
	for _, p := range readLines[pullRow](t, shared(t, "corpus", "cips", "pull-requests.jsonl")) {
		if key := fmt.Sprintf("PR-%d", p.Number); drafts[key] != (p.Stored != "") {
			t.Errorf("%s: draft %v, in the snapshot %q", key, drafts[key], p.Stored)
		}
	}
	if diff := cmp.Diff(map[string]int{"Final": 65, "Review": 34, "Superseded": 5, "Withdrawn": 4, "Rejected": 1},
		states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if attachments != 105 || readable < 30 || len(out.skipped) > 0 || aliases["PR-44"] == "" {
		t.Errorf("%d attachments, %d with text; PR-44 is %q; skipped %v", attachments, readable, aliases["PR-44"],
			out.skipped)
	}
}

func grantOptions() map[string]any {
	return map[string]any{"kind": "grant", "paths": []any{"proposals/*"}, "bulk_pulls": []any{385, 461},
		"exclude": []any{"sig-directory.md", "**/*template.md", "*Review Process.md", ".github/*template*"}}
}

func TestTheGrantBundle(t *testing.T) {
	race.Skip(t)
	long(t)
	out := readBundle(t, shared(t, "bundles", "*-dev-fund.bundle"), grantOptions())
	byKey, byPath := map[string]catalog.Record{}, map[string]string{}
	for _, e := range out.entries {
		if e.Record.Kind != catalog.KindGrant {
			continue
		}
		byKey[e.Record.Key] = e.Record
		var data catalog.Grant
		if err := json.Unmarshal(e.Record.Data, &data); err != nil {
			t.Fatal(err)
		}
		if name := strings.ReplaceAll(e.Record.Path, " ", "_"); data.Merged && byPath[name] == "" {
			byPath[name], _, _ = strings.Cut(e.Record.Key, "/")
		}
	}
	type pullRow struct {
		Number     int    `json:"number"`
		IsProposal bool   `json:"is_proposal"`
		State      string `json:"state_from_git"`
	}
	for _, p := range readLines[pullRow](t, shared(t, "corpus", "grants", "pull-requests.jsonl")) {
		rec, ok := byKey[fmt.Sprint(p.Number)]
		bulk, noRef := p.Number == 385 || p.Number == 461, p.Number == 129 // whose reference the bundle lacks
		if ok != (p.IsProposal && !bulk && !noRef) {
			t.Errorf("pull request %d: proposal %v", p.Number, ok)
		}
		if ok && (rec.State == "open") != (p.State == "open") {
			t.Errorf("pull request %d: %s, in the snapshot %s", p.Number, rec.State, p.State)
		}
	}
	type fileRow struct {
		Path string `json:"path"`
		Pull int    `json:"pull_request"`
	}
	// The snapshot gives four proposals of nearly the same text to the first
	// of their pull requests; each was added by its own.
	truth := map[int][]string{47: {"47", "48", "49", "50"}}
	for _, f := range readLines[fileRow](t, shared(t, "corpus", "grants", "merged_files.jsonl")) {
		name := strings.TrimPrefix(f.Path, "grants/main/")
		if got := byPath[name]; got != fmt.Sprint(f.Pull) && !slices.Contains(truth[f.Pull], got) {
			t.Errorf("%s belongs to %q, in the snapshot to %d", name, got, f.Pull)
		}
	}
	if len(out.skipped) > 0 {
		t.Errorf("skipped %v", out.skipped)
	}
}

func BenchmarkSync(b *testing.B) {
	for name, c := range map[string]ingest.Cursored{
		"proposals": corpusConnector(b, shared(b, "bundles", "cips.bundle"), map[string]any{}),
		"grants":    corpusConnector(b, shared(b, "bundles", "*-dev-fund.bundle"), grantOptions()),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Sync(b.Context(), "", &gathered{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
