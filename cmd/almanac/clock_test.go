package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// byTheClock are the functions of tests that look at the clock of the machine all the
// same, and why each may.
var byTheClock = map[string]string{
	"catalog/sqlite/process_test.go: TestKilledWriterLeavesWholeBatches": atAnyMoment,
	"retrieval/keyword/embedded/snapshot_test.go: " +
		"TestKillDuringFlushLeavesTheOldOrTheNewSnapshot": atAnyMoment,
	"retrieval/snapshot/snapshot_test.go: TestAKilledWriterLeavesAWholeSnapshot":       atAnyMoment,
	"retrieval/vector/embedded/snapshot_test.go: TestAKilledFlushLeavesAWholeSnapshot": atAnyMoment,

	"cmd/almanac/confined_linux_test.go: server.indexed": "a hostile source takes as long as the test may",
	"cmd/almanac/hostile_linux_test.go: serveHostile":    "it looks at the memory of a process now and then",
	"cmd/almanac/hostile_linux_test.go: ownTime": "what is compared is the processor time of two sizes of a text in " +
		"one run, the least of several tries",
	"cmd/almanac/rolling_test.go: balancer.load": "none of its searches may fail, however few they are",
	"ingest/gitrepo/rate_test.go: drip.Write":    slowly,
	"retrieval/vector/qdrant/errors_test.go: faults": "a server that never answers is too slow for any bound, and " +
		"gRPC has no clock that a test can turn",
}

// Reasons that several have.
const (
	atAnyMoment = "it kills a process at any moment, and what is left is whole whenever that was"
	slowly      = "it is slow for a process that has a clock of its own, and that must end however slow it is"
)

// TestNoTestMeasuresTheMachine holds that no verdict depends on how busy the machine is:
// outside of the bubbles of testing/synctest no test sleeps, compares how long something
// took, or gives it less than a second. Benchmarks measure.
func TestNoTestMeasuresTheMachine(t *testing.T) {
	needed := map[string]bool{}
	for _, p := range ourPackages(t) {
		set := token.NewFileSet()
		for _, use := range clockUses(set, p.testFiles(t, set)) {
			at := set.Position(use.pos)
			path := strings.TrimPrefix(p.path, "almanac/") + "/" + filepath.Base(at.Filename)
			row := path + ": " + use.in
			if needed[row] = true; byTheClock[row] == "" {
				t.Errorf("%s:%d: %s %s: wait for a state (testing/wait), or use testing/synctest", path, at.Line,
					use.in, use.does)
			}
		}
	}
	for row := range byTheClock {
		if !needed[row] {
			t.Errorf("the row %q is not needed", row)
		}
	}
}

