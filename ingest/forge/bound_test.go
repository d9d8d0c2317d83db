package forge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/forge"
	"almanac/ingest/memory"
	"almanac/testing/connectortest"
)

const (
	shaOfFour  = "a80aeec26e053b0e444920d83eaf926e9df5c529" // of the draft in pull request 4
	shaOfSeven = "a649079ad29281468c6c9ca47aa775f085f578b7" // of CWP-0007
	shaOfIndex = "d617b9d922f70db46efc969c05d00f4ec2ee0df1"
)

// skipped lists what a sync left out, and why.
func skipped(r connectortest.Result) (out []string) {
	for _, p := range r.Problems {
		if p.Skipped {
			out = append(out, p.Locator+": "+p.Message)
		}
	}
	return out
}

func TestProposalsThatAreTooLargeAreSkippedAndKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("# a\n", ingest.MaxText/4)
	for name, c := range map[string]struct{ sha, text, want string }{
		"an answer far too large": {shaOfFour, long + long, "pull request 4: GET "},
		"a text too large": {shaOfFour, long + "more",
			"pull request 4: proposals: cwp-second-gauge/cwp-second-gauge.md: its text has 2097156 bytes, larger"},
		"front matter": {shaOfFour, "---\ntitle: x\nx: [1" + strings.Repeat(",1", 40<<10) + "]\n---\n",
			"pull request 4: proposals: cwp-second-gauge/cwp-second-gauge.md: its header has"},
		"an index": {shaOfIndex, long + long, "README.md: GET "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			s := connectortest.NewSource(t, drafts(t, serve(t, h).URL, map[string]any{"index": "README.md"}))
			first := s.Sync()
			h.change(func() { // the same file has another content
				h.blobs["new"] = c.text
				p := h.projects["causeway/proposals"]
				for _, f := range append(slices.Clone(p.Files["4"]), list(p.Tree["tree"])...) {
					if f["sha"] == c.sha {
						f["sha"] = "new"
					}
				}
				for _, pull := range p.Pulls {
					pull["head"].(object)["sha"] = pull["head"].(object)["sha"].(string) + "0"
				}
			})
			got := s.Sync()
			if diff := cmp.Diff(first.Keys(), got.Keys()); diff != "" {
				t.Errorf("records (-before +after)\n%s", diff)
			}
			if list := skipped(got); len(list) != 1 || !strings.HasPrefix(list[0], c.want) {
				t.Errorf("skipped %.300q, want %s", list, c.want)
			}
		})
	}
}

func list(items any) (out []object) {
	for _, item := range items.([]any) {
		out = append(out, item.(object))
	}
	return out
}

// TestWhatARunEndedWithIsSkipped: a draft, or the text of a numbered proposal, that
// an earlier run had in hand.
func TestWhatARunEndedWithIsSkipped(t *testing.T) {
	t.Parallel()
	for sha, want := range map[string]string{shaOfFour: "pull request 4", shaOfSeven: "cwp-0007/cwp-0007.md"} {
		h := newHub(t)
		h.blobs[sha] += strings.Repeat("One of many lines about gauges.\n", 3000)
		dir := t.TempDir()
		if err := memory.NewHand(dir, "1").Take([]byte(h.blobs[sha])); err != nil {
			t.Fatal(err)
		}
		config := drafts(t, serve(t, h).URL, nil)
		config.Kind = ingest.Constructor(func(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
			env.Hand = memory.NewHand(dir, "1")
			src.Kind = forge.Proposals.Name
			return ingest.Kinds(forge.Proposals).Connector(src, env)
		})
		got := connectortest.NewSource(t, config).Sync()
		if diff := cmp.Diff([]string{want + ": " + memory.ErrHeld.Error()}, skipped(got)); diff != "" {
			t.Errorf("skipped (-want +got)\n%s", diff)
		}
		if has := slices.Contains(got.Keys(), "cip PR-4"); has == (sha == shaOfFour) {
			t.Errorf("%s: %v", want, got.Keys())
		}
	}
}
