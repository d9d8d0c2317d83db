package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clock is when the program starts, for itself: answers do not depend on the day.
const clock = "2026-08-25T03:47:00Z"

// part is a network of which something is recorded.
type part struct {
	name     string
	network  func(root, dir string) (args, env []string, err error) // nil args: its data is not here
	record   []recorder                                             // of its catalog and of its answers, in this order
	commands string                                                 // testdata/commands-*.txt
	judged   string                                                 // queries over its catalog, below shared
}

// recorder records one thing that a program promises of a part.
type recorder struct {
	file string
	of   func(p *program, of part, found items) error
}

var (
	synced   = recorder{"catalog", (*program).synced}
	answers  = recorder{"answers", (*program).answers}
	migrated = recorder{"catalog", (*program).migrated}
	rankings = recorder{"rankings", (*program).rankings}
)

var known = []part{
	{name: "sample", commands: "sample", record: []recorder{synced, answers}, network: sample},
	{name: "corpus", commands: "corpus", judged: "judged/network-dev", record: []recorder{synced, answers},
		network: func(root, _ string) (args, env []string, err error) {
			corpus := filepath.Join(shared(root), "corpus")
			if _, err := os.Stat(corpus); err != nil {
				return nil, nil, nil
			}
			return []string{"--network", "corpus"}, []string{"ALMANAC_CORPUS=" + corpus}, nil
		}},
	{name: "proposals", record: []recorder{synced}, network: bundle},
	{name: "judged", record: []recorder{rankings}, network: func(root, dir string) (args, env []string, err error) {
		if _, err := os.Stat(filepath.Join(shared(root), "judged")); err != nil {
			return nil, nil, nil
		}
		return sample(root, dir)
	}},
	{name: "directory-0.2.0", commands: "directory", record: []recorder{migrated}, network: directory("0.2.0")},
	{name: "directory-c98fd194", commands: "directory", record: []recorder{migrated}, network: directory("c98fd194")},
}

func sample(_, _ string) (args, env []string, err error) {
	return []string{"--network", "sample"}, nil, nil
}

// directory is the sample network with a data directory that a build of an earlier commit wrote: testdata/write.
func directory(of string) func(root, dir string) (args, env []string, err error) {
	return func(root, dir string) (args, env []string, err error) {
		archive := filepath.Join(root, "testing", "contract", "testdata", "directory-"+of+".tar.gz")
		if _, err := command(dir, nil, "tar", "-xzf", archive); err != nil {
			return nil, nil, err
		}
		return sample(root, dir)
	}
}

// shared is the folder of documents that the repository does not hold.
func shared(root string) string {
	if dir := os.Getenv("ALMANAC_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join(filepath.Dir(root), "shared")
}

// bundle is a network whose proposals are read from git's history.
func bundle(root, dir string) (args, env []string, err error) {
	file := filepath.Join(shared(root), "bundles", "cips.bundle")
	if _, err := os.Stat(file); err != nil {
		return nil, nil, nil
	}
	clone := filepath.Join(dir, "clone")
	if _, err := command(dir, nil, "git", "clone", "--quiet", "--mirror", file, clone); err != nil {
		return nil, nil, err
	}
	network := filepath.Join(dir, "proposals.yaml")
	return []string{"--network", network}, nil, os.WriteFile(network, []byte(fmt.Sprintf(`name: proposals
title: Proposals
proposals:
  prefix: CIP
  statuses: [Draft, Review, Final, Withdrawn, Rejected, Superseded]
  status_map: {Proposed: Review, Deferred: Review, Approved: Review, Active: Final, Replaced: Superseded, Obsolete: Superseded}
  default: Draft
sources:
  - name: cips
    kind: proposals
    options: {repository: %s, url: {file: "https://forge.example/cips/blob/main/{path}", pull: "https://forge.example/cips/pull/{number}"}}
`, clone)), 0o600)
}

// program is a built program on a data directory of its own.
type program struct {
	bin, dir, data string
	shared         string
	args, env      []string          // of a network
	names, ids     map[string]string // of records by id, and ids by name
	here           *strings.Replacer // of addresses and directories of this run
}

// observe builds the program of a tree and records what it promises.
func observe(tree, dir string, parts []string) (contract, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, "almanac")
	if _, err := command(tree, nil, "go", "build", "-ldflags", "-X main.clockStart="+clock, "-o", bin, "./cmd/almanac"); err != nil {
		return nil, err
	}
	out := contract{}
	for _, p := range known {
		if len(parts) > 0 && !slices.Contains(parts, p.name) {
			continue
		}
		work := filepath.Join(dir, p.name)
		if err := os.MkdirAll(work, 0o755); err != nil {
			return nil, err
		}
		args, env, err := p.network(tree, work)
		if err != nil {
			return nil, err
		}
		if args == nil {
			fmt.Printf("SKIPPED %s: its data is not in %s\n", p.name, shared(tree))
			continue
		}
		fmt.Fprintln(os.Stderr, "contract:", p.name, "of", tree)
		prog := &program{bin: bin, dir: work, data: filepath.Join(work, "data"), shared: shared(tree), args: args, env: env}
		for _, r := range p.record {
			found := items{}
			if err := r.of(prog, p, found); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			out[p.name+"-"+r.file+".txt"] = found
		}
	}
	return out, nil
}

