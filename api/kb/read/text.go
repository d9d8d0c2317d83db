// Package read reads the text of a record in parts: the whole behind its outline, a section, a thread around a post.
package read

import (
	"cmp"
	"strconv"
	"unicode/utf8"

	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/prose"
)

// textLimit is the maximum of characters of a text in one answer; in tools
// op.MaxTokens may end it earlier.
const textLimit = 50_000

// Text is a part of a long text.
type Text struct {
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`

	start int // where the part begins
}

// Cut returns the part of a text that begins at the cursor, a byte offset from
// an earlier answer.
func Cut(text string, cursor arg.Cursor) (Text, error) { return CutAt(text, cursor, textLimit) }

// CutAt is Cut with another maximum of characters.
func CutAt(text string, cursor arg.Cursor, most int) (Text, error) {
	t := Text{}
	if cursor != "" {
		n, err := strconv.Atoi(string(cursor))
		if err != nil || !begins(text, n) {
			return Text{}, badCursor
		}
		t.start = n
	}
	rest := text[t.start:]
	t.Content = prose.First(rest, most)
	t.more(len(rest))
	return t, nil
}

// begins reports whether a part of a text can begin at an offset.
func begins(text string, offset int) bool {
	return offset >= 0 && offset < len(text) && utf8.RuneStart(text[offset])
}

// more says where the rest begins if the content is not all that there is.
func (t *Text) more(bytes int) {
	if t.Truncated = len(t.Content) < bytes; t.Truncated {
		t.NextCursor = strconv.Itoa(t.start + len(t.Content))
	}
}

// Shorten implements op.Shortener.
func (t *Text) Shorten(tokens int) {
	before := len(t.Content)
	_, least := utf8.DecodeRuneInString(t.Content)
	if t.Content = t.Content[:max(least, op.Without(t.Content, tokens))]; len(t.Content) < before {
		t.more(before)
	}
}

var badCursor = op.InvalidField("cursor", "must be a next_cursor of an earlier answer")

// Record returns a part of a record's text, or of its summary if it has no text.
func Record(r catalog.Record, cursor arg.Cursor) (Text, error) {
	return Cut(cmp.Or(r.Body, r.Summary), cursor)
}
