package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/webaddress"
)

// peers are the Scans of an environment, which are called and compared.
type peers struct {
	env         ingest.Environment
	out         ingest.Sink
	environment string
	scans       []scan // those that respond
	source      string // base of the first that responded
	last        error  // why the last one did not
	answered    map[scan]bool
	failures    map[scan]int // of those without a response so far
	skipped     map[string]bool
}

type scan struct{ base, name string }

func newPeers(env ingest.Environment, out ingest.Sink, environment string, bases []string) *peers {
	p := &peers{
		env: env, out: out, environment: environment,
		answered: map[scan]bool{}, failures: map[scan]int{}, skipped: map[string]bool{},
	}
	for _, base := range bases {
		p.scans = append(p.scans, scan{base, webaddress.Host(base)})
	}
	return p
}

// failed returns why no Scan responded.
func (p *peers) failed() error {
	if p.source != "" || p.last == nil {
		return nil
	}
	return fmt.Errorf("no Scan of %s responds: %w", p.environment, p.last)
}

// question is a request to a Scan.
type question struct {
	path string
	body any    // of a POST; nil for a GET
	what string // the subject, for people: "sequencers"
	// optional: not every version has it, and its absence is not reported.
	optional bool
}

// answer is the response of one Scan.
type answer[T any] struct {
	scan  scan
	value T
}

// errShape: a response does not match the API.
var errShape = errors.New("the response does not match the API")

const maxAnswer = 64 << 20 // bytes

// poll calls every Scan. It warns of responses that cannot be read.
func poll[T any](ctx context.Context, p *peers, q question, decode func(raw []byte) (T, error)) []answer[T] {
	var answers []answer[T]
	absent := false
	for _, s := range slices.Clone(p.scans) {
		v, err := ask(ctx, p, s, q, decode)
		switch {
		case err == nil:
			answers = append(answers, answer[T]{s, v})
		case lacksEndpoint(err):
			absent = true
		}
	}
	if absent && len(answers) == 0 {
		p.warnAbsent(q)
	}
	return answers
}

// warnAbsent warns that no Scan has the endpoint.
func (p *peers) warnAbsent(q question) {
	if path, _, _ := strings.Cut(q.path, "?"); !q.optional {
		p.out.Warn(p.environment+" "+path, "no data on "+q.what+": the Scans do not have the endpoint")
	}
}

// firstOf reads from one Scan after the other until one has a result.
func firstOf[T any](ctx context.Context, p *peers, q question, read func(s scan) (T, error)) (answer[T], bool) {
	absent := false
	for _, s := range slices.Clone(p.scans) {
		v, err := read(s)
		if err == nil {
			return answer[T]{s, v}, true
		}
		absent = absent || lacksEndpoint(err)
		if ctx.Err() != nil {
			break
		}
	}
	if absent {
		p.warnAbsent(q)
	}
	return answer[T]{}, false
}

// ask calls one Scan. It warns of every failure but absence, and drops a Scan
// that does not respond at all from its peers.
func ask[T any](ctx context.Context, p *peers, s scan, q question, decode func(raw []byte) (T, error)) (T, error) {
	var zero T
	if ctx.Err() != nil {
		return zero, ctx.Err()
	}
	if !slices.Contains(p.scans, s) {
		return zero, p.last // it was dropped meanwhile
	}
	r := outbound.Request{URL: s.base + q.path, Accept: []string{"application/json"}, MaxBody: maxAnswer}
	if q.body != nil {
		raw, err := json.Marshal(q.body)
		if err != nil {
			return zero, err
		}
		r.Method, r.Body, r.Header = http.MethodPost, raw, http.Header{"Content-Type": {"application/json"}}
	}
	answered, err := p.env.HTTP.Do(ctx, r)
	var v T
	if err == nil {
		if v, err = decode(answered.Body); err == nil {
			p.source = cmp.Or(p.source, s.base)
			p.answered[s] = true
			return v, nil
		}
		err = fmt.Errorf("%w: %w", errShape, err)
	}
	p.last = fmt.Errorf("%s: %w", s.name, err)
	switch {
	case lacksEndpoint(err) || ctx.Err() != nil:
		return zero, err
	case unreachable(err) || !p.answered[s] && p.failures[s] > 0: // no response twice is enough
		p.scans = slices.DeleteFunc(p.scans, func(other scan) bool { return other == s })
		p.out.Warn(p.environment+" "+s.name, "does not respond and is not used: "+err.Error())
	default:
		p.out.Warn(p.environment+" "+q.path, fmt.Sprintf("%s of %s cannot be read: %v", q.what, s.name, err))
	}
	p.failures[s]++
	return zero, err
}

