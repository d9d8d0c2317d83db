package qdrant

import (
	"maps"
	"slices"
	"testing"

	"almanac/testing/qdranttest"
)

// standIn is a server with the faults and looks that the tests here need.
type standIn struct{ *qdranttest.Server }

func startStandIn(t *testing.T) standIn {
	t.Helper()
	return standIn{qdranttest.Start(t)}
}

// failOn makes calls of a method fail.
func (s standIn) failOn(method string, err error) {
	s.Fault(func(m string, _ any) error {
		if m == method {
			return err
		}
		return nil
	})
}

func (s standIn) heal() { s.Fault(nil) }

// ids returns the points of a collection without the checkpoint's, ascending.
func (s standIn) ids(collection string) (ids []uint64) {
	s.Change(func(state qdranttest.State) {
		if c := state.Collections[collection]; c != nil {
			ids = slices.DeleteFunc(slices.Sorted(maps.Keys(c.Points)),
				func(id uint64) bool { return id == checkpointID })
		}
	})
	return ids
}

func (s standIn) names() (names []string) {
	s.Change(func(state qdranttest.State) { names = slices.Sorted(maps.Keys(state.Collections)) })
	return names
}

func (s standIn) aliases() (aliases map[string]string) {
	s.Change(func(state qdranttest.State) { aliases = maps.Clone(state.Aliases) })
	return aliases
}

// collection changes what the server holds of a collection.
func (s standIn) collection(name string, change func(*qdranttest.Collection)) {
	s.Change(func(state qdranttest.State) { change(state.Collections[name]) })
}
