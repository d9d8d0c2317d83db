package mcp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/api/op"
)

// toolset holds all tools, in the order of the operations.
type toolset struct {
	all    []tool
	byName map[string]tool
	groups []string

	mu    sync.Mutex
	lists map[listKey]json.RawMessage // guarded by mu
}

type tool struct {
	op        op.Operation
	described *sdk.Tool // without its output schema
}

// view is what one client sees: groups nil = all but extra tools.
type view struct {
	groups  []string // sorted, each once
	schemas bool
}

// listKey is a view as a map's key.
type listKey struct {
	groups  string
	schemas bool
}

func newToolset(ops []op.Operation) (*toolset, error) {
	ts := &toolset{byName: map[string]tool{}, lists: map[listKey]json.RawMessage{}}
	for _, o := range ops {
		if o.Tool == "" {
			continue
		}
		if _, ok := ts.byName[o.Tool]; ok {
			return nil, fmt.Errorf("two tools are named %s", o.Tool)
		}
		if o.Out.Type != "object" {
			return nil, fmt.Errorf("the answer of tool %s is not an object", o.Tool)
		}
		t := tool{op: o, described: describe(o)}
		ts.all, ts.byName[o.Tool] = append(ts.all, t), t
		if !slices.Contains(ts.groups, o.Group) {
			ts.groups = append(ts.groups, o.Group)
		}
	}
	return ts, nil
}

func describe(o op.Operation) *sdk.Tool {
	return &sdk.Tool{
		Name:        o.Tool,
		Title:       o.Title,
		Description: o.Text(),
		InputSchema: o.ToolIn,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    !o.Effects.Writes,
			DestructiveHint: new(o.Effects.Writes),
			IdempotentHint:  !o.Effects.NotIdempotent,
			OpenWorldHint:   new(o.Effects.OpenWorld),
		},
	}
}

// view reads ?toolsets=cips,search&schemas=1.
func (ts *toolset) view(query string) (view, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return view{}, op.Invalid("the query string is malformed")
	}
	var v view
	switch s := q.Get("schemas"); strings.ToLower(s) {
	case "", "0", "false":
	case "1", "true":
		v.schemas = true
	default:
		return v, op.Invalid("schemas must be one of 0, 1, true, false")
	}
	for name := range strings.SplitSeq(strings.Join(q["toolsets"], ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		if !slices.Contains(ts.groups, name) {
			return v, op.Invalid("toolsets must be some of %s", strings.Join(ts.groups, ", "))
		}
		v.groups = append(v.groups, name)
	}
	slices.Sort(v.groups)
	v.groups = slices.Compact(v.groups)
	return v, nil
}

func (v view) has(o op.Operation) bool {
	if v.groups == nil {
		return !o.Extra
	}
	return slices.Contains(v.groups, o.Group)
}

// maxLists bounds the memory of cached lists: clients may request any subset of
// the groups.
const maxLists = 64

// list returns the JSON array of a view's tools. It is cached, as encoding the
// tools takes longer than the rest of a tools/list.
func (ts *toolset) list(v view) (json.RawMessage, error) {
	key := listKey{strings.Join(v.groups, ","), v.schemas}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if raw, ok := ts.lists[key]; ok {
		return raw, nil
	}
	tools := []*sdk.Tool{}
	for _, t := range ts.all {
		if !v.has(t.op) {
			continue
		}
		d := t.described
		if v.schemas {
			with := *d
			with.OutputSchema = t.op.ToolOut
			d = &with
		}
		tools = append(tools, d)
	}
	raw, err := op.Encode(tools)
	if err != nil {
		return nil, err
	}
	if len(ts.lists) >= maxLists {
		clear(ts.lists)
	}
	ts.lists[key] = raw
	return raw, nil
}

// toolList is the result of tools/list around an encoded array.
type toolList struct {
	*sdk.ListToolsResult // of this request: the SDK writes into it
	tools                json.RawMessage
}

// MarshalJSON inserts the array.
func (l toolList) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(l.ListToolsResult) // with no tools
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(head, &members); err != nil {
		return nil, err
	}
	members["tools"] = l.tools
	return json.Marshal(members)
}
