package derive_test

import (
	"strings"
	"testing"

	"almanac/catalog/derive"
	"almanac/testing/editiontest"
)

func TestTLDREdition(t *testing.T) {
	var all []string
	for _, body := range []string{
		"", "# Title\n\n* [Text](/a.pdf)\n", strings.Repeat("word ", 100) + "end.",
		"A note stands here first.\n\n## Motivation\nBecause we can do it now.\n\n## Abstract\nThis adds a lighthouse to the " +
			"harbour. It is lit at dusk, e.g. at six. It costs 3.5 shells.\n",
		"# **1\\. Abstract**\n\nLanterns are lit at dusk by the keeper.\n\n# **2\\. Motivation**\n\nIt is dark outside.",
		"# Title\n\n| a | b |\n|---|---|\n| c | d |\n\nThe fleet reports its version daily.\n",
		"```\nRun these words in a shell.\n```sh\nRun these words, too.\n```\n\nThe fleet reports its version daily.\n",
		"## Abstract\n\nThe **dApp API** uses [`ledger-api`](http://x.example/a_(b)) and *signs* the `hash`[^1].",
		"<p>Keepers <b>sign</b> a tally &amp; send it.</p>\n\n> Nobody quotes this line.\n\n- An item of a list.\n",
	} {
		all = append(all, derive.TLDR(body))
	}
	editiontest.Check(t, all...)
}
