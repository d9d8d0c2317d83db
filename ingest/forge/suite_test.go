package forge_test

import (
	"maps"
	"slices"
	"testing"

	"almanac/testing/connectortest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		h := newHub(t)
		server := serve(t, h)
		node := h.projects["causeway/node"]
		return connectortest.Upstream{Config: config(t, server.URL, nil), Server: server,
			Change: func() { h.change(func() { node.Releases[0]["body"] = "Gauges are read at dusk." }) },
			Drop: func(s *connectortest.Source) {
				s.Options = maps.Clone(s.Options)
				s.Options["bots"] = []string{"causeway-ci", "causeway-lint"}
				h.change(func() { node.Releases = slices.Delete(slices.Clone(node.Releases), 0, 1) })
			}}
	})
}

func TestSuiteOfProposals(t *testing.T) {
	t.Parallel()
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		h := newHub(t)
		server := serve(t, h)
		pulls := func(edit func([]object) []object) {
			h.change(func() { h.projects["causeway/proposals"].Pulls = edit(h.projects["causeway/proposals"].Pulls) })
		}
		return connectortest.Upstream{Config: drafts(t, server.URL, nil), Server: server,
			Change: func() {
				pulls(func(all []object) []object {
					open := slices.IndexFunc(all, func(p object) bool { return p["number"] == 4.0 })
					all[open]["labels"] = []object{{"name": "gauges"}}
					return all
				})
			},
			Drop: func(s *connectortest.Source) {
				s.Options = maps.Clone(s.Options)
				s.Options["bots"] = []string{"causeway-ci", "causeway-lint"}
				pulls(func(all []object) []object {
					return slices.DeleteFunc(slices.Clone(all), func(p object) bool { return p["number"] == 5.0 })
				})
			}}
	})
}
