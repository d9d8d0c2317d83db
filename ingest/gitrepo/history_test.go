package gitrepo

import (
	"bufio"
	"strings"
	"testing"
)

func FuzzReadSteps(f *testing.F) {
	for _, s := range []string{
		"\x01abc 1795333156\x00\nA\x00d/x\nnl.md\x00M\x00z\x00\x00\x01def 1\x00\x01ff 2\x00\nR100\x00a b\x00ü\x00",
		"A\x00x\x00", "\x01abc\x00", "\x01abc x\x00", "\x01a 1\x00R100\x00a", "\x01a 1\x00Q\x00a\x00", "\x00\x00", "",
		"\x01a 1\x00\nC75\x00a\x00b\x00T\x00c\x00",
		"\x01a -9223372036854775808\x00", "\x01a 1\x00" + strings.Repeat("x", maxToken+2),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		changes := 0
		err := readSteps(bufio.NewReader(strings.NewReader(s)), func(step Step) bool {
			if step.Commit == "" {
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
