// Command bench compares the embedded keyword engine with bleve and SQLite's
// FTS5 on the same passages and queries, analysed once and for all by almanac's
// analyzer, and prints a table. It is a separate module, so that the other
// engines are not dependencies of almanac.
//
//	go run . [-k 10] [-words 180]
//
// It reads the judged collections of ../shared (or $ALMANAC_SHARED).
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// subject is an engine under comparison.
type subject interface {
	name() string
	index(passages [][]string) error
	// search returns the numbers of the best k passages.
	search(terms []string, k int) ([]int, error)
	close() error
}

func main() {
	k := flag.Int("k", 10, "hits of a query")
	words := flag.Int("words", 180, "words of a passage")
	flag.Parse()
	if err := run(*k, *words); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// result holds the measurements of one engine.
type result struct {
	name          string
	build         time.Duration
	p50, p99, max time.Duration
	top           [][]int
}

func run(k, words int) error {
	// One core each: the engines differ in what they do in the background.
	runtime.GOMAXPROCS(1)
	c, err := load(words)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Println("nothing is measured:", err)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d passages, %d queries, k %d, one core\n\n", len(c.passages), len(c.queries), k)
	dir, err := os.MkdirTemp("", "keyword-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var results []result
	for _, s := range []subject{&embeddedSubject{}, &bleveSubject{dir: dir + "/bleve"},
		&ftsSubject{path: dir + "/fts.db"}} {
		r, err := measure(s, c, k)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name(), err)
		}
		results = append(results, r)
	}
	return report(results)
}

func measure(s subject, c *collection, k int) (result, error) {
	r := result{name: s.name()}
	defer s.close()
	start := time.Now()
	if err := s.index(c.passages); err != nil {
		return r, err
	}
	r.build = time.Since(start)
	runtime.GC()
	var times []time.Duration
	for round := range 2 { // the first warms up
		times = times[:0]
		for _, q := range c.queries {
			start := time.Now()
			hits, err := s.search(q, k)
			times = append(times, time.Since(start))
			if err != nil {
				return r, err
			}
			if round == 0 {
				r.top = append(r.top, hits)
			}
		}
	}
	slices.Sort(times)
	r.p50, r.p99, r.max = times[len(times)/2], times[len(times)*99/100], times[len(times)-1]
	return r, nil
}

// report prints the figures, each with its ratio to the first engine's.
func report(results []result) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "engine\tp50\t×\tp99\t×\tmax\tbuild\t×\tsame top\t")
	base := results[0]
	ratio := func(a, b time.Duration) string { return fmt.Sprintf("%.1f", float64(a)/float64(max(b, 1))) }
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%v\t%s\t%v\t%s\t%v\t%v\t%s\t%.2f\t\n", r.name, r.p50.Round(time.Microsecond),
			ratio(r.p50, base.p50),
			r.p99.Round(time.Microsecond), ratio(r.p99, base.p99), r.max.Round(time.Microsecond),
			r.build.Round(time.Millisecond), ratio(r.build, base.build), overlap(base.top, r.top))
	}
	return w.Flush()
}

// overlap returns the mean share of the first's hits that the second has too.
func overlap(a, b [][]int) float64 {
	sum, n := 0.0, 0
	for i := range a {
		if len(a[i]) == 0 {
			continue
		}
		same := 0
		for _, hit := range a[i] {
			if slices.Contains(b[i], hit) {
				same++
			}
		}
		sum += float64(same) / float64(len(a[i]))
		n++
	}
	return sum / float64(max(n, 1))
}
