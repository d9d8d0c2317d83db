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

// catalog is every tool, in the order of the operations.
type catalog struct {
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

// view is what one client sees: groups nil = all.
type view struct {
	groups  []string // sorted, each once
	schemas bool
}

// listKey is a view as a map's key.
type listKey struct {
	groups  string
	schemas bool
}

func newCatalog(ops []op.Operation) (*catalog, error) {
	c := &catalog{byName: map[string]tool{}, lists: map[listKey]json.RawMessage{}}
	for _, o := range ops {
		if o.Tool == "" {
			continue
		}
		if _, ok := c.byName[o.Tool]; ok {
			return nil, fmt.Errorf("two tools are named %s", o.Tool)
		}
		if o.Out.Type != "object" {
			return nil, fmt.Errorf("tool %s answers no object", o.Tool)
		}
		t := tool{op: o, described: describe(o)}
		c.all, c.byName[o.Tool] = append(c.all, t), t
		if !slices.Contains(c.groups, o.Group) {
			c.groups = append(c.groups, o.Group)
		}
	}
	return c, nil
}

func describe(o op.Operation) *sdk.Tool {
	return &sdk.Tool{
		Name:        o.Tool,
		Title:       o.Title,
		Description: o.Text(),
		InputSchema: o.ToolIn,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    true,
			DestructiveHint: new(false),
			IdempotentHint:  true,
			OpenWorldHint:   new(o.OpenWorld),
		},
	}
}

// view reads ?toolsets=cips,search&schemas=1.
func (c *catalog) view(query string) (view, error) {
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
		if !slices.Contains(c.groups, name) {
			return v, op.Invalid("toolsets must be some of %s", strings.Join(c.groups, ", "))
		}
		v.groups = append(v.groups, name)
	}
	slices.Sort(v.groups)
	v.groups = slices.Compact(v.groups)
	return v, nil
}

func (v view) has(o op.Operation) bool {
	return v.groups == nil || slices.Contains(v.groups, o.Group)
}

// maxLists bounds the memory of cached lists: every subset of nine groups is
// a view a client may ask for.
const maxLists = 64

// list is the JSON array of a view's tools. Encoding 86 tools takes longer
// than all the rest of a tools/list.
func (c *catalog) list(v view) (json.RawMessage, error) {
	key := listKey{strings.Join(v.groups, ","), v.schemas}
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw, ok := c.lists[key]; ok {
		return raw, nil
	}
	tools := []*sdk.Tool{}
	for _, t := range c.all {
		if !v.has(t.op) {
			continue
		}
		d := t.described
		if v.schemas {
			with := *d
			with.OutputSchema = t.op.Out
			d = &with
		}
		tools = append(tools, d)
	}
	raw, err := op.Encode(tools)
	if err != nil {
		return nil, err
	}
	if len(c.lists) >= maxLists {
		clear(c.lists)
	}
	c.lists[key] = raw
	return raw, nil
}

// toolList is the result of tools/list around an encoded array.
type toolList struct {
	*sdk.ListToolsResult // of this request: the SDK writes into it
	tools                json.RawMessage
}

// MarshalJSON puts the array in its place.
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
