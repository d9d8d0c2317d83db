package proposal

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/ingest/gitrepo"
)

// TestOrigins traces files through pull requests and direct commits.
func TestOrigins(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2031, 1, d, 0, 0, 0, 0, time.UTC) }
	step := func(pull, d int, changes ...gitrepo.Change) Step {
		return Step{Pull: pull, At: day(d), Changes: changes}
	}
	for name, c := range map[string]struct {
		steps []Step
		want  map[string]origin
	}{
		"added, changed by two": {
			[]Step{step(1, 1, gitrepo.Change{New: "a"}), step(0, 2, gitrepo.Change{Old: "a", New: "a"}),
				step(3, 3, gitrepo.Change{Old: "a", New: "a"})},
			map[string]origin{"a": {1, day(1), day(3), []int{1, 3}}},
		},
		"only another name keeps its date": {
			[]Step{step(1, 1, gitrepo.Change{New: "a"}), step(2, 2, gitrepo.Change{Old: "a", New: "b", Same: true})},
			map[string]origin{"b": {1, day(1), day(1), []int{1, 2}}},
		},
		"two exchange their names": {
			[]Step{step(1, 1, gitrepo.Change{New: "a"}), step(2, 2, gitrepo.Change{New: "b"}),
				step(3, 3, gitrepo.Change{Old: "a", New: "b"}, gitrepo.Change{Old: "b", New: "a"})},
			map[string]origin{"a": {2, day(2), day(3), []int{2, 3}}, "b": {1, day(1), day(3), []int{1, 3}}},
		},
		"removed and added again": {
			[]Step{step(1, 1, gitrepo.Change{New: "a"}), step(2, 2, gitrepo.Change{Old: "a"}), step(3, 3, gitrepo.Change{New: "a"})},
			map[string]origin{"a": {3, day(3), day(3), []int{3}}},
		},
		"added before what is known": {
			[]Step{step(4, 4, gitrepo.Change{Old: "a", New: "a"})},
			map[string]origin{"a": {0, time.Time{}, day(4), []int{4}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, origins(c.steps), cmp.AllowUnexported(origin{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
