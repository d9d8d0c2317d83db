package proposal

import "testing"

func TestHeadingsInCodeStay(t *testing.T) {
	text := "Lamps\n=====\n\nShown::\n\n   ```\n   # a\n   ```\n   # b\n\nOil\n===\n\nText.\n"
	want := "## Lamps\n\nShown:\n\n````\n```\n# a\n```\n# b\n````\n\n## Oil\n\nText."
	if got := asMarkdown("lip-0001.rst", text); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