func TestUsesOfTheClockAreFound(t *testing.T) {
	const helpers = `
import "testing/synctest"

type slow struct{ takes time.Duration }

func (s *slow) Do() { time.Sleep(s.takes) }

func pause() { time.Sleep(time.Second) }

func BenchmarkDo(b *testing.B) { time.Sleep(time.Second) }
`
	for text, want := range map[string]string{
		"time.Sleep(x)":                   "TestX calls time.Sleep",
		"go func() { <-time.After(x) }()": "TestX calls time.After",
		"<-time.After(wait.Bound)":        "",
		"pause()":                         "pause calls time.Sleep",
		"syscall.Getrusage(0, &r)":        "TestX calls syscall.Getrusage",
		"(&slow{}).Do()":                  "slow.Do calls time.Sleep",
		"synctest.Test(t, func(t *testing.T) { time.Sleep(x); pause(); (&slow{}).Do() })": "",
		"pause(); synctest.Test(t, func(t *testing.T) { pause() })":                       "pause calls time.Sleep",
		"t.Run(name, func(t *testing.T) { synctest.Test(t, inBubble) })":                  "",

		"if time.Since(start) > x { return }":                         "TestX compares how long something took",
		"took := time.Since(start).Seconds(); ok = 3 <= took":         "TestX compares how long something took",
		"took := time.Since(start); t.Log(took)":                      "",
		"_ = Config{Timeout: 50 * time.Millisecond}":                  "TestX gives less than a second",
		"_ = Config{Timeout: time.Second, Poll: time.Millisecond}":    "",
		"_ = Config{Deadline: 0, OpenTimeout: limit}":                 "",
		"c.Deadline = time.Second / 2":                                "TestX gives less than a second",
		"context.WithTimeout(ctx, time.Duration(n)*time.Microsecond)": "TestX gives less than a second",
		"context.WithTimeout(ctx, 2*time.Second)":                     "",
	} {
		set := token.NewFileSet()
		source := "package x\n" + helpers + "func TestX(t *testing.T) {\n" + text + "\n}\n" +
			"func inBubble(t *testing.T) { pause(); (&slow{}).Do() }\n" +
			"func TestInBubble(t *testing.T) { synctest.Test(t, inBubble) }\n"
		file, err := parser.ParseFile(set, "x_test.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, use := range clockUses(set, []*ast.File{file}) {
			got = append(got, use.in+" "+use.does)
		}
		if found := strings.Join(got, ", "); found != want {
			t.Errorf("%s: found %q, want %q", text, found, want)
		}
	}
}

// clockUse is a place where a test looks at the clock of the machine.
type clockUse struct {
	pos  token.Pos
	in   string // the function
	does string
}

// clockUses finds them in the test files of a directory.
func clockUses(set *token.FileSet, files []*ast.File) []clockUse {
	var parts []*part
	for _, file := range files {
		bench := strings.HasSuffix(set.Position(file.Pos()).Filename, "bench_test.go")
		for _, d := range file.Decls {
			parts = append(parts, partsOf(d, bench)...)
		}
	}
	apart := setApart(parts)
	var all []clockUse
	for _, p := range parts {
		if !apart[p.name] {
			all = append(all, p.uses...)
		}
	}
	return all
}

// part is a declaration of a file, where methods are part of their type.
type part struct {
	name     string
	bench    bool
	uses     []clockUse
	mentions []string // of names, outside of bubbles
	bubbles  []string // names mentioned within
}

// partsOf returns a declaration in parts.
func partsOf(d ast.Decl, bench bool) []*part {
	var parts []*part
	add := func(name, in string, bench bool, n ast.Node) {
		p := &part{name: name, bench: bench}
		p.walk(n, in, measuredIn(n), false)
		parts = append(parts, p)
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv == nil {
			add(name, name, bench || strings.HasPrefix(name, "Benchmark"), d)
			break
		}
		of := receiver(d.Recv.List[0].Type)
		add(of, of+"."+name, bench, d)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name.Name, s.Name.Name, bench, s)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add(name.Name, name.Name, bench, s)
				}
			}
		}
	}
	return parts
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) (name string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// setApart returns the names that only bubbles and benchmarks mention, or what is itself
// set apart.
func setApart(parts []*part) map[string]bool {
	apart := map[string]bool{}
	for _, p := range parts {
		if p.bench {
			apart[p.name] = true
		}
	}
	for before := -1; len(apart) > before; {
		before = len(apart)
		inside, outside := map[string]bool{}, map[string]bool{}
		for _, p := range parts {
			within := p.bubbles
			if apart[p.name] {
				within = slices.Concat(within, p.mentions)
			} else {
				for _, name := range p.mentions {
					outside[name] = outside[name] || name != p.name
				}
			}
			for _, name := range within {
				inside[name] = true
			}
		}
		for _, p := range parts {
			if inside[p.name] && !outside[p.name] {
				apart[p.name] = true
			}
		}
	}
	return apart
}

// walk notes what a node mentions and where it looks at the clock; measured are the
// variables of its function that hold how long something took.
func (p *part) walk(n ast.Node, in string, measured []string, bubble bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !bubble && callee(call) == "synctest.Test" {
			for _, argument := range call.Args {
				p.walk(argument, in, measured, true)
			}
			return false
		}
		if id, ok := n.(*ast.Ident); ok && bubble {
			p.bubbles = append(p.bubbles, id.Name)
		} else if ok {
			p.mentions = append(p.mentions, id.Name)
		}
		if n != nil && !bubble {
			if does := looksAtTheClock(n, measured); does != "" {
				p.uses = append(p.uses, clockUse{n.Pos(), in, does})
			}
		}
		return true
	})
}

