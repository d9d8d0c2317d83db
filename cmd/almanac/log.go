package main

import (
	"io"
	"log/slog"
	"strings"
)

// logLevel returns the level of a command. The default of commands that print
// their result is warn.
func logLevel(c Config, origins Origins, command string) string {
	name, _, _ := strings.Cut(command, " ")
	if origins["log.level"] == originDefault && name != "serve" && name != "mcp" {
		return "warn"
	}
	return c.Log.Level
}

func newLogger(c Config, name string, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		panic(err) // checked with the configuration
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "text" || c.Log.Format == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}
