// Command almanac collects the knowledge of a ledger network and makes it
// searchable for people, programs and AI agents. It only wires packages: every
// subcommand is a file here.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"almanac/api/kb/arg"
	"almanac/cmd/config"
	"almanac/cmd/manual"
	"almanac/cmd/memory"
	"almanac/cmd/profiles"
	"almanac/cmd/progress"
	"almanac/cmd/terminal"
	"almanac/ingest/curated"
	"almanac/ingest/networks"
	"almanac/retrieval/ranking"
)

// cli is the command line.
type cli struct {
	Config   string `help:"Configuration file (YAML); also ALMANAC_CONFIG." placeholder:"FILE"`
	Network  string `help:"${network}" placeholder:"NAME|FILE" complete:"networks" xor:"of" setting:"network.name"`
	Folder   string `help:"Folder of documents, as network." type:"path" placeholder:"DIR" xor:"of" setting:"network.name"`
	Data     string `help:"Data directory; one for each network." placeholder:"DIR" setting:"data.dir"`
	LogLevel string `help:"debug, info, warn or error." placeholder:"LEVEL" setting:"log.level"`

	Serve       serveCmd         `cmd:"" help:"Serve REST, MCP and the web pages, and keep the sources in sync."`
	Sync        syncCmd          `cmd:"" help:"Sync the sources once, then exit."`
	Search      searchCmd        `cmd:"" help:"Search from the command line."`
	Show        showCmd          `cmd:"" help:"Print a document, or any other record, by its id."`
	MCP         mcpCmd           `cmd:"" name:"mcp" help:"Serve the tools over standard input and output."`
	Tools       toolsCmd         `cmd:"" help:"List what clients can ask, or ask it from the command line."`
	NetworkFile networkCmd       `cmd:"" name:"network" help:"Check and describe network files."`
	Export      exportCmd        `cmd:"" help:"Write the catalog as a portable corpus."`
	Import      importCmd        `cmd:"" help:"Read an exported corpus into an empty data directory."`
	Backup      backupCmd        `cmd:"" help:"Save the data directory as one file, beside a running server."`
	Restore     restoreCmd       `cmd:"" help:"Put a backup in place of the data directory's catalog."`
	Reindex     reindexCmd       `cmd:"" help:"Rebuild the index from the catalog."`
	Jobs        jobsCmd          `cmd:"" help:"Show or cancel the work that a server was asked for."`
	Eval        evalCmd          `cmd:"" help:"Measure the ranking against judgments."`
	Judge       judgeCmd         `cmd:"" help:"Judged queries of the data directory: list, import, export."`
	Tune        tuneCmd          `cmd:"" help:"Fit the reranker's weights to judgments."`
	Profile     profiles.Command `cmd:"" help:"Save, publish and compare relevance profiles."`
	Doctor      doctorCmd        `cmd:"" help:"Check configuration, data directory and engines."`
	Health      healthCmd        `cmd:"" help:"Check whether the server on this machine is ready."`
	ShowConfig  configCmd        `cmd:"" name:"config" help:"Print the effective configuration and its origins."`
	ShowVersion versionCmd       `cmd:"" name:"version" help:"Print the version, its commit and its date."`

	Completion completionCmd    `cmd:"" help:"Print completions for a shell."`
	Complete   completeCmd      `cmd:"" hidden:"" help:"Print what a shell offers."`
	Man        manCmd           `cmd:"" help:"Print the man page."`
	Version    kong.VersionFlag `help:"Print the version and exit."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		// Its stop is not called: a terminal that closes sends several.
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	memory.Respect()
	code := runMain(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runMain is main without the process. It returns the exit code: 0, 1 for a
// failure, 2 for an invalid command line or configuration.
func runMain(ctx context.Context, args, environ []string, out, errOut io.Writer) int {
	var root cli
	parser, help, err := newParser(&root, out, errOut)
	if err != nil {
		fmt.Fprintln(errOut, "almanac:", err)
		return 1
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	kctx, err := parser.Parse(wordsLast(parser.Model, args))
	switch {
	case help.tool != "": // tools call NAME --help
		return runMain(ctx, slices.Concat([]string{"tools", "list", help.tool}, help.flags), environ, out, errOut)
	case help.exited: // after --help, --version
		return 0
	case err != nil:
		fmt.Fprintf(errOut, "almanac: %v\n`almanac --help` shows the commands and their flags.\n", err)
		return 2
	}
	if terminal.Is(errOut) {
		errOut = progress.NewScreen(errOut)
	}
	a := &app{file: root.Config, environ: environ, out: out, err: errOut}
	a.style = terminal.StyleOf(out, config.Getenv(environ, "NO_COLOR"), config.Getenv(environ, "TERM"))
	if a.config, a.origins, err = config.Load(root.Config, environ, settingFlags(kctx)); err == nil {
		a.log, a.lines = terminal.Loggers(a.config, a.origins, kctx.Command(), errOut)
		kctx.BindTo(ctx, (*context.Context)(nil))
		kctx.Bind(&profiles.Desk{Open: a.withRevisions, Load: a.profile, Out: out, Here: a.here,
			By: a.user()})
		err = kctx.Run(a)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, config.ErrUsage):
		fmt.Fprintln(errOut, "almanac:", strings.TrimPrefix(err.Error(), config.ErrUsage.Error()+": "))
		return 2
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "almanac: interrupted")
		return 1
	default:
		fmt.Fprintln(errOut, "almanac:", a.here(err.Error()))
		return 1
	}
}

// helped is how a command line that asks for help was answered.
type helped struct {
	exited bool
	tool   string   // not yet: it asks for help on this one,
	flags  []string // with these flags
}

// newParser makes the parser of the command line.
func newParser(root *cli, out, errOut io.Writer) (parser *kong.Kong, help *helped, err error) {
	help = new(helped)
	parser, err = kong.New(root, kong.Name("almanac"),
		kong.Description("A knowledge base of a ledger network, for people, programs and AI agents."),
		kong.Writers(out, errOut), kong.Exit(func(int) { help.exited = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(help.print),
		kong.Vars{
			"network":  "Network: " + strings.Join(networks.Names(), ", ") + ", or a YAML file.",
			"networks": strings.Join(networks.Names(), ", "), "curated": strings.Join(curated.Names(), ", "),
			"profiles": strings.Join(ranking.Names(), ", "), "types": strings.Join(arg.SearchTypes, ", "),
			"listen": config.DefaultOf("server.listen"), "admin": config.DefaultOf("server.admin"),
			"shells": strings.Join(manual.Shells, ","), "version": built().String(),
		})
	if err != nil {
		return nil, help, err
	}
	for _, leaf := range parser.Model.Leaves(false) {
		leaf.Detail = strings.TrimSpace(leaf.Detail + "\n\n" + examplesOf(leaf.Path()))
	}
	return parser, help, nil
}

// print prints help, but for that of a tool, which depends on the network.
func (h *helped) print(options kong.HelpOptions, kctx *kong.Context) error {
	if kctx.Selected() == nil || kctx.Selected().Path() != "tools call" {
		return kong.DefaultHelpPrinter(options, kctx)
	}
	for _, p := range kctx.Path {
		if p.Positional != nil && p.Positional.Name == "name" {
			h.tool = kctx.Value(p).String()
		}
	}
	if h.tool == "" {
		return kong.DefaultHelpPrinter(options, kctx)
	}
	for _, f := range kctx.Flags() {
		if f.Set && f.Name != "help" {
			h.flags = append(h.flags, fmt.Sprintf("--%s=%v", f.Name, kctx.FlagValue(f)))
		}
	}
	return nil
}

// settingFlags returns the values of given flags by their settings.
func settingFlags(kctx *kong.Context) map[string]string {
	flags := map[string]string{}
	for _, f := range kctx.Flags() {
		if key := f.Tag.Get("setting"); key != "" && f.Set {
			flags[key] = fmt.Sprint(f.Target.Interface())
		}
	}
	return flags
}
