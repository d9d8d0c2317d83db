package ingest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/ingest"
)

func TestJSONLines(t *testing.T) {
	c := &clock{t: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)}
	var out bytes.Buffer
	p := ingest.JSONLines(&out, c.now)
	p.Start("docs")
	for i := range 30 { // three seconds, in steps of a tenth
		p.Progress("docs", i, 30)
		c.advance(100 * time.Millisecond)
	}
	p.Done(ingest.Report{
		Source: "docs", Result: catalog.Result{Created: 3}, Skipped: 1, Took: 3 * time.Second,
		Err:      errors.New("broken"),
		Problems: []ingest.Problem{{Locator: "a.md", Message: "bad", Skipped: true}},
	})
	want := `{"time":"2031-05-06T07:08:09Z","event":"start","source":"docs"}
{"time":"2031-05-06T07:08:10Z","event":"progress","source":"docs","done":10,"total":30}
{"time":"2031-05-06T07:08:11Z","event":"progress","source":"docs","done":20,"total":30}
{"time":"2031-05-06T07:08:12Z","event":"done","source":"docs","created":3,"updated":0,"unchanged":0,"foreign":0,"deleted":0,"skipped":1,"warned":0,"problems":[{"locator":"a.md","message":"bad","skipped":true}],"took_ms":3000,"error":"broken"}
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestBarsEndInAResultLine(t *testing.T) {
	var out bytes.Buffer
	p := ingest.Bars(&out)
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
		"docs             3 new, 0 changed, 0 unchanged, 0 removed, 1 skipped, 0 warnings  1s\n", "  skipped a.md: bad\n",
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
