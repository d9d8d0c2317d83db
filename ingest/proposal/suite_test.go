package proposal_test

import (
	"maps"
	"testing"

	"almanac/ingest/proposal"
	"almanac/testing/connectortest"
	"almanac/testing/gitrepotest"
)

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		repo := gitrepotest.New(t)
		repo.Commit("Begin", map[string]string{
			"cwp-0001/cwp-0001.md": text("0001", "Lamps", "Draft"), "cwp-0002/cwp-0002.md": text("0002", "Ropes", "Final")})
		server := connectortest.NewServer(t, repo.Handler())
		options := map[string]any{"repository": server.URL + "/harbour/handbook.git"}
		return connectortest.Upstream{
			Config: connectortest.Config{Kind: proposal.Kind, Options: options}, Server: server,
			Change: func() {
				repo.Commit("Lamps", map[string]string{"cwp-0001/cwp-0001.md": text("0001", "Lamps at dusk", "Draft")})
			},
			Drop: func(s *connectortest.Source) {
				s.Options = maps.Clone(options)
				s.Options["exclude"] = []string{"**/_template.md"}
				repo.Commit("No ropes", map[string]string{"cwp-0002/cwp-0002.md": gitrepotest.Gone})
			}}
	})
}
