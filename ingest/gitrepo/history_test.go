package gitrepo

import (
	"bufio"
	"strings"
	"testing"
)

func FuzzReadSteps(f *testing.F) {
	const (
		added   = ":000000 100644 00 0a A\x00"
		changed = ":100644 160000 0a 0b T\x00"
		renamed = ":100644 100644 0a 0a R100\x00"
	)
	for _, s := range []string{
		"\x01abc\x02\x02de\x021795333156\x021795333157\x02Ada\x02One\n\nTwo\x00\n" + added + "d/x\nnl.md\x00" + changed + "z\x00\x01def\x02\x02\x021\x021\x02\x02\x00\x01ff\x02\x02\x022\x02\x02\x02\x00\n" + renamed +
			"a b\x00ü\x00",
		added + "x\x00", "\x01abc\x02\x02\x02\x02\x02\x02\x00", "\x01abc x\x00", "\x01a\x02\x02\x021\x021\x02\x02\x00" + renamed + "a", "\x01a\x02\x02\x021\x021\x02\x02\x00:1 2 3 4\x00a\x00",
		"\x00\x00", "", "\x01a\x02\x02\x02-9223372036854775808\x02\x02\x02\x00", "\x01a\x02\x02\x021\x021\x02\x02\x00" + strings.Repeat("x", maxPath+2),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		changes := 0
		err := readSteps(bufio.NewReader(strings.NewReader(s)), func(step Step) bool {
			if step.Hash == "" {
				t.Error("a commit without a hash")
			}
			changes += len(step.Changes)
			return true
		})
		if most := strings.Count(s, "\x00") + 1; changes > most {
			t.Errorf("%d changes of %d fields, %v", changes, most, err)
		}
	})
}
