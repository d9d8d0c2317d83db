package retrieval_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/testing/race"
)

// TestABuildHoldsItsIndexAndLittleElse: of a million passages that is less than 4 GB, with
// the garbage that package memory allows for. What keeps batches, texts or the parts that
// it was merged of takes several times as much.
func TestABuildHoldsItsIndexAndLittleElse(t *testing.T) {
	race.Skip(t)
	const records, sections, most = 500, 4, 3 << 10 // bytes of a passage
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what the first one finalised
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	f := open(t, t.TempDir())
	f.put(t, library()...)
	before := live()
	r := rand.New(rand.NewPCG(1, 2))
	var batch []catalog.Record
	for n := range records {
		var body strings.Builder
		for s := range sections {
			fmt.Fprintf(&body, "## Section %d\n\n", s)
			for range 150 {
				fmt.Fprintf(&body, "word%d ", int(r.ExpFloat64()*500))
			}
			body.WriteString("\n\n")
		}
		batch = append(batch, catalog.Record{Key: fmt.Sprint("page-", n), Title: fmt.Sprint("Page ", n), Body: body.String()})
		if len(batch) == 100 {
			f.put(t, batch...)
			batch = nil
		}
	}
	_, passages := f.follower.Corpus().Size()
	held := int(live()-before) / passages
	t.Logf("%d bytes a passage of %d", held, passages)
	if passages < records*sections || held > most {
		t.Errorf("%d passages of %d bytes, want at most %d", passages, held, most)
	}
	runtime.KeepAlive(f)
}