// looksAtTheClock says what a node does that depends on how busy the machine is.
func looksAtTheClock(n ast.Node, measured []string) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		switch name := callee(n); name {
		case "time.After":
			if id, ok := n.Args[0].(*ast.SelectorExpr); !ok || id.Sel.Name != "Bound" {
				return "calls " + name
			}
		case "time.Sleep", "time.AfterFunc", "time.Tick", "time.NewTicker", "time.NewTimer", "syscall.Getrusage":
			return "calls " + name
		case "context.WithTimeout", "context.WithTimeoutCause":
			if short(n.Args[1]) {
				return "gives less than a second"
			}
		}
	case *ast.BinaryExpr:
		comparison := n.Op == token.EQL || n.Op == token.NEQ || n.Op == token.LSS || n.Op == token.GTR ||
			n.Op == token.LEQ || n.Op == token.GEQ
		if comparison && (measures(n.X, measured) || measures(n.Y, measured)) {
			return "compares how long something took"
		}
	case *ast.KeyValueExpr:
		if bounds(n.Key) && short(n.Value) {
			return "gives less than a second"
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if len(n.Rhs) == len(n.Lhs) && bounds(left) && short(n.Rhs[i]) {
				return "gives less than a second"
			}
		}
	}
	return ""
}

// callee is the name of a package and its function, or of a variable and its method.
func callee(call *ast.CallExpr) string {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// measuredIn are the variables that a declaration sets to how long something took.
func measuredIn(n ast.Node) (names []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, left := range a.Lhs {
				if id, ok := left.(*ast.Ident); ok && measures(a.Rhs[i], nil) {
					names = append(names, id.Name)
				}
			}
		}
		return true
	})
	return names
}

// measures reports whether an expression holds how long something took.
func measures(e ast.Expr, measured []string) (is bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := callee(n)
			is = is || name == "time.Since" || name == "time.Until"
		case *ast.Ident:
			is = is || slices.Contains(measured, n.Name)
		case *ast.FuncLit:
			return false
		}
		return !is
	})
	return is
}

// bounds reports whether what has a name says how long something may take.
func bounds(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "timeout") || strings.HasSuffix(name, "deadline")
}

// short reports whether an expression is a duration below a second and above none.
func short(e ast.Expr) bool {
	d, known := durationOf(e)
	return known && d > 0 && d < time.Second
}

var units = map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond,
	"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

// durationOf computes a duration, if it is of numbers and units; time.Duration(x) of
// what is not known is one of its units.
func durationOf(e ast.Expr) (d time.Duration, known bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return durationOf(e.X)
	case *ast.BasicLit:
		n, err := strconv.ParseFloat(e.Value, 64)
		return time.Duration(n), err == nil
	case *ast.SelectorExpr:
		d, known = units[e.Sel.Name]
		return d, known
	case *ast.CallExpr:
		return 1, callee(e) == "time.Duration"
	case *ast.BinaryExpr:
		x, known := durationOf(e.X)
		y, both := durationOf(e.Y)
		switch {
		case !known || !both:
			return 0, false
		case e.Op == token.MUL:
			return x * y, true
		case e.Op == token.QUO && y != 0:
			return x / y, true
		case e.Op == token.ADD:
			return x + y, true
		}
	}
	return 0, false
}
