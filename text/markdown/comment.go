package markdown

import "strings"

// WithoutComments returns a text without its comments, <!-- --> and, in MDX,
// {/* */}, except inside code. A comment that nothing closes is text.
func WithoutComments(text string, mdx bool) string {
	lastHTML, lastJSX := strings.LastIndex(text, "-->"), strings.LastIndex(text, "*/}")
	if lastHTML < 0 && (lastJSX < 0 || !mdx) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var fence Fence
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if fence.Next(text[at:end]) != Text {
			b.WriteString(text[at:end])
			at = end
			continue
		}
		at = dropFromLine(&b, text, at, end, lastHTML, lastJSX, mdx)
	}
	return b.String()
}

// dropFromLine copies text[at:end] without the comments that begin in it and
// returns where to continue, which is past end if a comment is.
func dropFromLine(b *strings.Builder, text string, at, end, lastHTML, lastJSX int, mdx bool) int {
	code := false
	for at < end {
		n := strings.IndexAny(text[at:end], "`<{")
		if n < 0 {
			break
		}
		b.WriteString(text[at : at+n])
		at += n
		closing := ""
		switch {
		case text[at] == '`':
			code = !code
		case code:
		case strings.HasPrefix(text[at:], "<!--") && at+4 <= lastHTML:
			closing = "-->"
		case mdx && strings.HasPrefix(text[at:], "{/*") && at+3 <= lastJSX:
			closing = "*/}"
		}
		if closing == "" {
			b.WriteByte(text[at])
			at++
			continue
		}
		at += 3
		at += strings.Index(text[at:], closing) + len(closing)
		if at > end {
			return at
		}
	}
	if at < end {
		b.WriteString(text[at:end])
	}
	return max(at, end)
}
