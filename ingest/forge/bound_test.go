package forge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/ingest"
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
			"pull request 4: proposal: cwp-second-gauge/cwp-second-gauge.md: its text has 2097156 bytes, larger"},
		"front matter": {shaOfFour, "---\ntitle: x\nx: [1" + strings.Repeat(",1", 40<<10) + "]\n---\n",
			"pull request 4: proposal: cwp-second-gauge/cwp-second-gauge.md: its header has"},
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
