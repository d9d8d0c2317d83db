// Package manual describes a command line to shells and to people: completions
// for bash, zsh and fish, and a man page. It is made from the parser's model.
package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Shells are those that have completions.
var Shells = []string{"bash", "zsh", "fish"}

// Complete writes the completions of a program for a shell.
func Complete(w io.Writer, app *kong.Application, shell string) error {
	var text string
	switch shell {
	case "bash":
		text = bash(app)
	case "zsh":
		text = zsh(app)
	case "fish":
		text = fish(app)
	default:
		return fmt.Errorf("manual: there are no completions for %s", shell)
	}
	_, err := io.WriteString(w, text)
	return err
}

// level is one command with what may follow it.
type level struct {
	path     string // "network check"; "" = the program
	node     *kong.Node
	commands []*kong.Node
	flags    []*kong.Flag
}

// levels lists the program and its commands, outer ones first.
func levels(app *kong.Application) []level {
	var out []level
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		l := level{path: path, node: n, flags: n.Flags}
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				l.commands = append(l.commands, child)
			}
		}
		out = append(out, l)
		for _, child := range l.commands {
			walk(child, strings.TrimSpace(path+" "+child.Name))
		}
	}
	walk(app.Node, "")
	return out
}

// words are what may follow a level.
func (l level) words(global []*kong.Flag) []string {
	var out []string
	for _, c := range l.commands {
		out = append(out, c.Name)
	}
	for _, f := range append(slices.Clone(l.flags), global...) {
		if name := "--" + f.Name; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, p := range l.node.Positional {
		out = append(out, p.EnumSlice()...)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// asks is the tag of arguments and flags whose values the program knows: its hidden
// command complete prints them.
const asks = "complete"

// asked is what the program is asked for about the arguments of a level.
func (l level) asked() string {
	for _, p := range l.node.Positional {
		if what := p.Tag.Get(asks); what != "" {
			return what
		}
	}
	return ""
}

// choice are the values of a flag: words, or what the program is asked for.
type choice struct {
	words []string
	asked string
}

// choices are the flags whose values are known: by name.
func choices(all []level) map[string]choice {
	out := map[string]choice{}
	for _, l := range all {
		for _, f := range l.flags {
			if asked := f.Tag.Get(asks); f.Enum != "" || asked != "" {
				out["--"+f.Name] = choice{f.EnumSlice(), asked}
			}
		}
	}
	return out
}

// sentence is the help of a command or flag on one line.
func sentence(help string) string { return strings.Join(strings.Fields(help), " ") }
