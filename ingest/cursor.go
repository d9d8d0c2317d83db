package ingest

import (
	"strings"

	"almanac/catalog"
)

// edition changes with what the pipeline makes of an entry (masking, mentions,
// references, summaries), so that a newer program reads again what is unchanged upstream.
const edition = "3"

// stamp begins every stored cursor: it is what of the pipeline decided what the
// records before the cursor look like.
func (r *run) stamp() string {
	return edition + " " + r.src.Kind + " " + r.mentions.key(0) + " "
}

// openCursor returns the connector's cursor of a stored one: none, and so
// everything again, if it was left by another connector or edition.
func (r *run) openCursor(state catalog.SourceState) string {
	cursor, ok := strings.CutPrefix(state.Cursor, r.stamp())
	if !ok {
		return ""
	}
	return cursor
}

func (r *run) storedCursor(cursor string) string { return r.stamp() + cursor }