// lacksEndpoint reports whether a version of the API lacks the endpoint.
func lacksEndpoint(err error) bool {
	return slices.Contains([]int{
		http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented,
	}, outbound.StatusOf(err))
}

// unreachable reports whether a Scan is down, and not only one of its endpoints.
func unreachable(err error) bool {
	heard := []error{errShape, outbound.ErrTooLarge, outbound.ErrTruncated, outbound.ErrContentType}
	return outbound.StatusOf(err) == 0 && !slices.ContainsFunc(heard, func(h error) bool { return errors.Is(err, h) })
}

// jsonText returns a value's JSON, by which values are compared.
func jsonText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("ledger: compared values are plain data: " + err.Error())
	}
	return string(raw)
}

// majority returns the value of most answers, in a tie the first's, or the zero
// value without answers. It warns of disagreement in the field.
func majority[T any](p *peers, field string, answers []answer[T]) T {
	v, agreed := most(answers)
	if !agreed {
		p.disagree(field, names(answers), "")
	}
	return v
}

func most[T any](answers []answer[T]) (value T, agreed bool) {
	count, best := map[string]int{}, ""
	for _, a := range answers {
		count[jsonText(a.value)]++
	}
	for _, a := range answers {
		if d := jsonText(a.value); count[d] > count[best] {
			value, best = a.value, d
		}
	}
	return value, len(count) <= 1
}

func names[T any](answers []answer[T]) (all []string) {
	for _, a := range answers {
		all = append(all, a.scan.name)
	}
	return all
}

func (p *peers) disagree(field string, scans []string, detail string) {
	p.out.Warn(p.environment+" "+field, fmt.Sprintf("the Scans %s disagree%s; the majority is used, or else the first",
		strings.Join(scans, ", "), detail))
}

// keyed is an item of a list.
type keyed[T any] struct {
	Key   string
	Value T
}

// merge makes one list from those of several Scans, in the order of the first:
// the items that most of them have, or half of them including the first. Settled
// means that no item was in exactly half. With whole false only items of the
// first count, because the lists are parts of longer ones.
func merge[T any](p *peers, field string, answers []answer[[]keyed[T]], whole bool) (items []keyed[T], settled bool) {
	versions := map[string][]answer[T]{}
	var order []string
	for i, a := range answers {
		seen := map[string]bool{}
		for _, item := range a.value {
			if seen[item.Key] || i > 0 && !whole && versions[item.Key] == nil {
				continue
			}
			seen[item.Key] = true
			if versions[item.Key] == nil {
				order = append(order, item.Key)
			}
			versions[item.Key] = append(versions[item.Key], answer[T]{a.scan, item.Value})
		}
	}
	settled = true
	var differ []string
	for _, key := range order {
		have := versions[key]
		value, agreed := most(have)
		if !agreed || whole && len(have) < len(answers) {
			differ = append(differ, key)
		}
		if whole && 2*len(have) == len(answers) {
			settled = false
		}
		if !whole || 2*len(have) > len(answers) || 2*len(have) == len(answers) && have[0].scan == answers[0].scan {
			items = append(items, keyed[T]{key, value})
		}
	}
	if len(differ) > 0 {
		p.disagree(field, names(answers), fmt.Sprintf(" in %d, such as %.80s", len(differ), differ[0]))
	}
	return items, settled
}

// skip reports a bad item once, however many Scans have it.
func (p *peers) skip(locator string, err error) {
	if !p.skipped[locator] {
		p.skipped[locator] = true
		p.out.Skip(locator, err)
	}
}

// object decodes a response.
func object[T any](raw []byte) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// list decodes the list in a field of a response, whose absence is an error, and
// the token of the next page.
func list(field string) func(raw []byte) (page, error) {
	return func(raw []byte) (page, error) {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return page{}, err
		}
		var p page
		if err := json.Unmarshal(all[field], &p.items); err != nil || p.items == nil {
			return page{}, fmt.Errorf("it has no list %q", field)
		}
		if next := all["next_page_token"]; next != nil {
			if err := json.Unmarshal(next, &p.next); err != nil {
				return page{}, fmt.Errorf("next_page_token: %w", err)
			}
		}
		return p, nil
	}
}

type page struct {
	items []json.RawMessage
	next  numeral // "" = no more
}
