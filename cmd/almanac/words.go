package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"almanac/api/op"
)

// wordsLast puts the words of `search` and of `tools call` behind the flags of the program,
// which ends where they begin. So arguments of a tool may be written as flags, which the
// parser does not know, and those of search under every name that tools know them by.
func wordsLast(program *kong.Application, args []string) []string {
	command, at := commandOf(program, args)
	path := command.Path()
	if path != "search" && path != "tools call" {
		return args
	}
	var known []string
	for _, f := range flagsOf(command) {
		known = append(known, f.Name)
	}
	flags, words := slices.Clone(args[:at]), []string{}
	for rest := args[at:]; len(rest) > 0; {
		word, n := rest[0], 1
		name, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		as := op.StandsFor(strings.ReplaceAll(name, "-", "_"), append(known, "query"))
		switch f := flagOf(command, word); {
		case word == "--":
			words, n = append(words, rest[1:]...), len(rest)
		case f != nil && (path == "search" || f.Name != "version"):
			n = min(lengthOf(f, word), len(rest))
			flags = append(flags, rest[:n]...)
		case path == "tools call" || word == "-" || !strings.HasPrefix(word, "-"):
			words = append(words, word)
		case as == "query" && joined:
			words = append(words, value)
		case as == "query":
			n = min(2, len(rest))
			words = append(words, rest[1:n]...)
		case as != "" && joined:
			flags = append(flags, "--"+as+"="+value)
		case as != "":
			n = min(2, len(rest))
			flags = append(append(flags, "--"+as), rest[1:n]...)
		default:
			flags = append(flags, word) // the parser says that there is none
		}
		rest = rest[n:]
	}
	if len(words) > 0 {
		flags = append(append(flags, "--"), words...)
	}
	return flags
}

// commandOf returns the command that a command line names, and where its own words begin.
func commandOf(program *kong.Application, args []string) (command *kong.Node, at int) {
	command = program.Node
	for at < len(args) && !command.Leaf() {
		word := args[at]
		if f := flagOf(command, word); f != nil {
			at += lengthOf(f, word)
			continue
		}
		next := slices.IndexFunc(command.Children, func(c *kong.Node) bool { return c.Name == word })
		if next < 0 {
			break
		}
		command, at = command.Children[next], at+1
	}
	return command, min(at, len(args))
}

// flagsOf returns the flags that a command takes.
func flagsOf(command *kong.Node) (flags []*kong.Flag) {
	return slices.Concat(command.AllFlags(false)...)
}

// flagOf returns the flag that a word of a command line is; nil: none.
func flagOf(command *kong.Node, word string) *kong.Flag {
	name, _, _ := strings.Cut(word, "=")
	flags := flagsOf(command)
	at := slices.IndexFunc(flags, func(f *kong.Flag) bool {
		return name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short)
	})
	if at < 0 {
		return nil
	}
	return flags[at]
}

// lengthOf is how many words a flag is, with its value.
func lengthOf(f *kong.Flag, word string) int {
	if f.IsBool() || strings.Contains(word, "=") {
		return 1
	}
	return 2
}
