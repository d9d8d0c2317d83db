// Package trace records how a search went, for those who ask: the time of each stage,
// and numbers with what they are made of. It holds the only clock of a search.
package trace

import (
	"fmt"
	"strings"
	"time"
)

// Trace is the times of one search.
type Trace struct {
	Timings map[string]time.Duration // by stage

	now         func() time.Time
	begun, last time.Time
}

// New begins a trace by a clock.
func New(now func() time.Time) *Trace {
	t := now()
	return &Trace{Timings: map[string]time.Duration{}, now: now, begun: t, last: t}
}

// Begun returns when the search began.
func (t *Trace) Begun() time.Time { return t.begun }

// End records the time of a stage, which began when the one before it ended.
func (t *Trace) End(stage string) {
	now := t.now()
	t.Timings[stage] += now.Sub(t.last)
	t.last = now
}

// Since returns the time since the last stage ended. It may be called concurrently.
func (t *Trace) Since() time.Duration { return t.now().Sub(t.last) }

// Took returns the time from the beginning to the end of the last stage.
func (t *Trace) Took() time.Duration { return t.last.Sub(t.begun) }

// Node is a number with what it is made of: the values of its parts add up to
// its own, unless Formula says how it follows from them.
type Node struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Formula string  `json:"formula,omitempty"`
	Parts   []Node  `json:"parts,omitempty"`
}

// Tree writes the node as a line and its parts below it, indented by so many
// spaces.
func (n Node) Tree(indent int) string {
	pad := strings.Repeat(" ", indent)
	line := fmt.Sprintf("%s%-*s %9.4f  %s", pad, max(1, 28-indent), n.Name, n.Value, n.Formula)
	lines := strings.TrimRight(line, " ") + "\n"
	for _, part := range n.Parts {
		lines += part.Tree(indent + 2)
	}
	return lines
}
