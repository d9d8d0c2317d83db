package main

import "almanac/cmd/config"

// colour reports whether output is coloured: on a terminal, unless NO_COLOR is
// set (no-color.org) or the terminal is dumb.
func (a *app) colour() bool {
	return isTerminal(a.out) && config.Getenv(a.environ, "NO_COLOR") == "" && config.Getenv(a.environ, "TERM") != "dumb"
}

// paint wraps a text in a style of ECMA-48 (select graphic rendition).
func (a *app) paint(style, text string) string {
	if text == "" || !a.colour() {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func (a *app) bold(text string) string  { return a.paint("1", text) }
func (a *app) dim(text string) string   { return a.paint("2", text) }
func (a *app) red(text string) string   { return a.paint("31", text) }
func (a *app) green(text string) string { return a.paint("32", text) }
