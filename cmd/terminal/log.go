// Package terminal is how commands print: tables, colours, and the log.
package terminal

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"almanac/api/op"
	"almanac/cmd/config"
)

// Loggers makes the logs of a command: of what happens, and of its progress.
// The default level of commands that print their result is warn, but progress is
// always shown.
func Loggers(c config.Config, origins config.Origins, command string, w io.Writer) (log, progress *slog.Logger) {
	log = Logger(c, c.Log.Level, w)
	name, _, _ := strings.Cut(command, " ")
	watched := name == "sync" && Is(w)
	if origins["log.level"] != config.Default || !watched && slices.Contains([]string{"serve", "mcp", "sync"}, name) {
		return log, log
	}
	return Logger(c, "warn", w), log
}

// Logger makes a log of a level.
func Logger(c config.Config, name string, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		panic(err) // checked with the configuration
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: inSeconds}
	if c.Log.Format == "text" || c.Log.Format == "auto" && Is(w) {
		return slog.New(requests{slog.NewTextHandler(w, o)})
	}
	return slog.New(requests{slog.NewJSONHandler(w, o)})
}

// inSeconds writes durations as seconds and says so in the key: took_seconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
	}
	return a
}

// requests adds the id of the request that a line is about.
type requests struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requests) Handle(ctx context.Context, r slog.Record) error {
	if id := op.RequestOf(ctx); id != "" {
		r.AddAttrs(slog.String("request", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h requests) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requests{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requests) WithGroup(name string) slog.Handler { return requests{h.Handler.WithGroup(name)} }
