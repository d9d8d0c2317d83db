package static

// CountTokens returns the number of WordPiece tokens of a text. Other tokenizers
// differ, but rank texts by length alike.
func (e *Embedder) CountTokens(text string) int {
	buf := e.ids.Get().(*[]int32)
	defer e.ids.Put(buf)
	*buf = e.tokens.Append((*buf)[:0], text)
	return len(*buf)
}
