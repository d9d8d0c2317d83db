package memory

import (
	"encoding/json"
	"fmt"
)

// inline is the size in bytes up to which a state is its own place.
const inline = 4 << 10

// Put stores a state and returns its place: a small one's is its JSON, another's
// the name of a file. The file of the place before is kept, because the new place
// may never be stored.
func (f Files) Put(state any, before string) (place string, err error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return "", fmt.Errorf("remember what was seen: %w", err)
	}
	if len(raw) <= inline {
		return string(raw), nil
	}
	return f.Remember(json.RawMessage(raw), before)
}

// Get reads the state at a place and reports whether it is there and intact. It
// may modify the state even if not.
func (f Files) Get(place string, state any) bool {
	return f.Recall(place, state) || json.Unmarshal([]byte(place), state) == nil
}
