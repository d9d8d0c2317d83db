package eval

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// WriteRun writes the rankings of a report as a TREC run: query, Q0, document,
// rank from 1, score, tag. Other tools order by the score alone, some of them
// in single precision, so equal scores are made to differ in their last digit.
// An id with white space, which the format cannot represent, is an error.
func WriteRun(w io.Writer, r Report, tag string) error {
	out := bufio.NewWriter(w)
	for _, x := range r.PerQuery {
		var last float32
		for i, id := range x.Ranking {
			for _, name := range []string{x.Query.ID, id} {
				if strings.ContainsFunc(name, unicode.IsSpace) {
					return fmt.Errorf("eval: a TREC run cannot hold %q: it has white space", name)
				}
			}
			score := float32(x.Scores[i])
			if i > 0 && score >= last {
				score = math.Nextafter32(last, float32(math.Inf(-1)))
			}
			last = score
			fmt.Fprintf(out, "%s Q0 %s %d %s %s\n", x.Query.ID, id, i+1,
				strconv.FormatFloat(float64(score), 'g', -1, 32), tag)
		}
	}
	return out.Flush()
}

// RunPaths returns the file of each report's run: the given one, with collection
// and profile before its extension if there are several.
func RunPaths(file string, reports []Report) []string {
	paths := make([]string, len(reports))
	ext := filepath.Ext(file)
	for i, r := range reports {
		paths[i] = strings.TrimSuffix(file, ext)
		if slices.ContainsFunc(reports, func(x Report) bool { return x.Collection != r.Collection }) {
			paths[i] += "-" + r.Collection
		}
		if slices.ContainsFunc(reports, func(x Report) bool { return x.Profile != r.Profile }) {
			base := filepath.Base(r.Profile) // a profile may be a file
			paths[i] += "-" + strings.Join(strings.Fields(strings.TrimSuffix(base, filepath.Ext(base))), "-")
		}
		paths[i] += ext
	}
	return paths
}

// ReadRun reads a TREC run as document ids by query, best first: by score,
// then by rank, then by id.
func ReadRun(path string) (map[string][]string, error) { return read(openFile, path, parseRun) }

type runLine struct {
	id    string
	rank  int
	score float64
}

func parseRun(r io.Reader, name string) (map[string][]string, error) {
	lines := map[string][]runLine{}
	err := eachLine(r, name, func(_ int, line string) error {
		fields := columns(line)
		if len(fields) != 6 || fields[0] == "" || fields[2] == "" {
			return fmt.Errorf("want the columns query, Q0, document, rank, score, tag")
		}
		rank, err := strconv.Atoi(fields[3])
		if err != nil {
			return fmt.Errorf("rank %q is not an integer", fields[3])
		}
		score, err := strconv.ParseFloat(fields[4], 64)
		if err != nil || math.IsNaN(score) {
			return fmt.Errorf("score %q is not a number", fields[4])
		}
		lines[fields[0]] = append(lines[fields[0]], runLine{fields[2], rank, score})
		return nil
	})
	if err != nil {
		return nil, err
	}
	rankings := make(map[string][]string, len(lines))
	for query, of := range lines {
		slices.SortFunc(of, func(a, b runLine) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
		})
		seen := map[string]bool{}
		for _, l := range of {
			if !seen[l.id] {
				seen[l.id] = true
				rankings[query] = append(rankings[query], l.id)
			}
		}
	}
	return rankings, nil
}
