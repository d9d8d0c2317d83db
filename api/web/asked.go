package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"almanac/api/cips"
	"almanac/api/community"
	"almanac/api/kb"
	"almanac/api/library"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/search"
)

// ask is an operation with its arguments in words: name=value, where {value} is
// replaced by a part of the address or by what the record of the page is called;
// name? passes a query parameter on if it is given, name=other? one of another name.
type ask struct {
	op, args string
	optional bool // without its answer the page says less
	counted  bool // only how much it has is said, so it is not what the page is the same as
}

// question is an ask, compiled.
type question struct {
	op       op.Operation
	args     []argument
	optional bool
	counted  bool
}

type argument struct {
	name   string
	value  string // with {names} of what is known
	passed string // the query parameter that is the value; "" = value is
}

// question reads the words of an ask. Its error says which operation, argument, value
// or name there is not; known are the names that {} may hold.
func (h *Handler) question(a ask, known ...string) (q question, err error) {
	o, ok := h.ops[a.op]
	if !ok {
		return q, fmt.Errorf("there is no operation %s", a.op)
	}
	q.op, q.optional, q.counted = o, a.optional, a.counted
	given := map[string]bool{}
	for word := range strings.FieldsSeq(a.args) {
		word, passed := strings.CutSuffix(word, "?")
		name, value, _ := strings.Cut(word, "=")
		check, err := o.Argument(name)
		if err != nil {
			return q, fmt.Errorf("%s: %w", a.op, err)
		}
		given[name] = true
		if passed {
			q.args = append(q.args, argument{name: name, passed: cmp.Or(value, name)})
			continue
		}
		q.args = append(q.args, argument{name: name, value: value})
		rest := value
		for _, name := range known {
			rest = strings.ReplaceAll(rest, "{"+name+"}", "")
		}
		if strings.Contains(rest, "{") {
			return q, fmt.Errorf("%s: %s: what can be named here is %v", a.op, word, known)
		}
		if rest != value { // its value comes with the request
			continue
		}
		if err := check(value); err != nil {
			return q, fmt.Errorf("%s: %w", a.op, err)
		}
	}
	for _, p := range o.Params {
		if p.Required && !given[p.Name] && !given[p.ToolName] {
			return q, fmt.Errorf("%s: %s is required", a.op, p.Name)
		}
	}
	return q, nil
}

// reads is a question whose answer Go code reads.
type reads[T any] struct{ question }

// answers returns an error if a question is not answered with a type.
func answers[T any](q question) error {
	if op.Gives[T](q.op) {
		return nil
	}
	return fmt.Errorf("%s does not answer with a %T", q.op.ID, *new(T))
}

// fillIn fills in a question.
func fillIn[T any](h *Handler, q *reads[T], a ask, known ...string) (err error) {
	if q.question, err = h.question(a, known...); err != nil {
		return err
	}
	return answers[T](q.question)
}

func (q reads[T]) ask(ctx context.Context, vars map[string]string, query url.Values) (T, asked, error) {
	got, err := q.question.ask(ctx, vars, query)
	answer, _ := got.answer.(T)
	return answer, got, err
}

// asked is a question with its arguments and its answer.
type asked struct {
	op      op.Operation
	in      op.Input
	answer  any
	counted bool
}

// ask asks a question.
func (q question) ask(ctx context.Context, vars map[string]string, query url.Values) (asked, error) {
	var names []string
	for name, value := range vars {
		names = append(names, "{"+name+"}", value)
	}
	named := strings.NewReplacer(names...)
	values := map[string]string{}
	for _, a := range q.args {
		if a.passed == "" {
			values[a.name] = named.Replace(a.value)
		} else if v := query.Get(a.passed); v != "" {
			values[a.name] = v
		}
	}
	in, err := q.op.DecodeNamed(values)
	if err != nil {
		return asked{}, err
	}
	answer, err := q.op.Run(ctx, in)
	return asked{q.op, in, answer, q.counted}, err
}

// questions are those that Go code asks beside the table of pages.
type questions struct {
	search, counts, suggested, newest reads[search.Answer]
	popular                           reads[meta.Searches]
	proposal                          reads[cips.Full]
	changes, ever                     reads[community.ActivityStream]
	sources                           reads[meta.SourcesResponse]
	records                           reads[kb.List[library.Row]]
}

func (h *Handler) questions() (q questions, err error) {
	err = errors.Join(
		fillIn(h, &q.search, ask{op: "search", args: "q? type? kind? source? since? until? sort? offset? typing? " +
			"facets=true highlight=true limit=" + strconv.Itoa(hitsOnPage)}),
		fillIn(h, &q.counts, ask{op: "search", args: "facets=true limit=1 q? source? since? until? typing?"}),
		fillIn(h, &q.suggested, ask{op: "search", args: "typing=true highlight=true q? limit=" +
			strconv.Itoa(suggested)}),
		fillIn(h, &q.newest, ask{op: "search", args: "sort=date limit=30 q? type? kind? source? since? until?"}),
		fillIn(h, &q.popular, popular),
		fillIn(h, &q.proposal, ask{op: "get_cip", args: "id={q}"}, "q"),
		fillIn(h, &q.changes, ask{op: "get_recent_changes", args: "days=30 limit=60"}),
		fillIn(h, &q.ever, ask{op: "get_recent_changes", args: "since=1970-01-01 limit={limit}"}, "limit"),
		fillIn(h, &q.sources, ask{op: "list_sources"}),
		fillIn(h, &q.records, ask{op: "list_records", args: "kind={kind} order=key limit=100 offset={offset}"},
			"kind", "offset"),
	)
	return q, err
}

// Same is how to get an answer by other means.
type Same struct {
	Name, Summary    string
	REST, Line, Call string // "" = not served there
}

// same writes what a page asked for the other interfaces.
func (h *Handler) same(all []asked) (out []Same) {
	for _, a := range all {
		if a.counted {
			continue
		}
		s := Same{Name: cmp.Or(a.op.Tool, a.op.ID), Summary: a.op.Summary}
		if a.op.Path != "" {
			target, _ := a.op.Target(a.in)
			s.REST = op.Shell("curl", h.cfg.PublicURL+target)
		}
		s.Line = op.Shell(append([]string{"almanac", "tools", "call", s.Name}, a.op.Line(a.in)...)...)
		if a.op.Tool != "" {
			s.Call = fmt.Sprintf(`{"name": %q, "arguments": %s}`, a.op.Tool, a.op.Call(a.in))
		}
		out = append(out, s)
	}
	return out
}
