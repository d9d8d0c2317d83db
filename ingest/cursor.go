package ingest

import (
	"strings"

	"almanac/catalog"
)

// edition is the version of what the pipeline makes of an entry (masking,
// invisible characters, mentions, references, summaries). A newer program with another edition reads
// everything again, even what is unchanged upstream.
const edition = "4"

// stamp is the prefix of every stored cursor: the parts of the pipeline that
// determined the content of the records before the cursor.
func (r *run) stamp() string {
	return edition + " " + r.src.Kind + " " + r.mentions.key(0) + " "
}

// openCursor returns the connector's part of a stored cursor, or "", which
// reads everything again, if another connector or edition stored it.
func (r *run) openCursor(state catalog.SourceState) string {
	cursor, ok := strings.CutPrefix(state.Cursor, r.stamp())
	if !ok {
		return ""
	}
	return cursor
}

func (r *run) storedCursor(cursor string) string { return r.stamp() + cursor }
