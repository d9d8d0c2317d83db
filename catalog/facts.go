package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Facts are what a source knows for certain of a record, whichever source owns
// it: what a forge's API says of a pull request, of which git alone shows the
// text. Stores lay the facts of other sources over what the owner says. If
// several sources state the same, the first by name is believed.
type Facts struct {
	State    string `json:"state,omitempty"`    // replaces the owner's unless empty
	Category string `json:"category,omitempty"` // likewise
	// LastActivityAt counts if it is later than the owner's.
	LastActivityAt time.Time `json:"last_activity_at,omitzero"`
	// Tags replace the owner's tags of the same names (see Tag). Marks, which
	// have no name, are added.
	Tags []string `json:"tags,omitempty"`
	// Data is a JSON merge patch (RFC 7396) of the owner's data: members replace
	// those of the same name, null removes one.
	Data json.RawMessage `json:"data,omitempty"`
}

// Over returns the record with the facts laid over it.
func (f Facts) Over(r Record) Record {
	if f.State != "" {
		r.State = f.State
	}
	if f.Category != "" {
		r.Category = f.Category
	}
	if f.LastActivityAt.After(r.LastActivityAt) {
		r.LastActivityAt = f.LastActivityAt
	}
	named := map[string]bool{}
	for _, tag := range f.Tags {
		if name, _, ok := strings.Cut(tag, ":"); ok {
			named[name] = true
		}
	}
	tags := slices.Clone(f.Tags)
	for _, tag := range r.Tags {
		if name, _, ok := strings.Cut(tag, ":"); !ok || !named[name] {
			tags = append(tags, tag)
		}
	}
	r.Tags = set(tags)
	if len(f.Data) > 0 {
		r.Data = mergePatch(r.Data, f.Data)
	}
	return r
}

// mergePatch applies a JSON merge patch (RFC 7396). Both texts must be valid
// JSON; the document may be empty.
func mergePatch(doc, patch json.RawMessage) json.RawMessage {
	changes, ok := members(patch)
	if !ok {
		return patch
	}
	object, ok := members(doc)
	if !ok {
		object = map[string]json.RawMessage{}
	}
	for name, value := range changes {
		if string(value) == "null" {
			delete(object, name)
			continue
		}
		object[name] = mergePatch(object[name], value)
	}
	merged, err := json.Marshal(object)
	if err != nil { // valid JSON always encodes
		panic(fmt.Sprintf("catalog: merge patch: %v", err))
	}
	return merged
}

// members returns the members of a JSON object; false if the text is none.
func members(text json.RawMessage) (map[string]json.RawMessage, bool) {
	var object map[string]json.RawMessage
	err := json.Unmarshal(text, &object)
	return object, err == nil && object != nil
}

// normalize returns the facts as stores keep them, nil if there are none.
func (f *Facts) normalize() (*Facts, error) {
	if f == nil {
		return nil, nil
	}
	n := Facts{State: Clean(f.State), Category: Clean(f.Category), LastActivityAt: CleanTime(f.LastActivityAt),
		Tags: set(f.Tags)}
	if len(f.Data) > 0 {
		var data bytes.Buffer
		if err := json.Compact(&data, []byte(strings.ToValidUTF8(string(f.Data), "\uFFFD"))); err != nil {
			return nil, fmt.Errorf("%w: data of facts: %w", ErrBadEntry, err)
		}
		if _, ok := members(data.Bytes()); !ok {
			return nil, fmt.Errorf("%w: data of facts: not a JSON object", ErrBadEntry)
		}
		n.Data = data.Bytes()
	}
	if n.State == "" && n.Category == "" && n.LastActivityAt.IsZero() && n.Tags == nil && n.Data == nil {
		return nil, nil
	}
	return &n, nil
}