// run runs a command of the program and returns what it printed, and its exit code.
func (p *program) run(args ...string) (out string, code int, err error) {
	c := exec.Command(p.bin, args...)
	c.Dir, c.Env = p.dir, p.environ()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err = c.Run(); err != nil && c.ProcessState == nil {
		return "", 0, err
	}
	return stdout.String() + indented(stderr.String()), c.ProcessState.ExitCode(), nil
}

func indented(errors string) string {
	if errors == "" {
		return ""
	}
	return "! " + strings.ReplaceAll(strings.TrimRight(errors, "\n"), "\n", "\n! ") + "\n"
}

// environ is the environment of the program. What GOFLAGS=-cover counts is written below GOCOVERDIR.
func (p *program) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "XDG_DATA_HOME=" + p.dir, "TZ=UTC", "LANG=C.UTF-8",
		"ALMANAC_DATA_DIR=" + p.data, "ALMANAC_EMBED_MODEL=table", "ALMANAC_LOG_LEVEL=error", "ALMANAC_LIMIT_REST=0",
		"ALMANAC_LIMIT_MCP=0", "ALMANAC_LIMIT_WEB=0", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}, p.env...)
}

// serving starts a server, calls do when it is ready, and stops it.
func (p *program) serving(do func(address, dashboard string) error) error {
	c := exec.Command(p.bin, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-level", "info"}, p.args...)...)
	c.Dir, c.Env = p.dir, p.environ()
	log := filepath.Join(p.dir, "log")
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	c.Stderr = f
	if err := c.Start(); err != nil {
		return err
	}
	defer func() { _, _ = c.Process.Signal(os.Interrupt), c.Wait() }()
	deadline, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		public, dashboard := publicAddress.FindSubmatch(text), dashboardAddress.FindSubmatch(text)
		if public != nil && dashboard != nil {
			if res, err := http.Get("http://" + string(public[1]) + "/ready"); err == nil {
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					return do(string(public[1]), string(dashboard[1]))
				}
			}
		}
		select {
		case <-deadline.Done():
			return fmt.Errorf("the server is not ready: %s", text)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

var (
	publicAddress    = regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`)
	dashboardAddress = regexp.MustCompile(`"msg":"admin listener ready","address":"([^"]+)"`)
)

// synced records what a first sync makes: the report, and the catalog.
func (p *program) synced(_ part, found items) error {
	if err := p.sync(found); err != nil {
		return err
	}
	return p.exported(found)
}

// migrated records what becomes of a data directory of an earlier version: its catalog, what commands say of it, and what
// a sync finds to do.
func (p *program) migrated(of part, found items) error {
	if err := p.exported(found); err != nil {
		return err
	}
	if err := p.commands(of.commands, found); err != nil {
		return err
	}
	return p.sync(found)
}

