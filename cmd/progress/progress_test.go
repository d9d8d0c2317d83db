package progress_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"almanac/cmd/progress"
)

// TestALineEveryTenSeconds counts to 300 in 30 seconds where nobody watches.
func TestALineEveryTenSeconds(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	task := progress.Lines(log, "index", func() time.Time { return now })
	for i := range 300 {
		task.Set(i, 300)
		now = now.Add(100 * time.Millisecond)
	}
	task.End()
	task.Set(300, 300)
	want := `level=INFO msg=progress task=index done=100 total=300 per_second=10 left=20s
level=INFO msg=progress task=index done=200 total=300 per_second=10 left=10s
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	out.Reset()
	unknown := progress.Lines(log, "mail", func() time.Time { return now })
	now = now.Add(10 * time.Second)
	unknown.Set(50, 0)
	if got := out.String(); got != "level=INFO msg=progress task=mail done=50 per_second=5\n" {
		t.Errorf("of unknown length: %s", got)
	}
}

// TestALineIsInPlaceOfABar: what is logged while a bar is shown is not behind it.
func TestALineIsInPlaceOfABar(t *testing.T) {
	var out bytes.Buffer
	screen := progress.NewScreen(&out)
	task := progress.Bar(screen, "docs")
	task.Set(5, 30)
	fmt.Fprintln(screen, "page.md is odd")
	task.Set(30, 30)
	task.End()
	fmt.Fprintln(screen, "docs: done")
	for i, want := range []string{"page.md is odd", "docs: done"} {
		line := strings.Split(out.String(), "\n")[i]
		if shown := line[strings.LastIndex(line, "\x1b[2K")+1:]; !strings.HasSuffix(shown, "[2K"+want) {
			t.Errorf("line %d ends in %q", i, shown)
		}
	}
}

func TestABarIsRemoved(t *testing.T) {
	var out bytes.Buffer
	task := progress.Bar(&out, "docs")
	task.Set(1, 0)
	task.Set(5, 30)
	task.Set(40, 30) // more than was announced
	task.End()
	task.End()
	drawn := out.Len()
	task.Set(6, 30)
	if out.Len() != drawn || !strings.Contains(out.String(), "docs") {
		t.Errorf("drawn %q", out.String())
	}
}
