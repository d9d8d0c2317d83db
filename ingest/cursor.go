package ingest

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"almanac/catalog"
	"almanac/ingest/memory"
)

// edition is the version of what the pipeline makes of an entry (masking,
// invisible characters, mentions, references, summaries). A newer program with another edition reads
// everything again, even what is unchanged upstream.
const edition = "6"

// stamp is the prefix of every stored cursor: the parts of the pipeline that
// determined the content of the records before the cursor.
func (r *run) stamp() string {
	return edition + " " + r.src.Kind + " " + r.config.Network.Proposals.Key("0") + " "
}

// leftOut is in front of the cursor of a run that left out what an earlier one had
// in hand when it was killed. The program's digest follows: another program reads
// everything again, as it may be able to read that.
const leftOut = "left-out-by:"

// program is a digest of the program: what it was built from, with what.
var program = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return memory.Settings(edition, fmt.Sprint(info))
})

// openCursor returns the connector's part of a stored cursor, or "", which
// reads everything again, if another connector or edition stored it.
func (r *run) openCursor(state catalog.SourceState) string {
	cursor, ok := strings.CutPrefix(state.Cursor, r.stamp())
	if !ok {
		return ""
	}
	if by, ok := strings.CutPrefix(cursor, leftOut); ok {
		if cursor, r.leftOut = strings.CutPrefix(by, program()+" "); !r.leftOut {
			return ""
		}
	}
	return cursor
}

// storedCursor returns the cursor to store. What the run before left out is left
// out still if the source is where it was.
func (r *run) storedCursor(cursor string) string {
	if r.hand.Held() || r.leftOut && cursor == r.cursor {
		cursor = leftOut + program() + " " + cursor
	}
	return r.stamp() + cursor
}