// answers records what the command line prints, what a server answers, and how it ranks the network's judged queries.
func (p *program) answers(of part, found items) error {
	if err := p.commands(of.commands, found); err != nil {
		return err
	}
	var judged []string // else those that the network comes with
	if of.judged != "" {
		judged = []string{"--queries", filepath.Join(p.shared, of.judged)}
	}
	if err := p.ranking("", judged, found); err != nil {
		return err
	}
	return p.serving(func(address, dashboard string) error { return p.ask(of.name, address, dashboard, found) })
}

// rankings records how collections with documents of their own are ranked.
func (p *program) rankings(_ part, found items) error {
	all, err := filepath.Glob(filepath.Join(p.shared, "judged", "*", "corpus.jsonl"))
	if err != nil || len(all) == 0 {
		return fmt.Errorf("no collection in %s: %w", p.shared, err)
	}
	for _, file := range all {
		dir := filepath.Dir(file)
		if err := p.ranking(filepath.Base(dir)+" ", []string{"--judged", dir}, found); err != nil {
			return err
		}
	}
	return nil
}

// mostRanked is how many results of a judged query are recorded.
const mostRanked = 10

// ranking records the first documents of each judged query, as a TREC run names them.
func (p *program) ranking(collection string, args []string, found items) error {
	file := filepath.Join(p.dir, "run")
	text, code, err := p.run(slices.Concat([]string{"eval", "--run", file}, args, p.args)...)
	if err != nil || code != 0 {
		return fmt.Errorf("eval %v: %d %w %s", args, code, err, text)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) != 6 {
			return fmt.Errorf("%s: %q", file, line)
		}
		if rank, err := strconv.Atoi(fields[3]); err == nil && rank <= mostRanked {
			found["ranking "+collection+fields[0]] += fields[2] + "\n"
		}
	}
	return os.Remove(file)
}

// sync records the report of a sync.
func (p *program) sync(found items) error {
	report, code, err := p.run(append([]string{"sync"}, p.args...)...)
	if err != nil || code != 0 {
		return fmt.Errorf("sync: %d %w %s", code, err, report)
	}
	found["sync"] = columns.ReplaceAllString(report, " ")
	return nil
}

// exported records each record, event, link and state as it is exported.
func (p *program) exported(found items) error {
	to := filepath.Join(p.dir, "export")
	if text, code, err := p.run(append([]string{"export", to}, p.args...)...); err != nil || code != 0 {
		return fmt.Errorf("export: %d %w %s", code, err, text)
	}
	files, err := filepath.Glob(filepath.Join(to, "*.jsonl"))
	if err != nil {
		return err
	}
	below, err := filepath.Glob(filepath.Join(to, "*", "*.jsonl"))
	if err != nil {
		return err
	}
	ids := map[string]string{}
	for _, file := range append(files, below...) {
		name, _ := filepath.Rel(to, file)
		if name == "manifest.jsonl" {
			continue
		}
		if err := p.dump(name, file, found, ids); err != nil {
			return err
		}
	}
	p.names, p.ids = ids, map[string]string{}
	for id, name := range ids {
		p.ids[name] = id
	}
	return nil
}

// own are members of exported lines that say when and as what this catalog holds them.
var own = []string{"id", "first_seen_at", "hash", "last_run", "last_success"}

// dump records the lines of an exported file, each by what it is of.
func (p *program) dump(name, file string, found items, ids map[string]string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(raw) {
		var row map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		of := strings.TrimSuffix(name, ".jsonl")
		for _, key := range []string{"name", "series", "kind", "key", "field"} {
			if v, ok := row[key].(string); ok {
				of += " " + v
			}
		}
		if id, ok := row["id"].(json.Number); ok {
			ids[id.String()] = strings.ReplaceAll(fmt.Sprintf("<%v:%v>", row["kind"], row["key"]), " ", "%20")
		}
		for _, key := range own {
			delete(row, key)
		}
		text, err := json.MarshalIndent(row, "", " ")
		if err != nil {
			return err
		}
		found[of] += settled(string(text)) + "\n" // events and states of one name are one item
	}
	return nil
}

// command runs a program to its end.
func command(dir string, env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	if env != nil {
		c.Env = append(os.Environ(), env...)
	}
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

func top() (string, error) { return command(".", nil, "git", "rev-parse", "--show-toplevel") }

// body reads an answer to its end.
func body(res *http.Response) (string, error) {
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	return string(raw), err
}
