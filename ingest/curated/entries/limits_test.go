package entries

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type lamp struct {
	Title string   `json:"title"`
	Tags  []string `json:"tags"`
}

// repeat returns a text of a start and many times more.
func repeat(start, more string, size int) []byte {
	return []byte(start + strings.Repeat(more, (size-len(start))/len(more)))
}

func TestWhatAnAddressAnswersIsBounded(t *testing.T) {
	const most = 512 << 10
	for what, c := range map[string]struct {
		data []byte
		want string // the beginning of the error
	}{
		"many bytes":        {repeat("[1", ",1", 8<<20), "l.yaml:1: the file has 8388608 bytes; the limit is 524288"},
		"a list of numbers": {repeat("[1", ",1", most), "l.yaml:1: the file has more than 100000 values"},
		"a list in a field": {repeat("- {title: Lamp, tags: [1", ",1", most), "l.yaml:1: the file has more than"},
		"fields":            {repeat("- title: Lamp\n", "  a:\n", most), "l.yaml:1: the file has more than"},
		"fields of JSON":    {repeat(`[{"title":"Lamp"`, `,"a":1`, most), "l.yaml:1: the file has more than"},
		"aliases":           {repeat("- &a 1\n", "- *a\n", most), "l.yaml:1: the file has more than"},
		"lists in lists":    {repeat("", "[", most), "l.yaml:1: the file has more than"},
		"documents":         {repeat("", "---\n", most), "l.yaml:1: the file has more than"},
		"entries":           {repeat("", "- {title: A}\n", 70<<10), "l.yaml:5001: more than 5000 entries"},
	} {
		if _, err := ReadWithin[lamp]("l.yaml", c.data, Foreign); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %.200v, want %s…", what, err, c.want)
		}
	}
	own := repeat("", "- title: 'A lamp, of many; it is lit at dusk - or before: who knows?'\n  tags: [a, b]\n", most)
	for name, limits := range map[string]Limits{"an address": {most, Foreign.Values, 10_000}, "a file": Own} {
		if list, err := ReadWithin[lamp]("l.yaml", own, limits); err != nil || len(list) < 5500 {
			t.Errorf("%s: %d entries, %v", name, len(list), err)
		}
	}
}

// TestAnEntryNamesSomeProblems: the message of an entry does not grow with it.
func TestAnEntryNamesSomeProblems(t *testing.T) {
	var b strings.Builder
	b.WriteString("- title: Lamp\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "  field%d: x\n", i)
	}
	list, err := ReadWithin[lamp]("l.yaml", []byte(b.String()), Foreign)
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	line, err := list[0].Err()
	if line != 2 || len(err.Error()) > 3000 || !strings.HasSuffix(err.Error(), "line 22: there are further problems") {
		t.Errorf("line %d: %v", line, err)
	}
}

// FuzzValues holds that no YAML has many more nodes than values counts: one for
// each, two if it is a key without a value.
func FuzzValues(f *testing.F) {
	for _, s := range []string{
		"[1,1]", "{a,b,c}", "- &a 1\n- *a\n", "? a\n? b\n", "- - - a", `{"a":1,"b":[2]}`, "a:\nb:\n", "--- a\n--- b\n",
		"-\u2028-\u2028-", "a: b\u0085c: d", "- |\n  a\n  b\n", "[a: b, c: d]", "{? a : b}", "{'a':b,'c':d}",
		"- !!x\n- !!y\n", "[[[[", "a\rb: c\r", "{:a,:b}", "-\t-\ta",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return // some need a time that is the square of their size
		}
		nodes, dec := 0, yaml.NewDecoder(bytes.NewReader(data))
		for {
			var doc yaml.Node
			if dec.Decode(&doc) != nil {
				break
			}
			nodes += count(&doc)
		}
		if most := 2*values(data) + 4; nodes > most {
			t.Errorf("%d nodes, at most %d were expected", nodes, most)
		}
	})
}

func count(n *yaml.Node) int {
	sum := 1
	for _, below := range n.Content {
		sum += count(below)
	}
	return sum
}
