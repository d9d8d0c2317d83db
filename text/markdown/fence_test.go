package markdown

import (
	"slices"
	"strings"
	"testing"
)

// parts reads a text: t for a line of text, o and x for the fences above and
// below code, c for code.
func parts(text string) string {
	var f Fence
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteByte("tocx"[f.Next(line)])
	}
	return b.String()
}

func TestLinesOfCode(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"backticks", "a\n```go\nb\n```\nc", "tocxt"},
		{"tildes", "a\n~~~\nb\n~~~\nc", "tocxt"},
		{"blanks at the end of lines", "```sh \r\nb\r\n``` \t\r\nc", "ocxt"},
		{"a longer fence closes", "```\nb\n`````\nc", "ocxt"},
		{"a shorter fence is code", "````\n```go\n# b\n```\n````\nc", "occcxt"},
		{"the other fence is code", "~~~\n```\n~~~\nc", "ocxt"},
		{"a fence with text behind it is code", "```\n```go\n``` b\n```\nc", "occxt"},
		{"a span of code in a line", "```npm install```\nb", "tt"},
		{"a span of code that begins like a fence with a language", "```sh npm install```\nb", "tt"},
		{"a span within code", "```\n```b```\n```\nc", "ocxt"},
		{"backticks behind tildes", "~~~ `a` ~~~\nb\n~~~\nc", "ocxt"},
		{"two are no fence", "``\nb\n~~\nc", "tttt"},
		{"text before it", "a ```\nb", "tt"},
		{"in the item of a list", "1. a\n\n    ```sh\n    b\n    ```\n\tc", "ttocxt"},
		{"nothing closes it", "```\n# b\n", "oc"},
		{"code without lines", "```\n```\na", "oxt"},
	} {
		if got := parts(c.text); got != c.want {
			t.Errorf("%s: %q reads %s, want %s", c.name, c.text, got, c.want)
		}
	}
}

func TestFenceKnowsItsMarkAndInfo(t *testing.T) {
	for line, want := range map[string]Fence{
		"```":                            {"```", ""},
		"  ~~~~ toml title=\"a ~ b\" \n": {"~~~~", "toml title=\"a ~ b\""},
	} {
		var f Fence
		if part := f.Next(line); part != Opening || f != want {
			t.Errorf("%q is part %d and opens %+v, want %+v", line, part, f, want)
		}
		if f.Next(want.Mark) != Closing || f != (Fence{}) {
			t.Errorf("%q is not closed: %+v", line, f)
		}
	}
}

// FuzzFence holds what every reader builds on: code lies between its fences, and
// what is put between fences longer than all in it is code.
func FuzzFence(f *testing.F) {
	for _, seed := range []string{"", "a\n```go\nb\n```\nc", "~~~\n```\n~~~~ \r\n", "````\n```\n````",
		"```a```\n\t~~~ `\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var fence Fence
		before := Text
		for line := range strings.Lines(text) {
			was := fence
			part := fence.Next(line)
			inside := part == Opening || part == Code
			if within := before == Opening || before == Code; within != (part == Code || part == Closing) {
				t.Fatalf("part %d after part %d: %q", part, before, text)
			}
			if inside != (fence.Mark != "") || part == Code && fence != was || part == Text && fence != (Fence{}) {
				t.Fatalf("part %d leaves %+v after %+v", part, fence, was)
			}
			if inside && (len(fence.Mark) < 3 || strings.Trim(fence.Mark, fence.Mark[:1]) != "") {
				t.Fatalf("%q is no fence", fence.Mark)
			}
			before = part
		}
		lines := slices.Collect(strings.Lines(text))
		if n := len(lines); n > 0 && !strings.HasSuffix(text, "\n") {
			lines[n-1] += "\n"
		}
		for _, mark := range []string{strings.Repeat("`", len(text)+3), strings.Repeat("~", len(text)+3)} {
			want := "o" + strings.Repeat("c", len(lines)) + "xt"
			if got := parts(mark + "\n" + strings.Join(lines, "") + mark + "\na"); got != want {
				t.Fatalf("%q between fences reads %s, want %s", text, got, want)
			}
		}
	})
}
