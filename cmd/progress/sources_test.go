package progress_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/cmd/progress"
	"almanac/ingest"
)

func TestBarsEndInAResultLine(t *testing.T) {
	var out bytes.Buffer
	p := progress.Bars(&out)
	p.Start("docs")
	p.Progress("docs", 1, 0)
	p.Progress("docs", 5, 30)
	p.Progress("docs", 30, 30)
	p.Progress("docs", 40, 30) // more than was announced
	p.Progress("never started", 1, 2)
	p.Done(ingest.Report{Source: "docs", Result: catalog.Result{Created: 3}, Skipped: 1, Took: time.Second,
		Problems: []ingest.Problem{{Locator: "a.md", Message: "bad", Skipped: true},
			{Locator: "b.md", Message: "odd"}}})
	p.Start("blog")
	p.Done(ingest.Report{Source: "blog", Err: errors.New("broken")})
	got := out.String()
	for _, want := range []string{
		"docs             3 new, 0 changed, 0 unchanged, 0 removed, 1 skipped, 0 warnings  1s\n",
		"  skipped a.md: bad\n",
		"blog             failed: broken\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if strings.Contains(got, "odd") {
		t.Errorf("warnings fill the terminal: %q", got)
	}
}
