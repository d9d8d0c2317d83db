package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Page writes a man page in section 1. tail is what follows the commands, as
// titles with texts.
func Page(w io.Writer, app *kong.Application, version string, tail [][2]string) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", strings.ToUpper(app.Name), quoted(app.Name+" "+version))
	heading(&b, "NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", app.Name, escape(strings.TrimSuffix(sentence(app.Help), ".")))
	heading(&b, "SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n[\\fIoption\\fR ...] \\fIcommand\\fR [\\fIargument\\fR ...]\n", app.Name)
	heading(&b, "OPTIONS OF ALL COMMANDS")
	flags(&b, app.Flags)
	heading(&b, "COMMANDS")
	for _, command := range app.Leaves(true) {
		fmt.Fprintf(&b, ".SS %s\n", quoted(strings.TrimPrefix(command.Summary(), app.Name+" ")))
		fmt.Fprintf(&b, "%s\n", escape(sentence(command.Help)))
		paragraphs(&b, command.Detail)
		for _, p := range command.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", escape(p.Name), escape(sentence(p.Help)))
		}
		flags(&b, command.Flags)
	}
	for _, t := range tail {
		heading(&b, t[0])
		paragraphs(&b, t[1])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(b *strings.Builder, title string) { fmt.Fprintf(b, ".SH %s\n", quoted(title)) }

func flags(b *strings.Builder, all []*kong.Flag) {
	for _, f := range all {
		if f.Hidden {
			continue
		}
		value := ""
		if !f.IsBool() {
			value = "=\\fI" + escape(f.FormatPlaceHolder()) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n\\fB\\-\\-%s\\fR%s\n%s\n", escape(f.Name), value, escape(sentence(f.Help)))
	}
}

// paragraphs writes a text: what is indented stays as it is.
func paragraphs(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	b.WriteString(".PP\n")
	plain := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != plain {
			plain = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[plain])
		}
		if strings.TrimSpace(line) == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(escape(line) + "\n")
	}
	if plain {
		b.WriteString(".fi\n")
	}
}

// escape keeps roff from reading a text as requests.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

func quoted(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `""`) + `"` }

// sentence is the help of a command or flag on one line.
func sentence(help string) string { return strings.Join(strings.Fields(help), " ") }
