// Command almanac collects a ledger network's knowledge and answers people,
// programs and AI agents from one search engine. It only wires: every
// subcommand is a file here, what they do is in the packages they use.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Config   string `help:"Configuration file (YAML)." placeholder:"FILE" env:"ALMANAC_CONFIG"`
	Network  string `help:"Network: a preset (${networks}) or a YAML file." placeholder:"NAME|FILE" setting:"network.name"`
	Data     string `help:"Data directory." placeholder:"DIR" setting:"data.dir"`
	LogLevel string `help:"debug, info, warn or error." placeholder:"LEVEL" setting:"log.level"`

	Serve       serveCmd   `cmd:"" help:"Serve REST, MCP and the web pages, and keep the sources in sync."`
	Sync        syncCmd    `cmd:"" help:"Sync the sources once, then exit."`
	Search      searchCmd  `cmd:"" help:"Search from the command line."`
	MCP         mcpCmd     `cmd:"" name:"mcp" help:"Serve the tools over standard input and output."`
	Reindex     reindexCmd `cmd:"" help:"Build the index anew from the catalog."`
	Eval        evalCmd    `cmd:"" help:"Measure the ranking against judgments."`
	Tune        tuneCmd    `cmd:"" help:"Fit the reranker's weights to judgments."`
	Doctor      doctorCmd  `cmd:"" help:"Check configuration and data directory, and say what to do."`
	ShowConfig  configCmd  `cmd:"" name:"config" help:"Print the effective configuration with the origin of each value."`
	ShowVersion versionCmd `cmd:"" name:"version" help:"Print the version."`
}

// app is what subcommands run with.
type app struct {
	config  Config
	origins Origins
	log     *slog.Logger
	out     io.Writer
	err     io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit code, 0, 1 for a
// failure, 2 for a mistake of the caller.
func run(ctx context.Context, args, environ []string, out, errOut io.Writer) int {
	var c cli
	exited, exitCode := false, 0
	parser, err := kong.New(&c, kong.Name("almanac"), kong.Description("A knowledge base of a ledger network, for people, programs and AI agents."),
		kong.Writers(out, errOut), kong.Exit(func(code int) { exited, exitCode = true, code }), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Vars{"networks": strings.Join(networkNames(), ", "), "profiles": strings.Join(profileNames(), ", ")})
	if err != nil {
		fmt.Fprintln(errOut, "almanac:", err)
		return 1
	}
	kctx, err := parser.Parse(args)
	if exited {
		return exitCode
	}
	if err != nil {
		fmt.Fprintln(errOut, "almanac:", err)
		fmt.Fprintln(errOut, "`almanac --help` shows the commands and their flags.")
		return 2
	}
	a := &app{out: out, err: errOut}
	if a.config, a.origins, err = loadConfig(c.Config, environ, settingFlags(kctx)); err == nil {
		if a.log, err = newLogger(a.config, errOut); err == nil {
			kctx.BindTo(ctx, (*context.Context)(nil))
			err = kctx.Run(a)
		}
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(errOut, "almanac:", strings.TrimPrefix(err.Error(), errUsage.Error()+": "))
		return 2
	default:
		fmt.Fprintln(errOut, "almanac:", err)
		return 1
	}
}

// settingFlags returns the flags that were given and stand for a setting.
func settingFlags(kctx *kong.Context) map[string]string {
	flags := map[string]string{}
	for _, f := range kctx.Flags() {
		if key := f.Tag.Get("setting"); key != "" && f.Set {
			flags[key] = fmt.Sprint(f.Target.Interface())
		}
	}
	return flags
}

func newLogger(c Config, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		return nil, fmt.Errorf("%w: log.level is %q: must be debug, info, warn or error", errUsage, c.Log.Level)
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "text" || c.Log.Format == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, o)), nil
	}
	return slog.New(slog.NewJSONHandler(w, o)), nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
