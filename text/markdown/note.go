package markdown

import (
	"regexp"
	"strings"
)

// Note is a line that opens or closes a note: of Docusaurus, VitePress and MyST
// (":::caution[Mind the tide]", ":::"), or the first line of a quotation that is
// a note on GitHub and in Obsidian ("> [!WARNING]").
type Note struct {
	Kind   string // "Warning"; "" where none is known
	Title  string
	Quote  string // the quote marks in front
	Fenced bool   // a line of colons
}

var (
	fencedNote = regexp.MustCompile(`^[ \t]*:{3,}[ \t]*(?:\{?([A-Za-z][\w-]*)\}?)?(?:[ \t]*\[(.*)\]|[ \t]+([^\s{].*?))?` +
		`[ \t]*(?:\{[^{}]*\})?\s*$`)
	quotedNote = regexp.MustCompile(`^([ \t>]*)\[!([A-Za-z]+)\][+-]?(.*)$`)
)

// notes are the kinds of notes that a reader is told.
var notes = map[string]bool{}

func init() {
	for kind := range strings.FieldsSeq(`note tip hint info warning caution danger important attention error failure bug
		success question example abstract summary tldr todo quote seealso`) {
		notes[kind] = true
	}
}

// ReadNote reads a line outside of code, and reports whether it is one of a
// note.
func ReadNote(line string) (Note, bool) {
	if strings.Contains(line, ":::") {
		if m := fencedNote.FindStringSubmatch(line); m != nil {
			return Note{Kind: noteKind(m[1]), Title: strings.TrimSpace(m[2] + m[3]), Fenced: true}, true
		}
	}
	if strings.Contains(line, "[!") {
		if m := quotedNote.FindStringSubmatch(line); m != nil && noteKind(m[2]) != "" {
			return Note{Kind: noteKind(m[2]), Title: strings.TrimSpace(m[3]), Quote: m[1]}, true
		}
	}
	return Note{}, false
}

// noteKind spells a kind of note, "" if it is not known.
func noteKind(kind string) string {
	if kind = strings.ToLower(kind); !notes[kind] {
		return ""
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// String is the line as a reader sees it: its kind and title in bold.
func (n Note) String() string {
	title := strings.TrimSpace(strings.ReplaceAll(n.Title, "**", ""))
	switch {
	case n.Kind == "" && title == "":
		return ""
	case title == "":
		return n.Quote + "**" + n.Kind + ":**"
	case n.Kind == "":
		return n.Quote + "**" + title + "**"
	}
	return n.Quote + "**" + n.Kind + ": " + title + "**"
}
