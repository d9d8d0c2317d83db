package mail_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/mail"
	"almanac/testing/connectortest"
	"almanac/text/options"
)

// BenchmarkGigabyte syncs a generated mbox of 1 GiB into a catalog, and syncs
// it again after one more message. It reports for each sync how far the memory of the
// process grew above what it was before.
func BenchmarkGigabyte(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		file := filepath.Join(dir, "large.mbox")
		messages := generate(b, file, 1<<30)
		store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(dir, "catalog.db")})
		if err != nil {
			b.Fatal(err)
		}
		n := connectortest.Causeway
		n.Sources = []network.Source{{Name: "mail", Kind: "mail",
			Options: options.Of(map[string]any{"groups": []any{map[string]any{"name": "large"}}, "files": file})}}
		now := func() time.Time { return connectortest.Now }
		p := ingest.New(ingest.Config{Store: store, Network: n, Now: now, WorkDir: dir,
			Connectors: ingest.Kinds(mail.Kind)})
		debug.FreeOSMemory()
		idle := resident(b)
		sync := func(name string, created int) {
			start, peak := time.Now(), watch(b)
			reports, err := p.Sync(b.Context(), nil)
			if err != nil || reports[0].Created != created || reports[0].Skipped > 0 {
				b.Fatalf("%s: %d created, want %d, problems %v: %v", name, reports[0].Created, created,
					reports[0].Problems, err)
			}
			b.ReportMetric(time.Since(start).Seconds(), name+"-s")
			b.ReportMetric(float64(peak()-idle)/(1<<20), name+"-MB-above-idle")
		}
		sync("first", messages+(messages+threadLength-1)/threadLength)
		appendTo(b, file, "From x Mon May  5 10:00:00 2031\nFrom: Ada <ada@foghorn.example>\nSubject: One "+
			"more\nDate: Mon, 5 May 2031 10:00:00 +0000\nMessage-ID: <one@more.example>\n\nText.\n\n")
		sync("second", 2)
		b.ReportMetric(float64(messages), "messages")
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

const threadLength = 6

// generate writes an mbox of at least so many bytes: texts of some kilobytes,
// every fortieth message with a file of 200 kB.
func generate(b *testing.B, file string, size int64) (messages int) {
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(
		"anchor buoy causeway draught ebb ferry gauge harbour inlet jetty keel lantern mooring notice outflow pier " +
			"quay reef sluice tide")
	line := func() string {
		var s strings.Builder
		for s.Len() < 70 {
			s.WriteString(words[random.IntN(len(words))] + " ")
		}
		return s.String() + "\n"
	}
	start := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)
	for written := int64(0); written < size; messages++ {
		at := start.Add(time.Duration(messages) * time.Minute)
		root := messages - messages%threadLength
		var s strings.Builder
		fmt.Fprintf(
			&s, "From x %s\nFrom: Keeper %d <k%d@foghorn.example>\nSubject: Notice %d\nDate: %s\nMessage-ID: "+
				"<n%d@foghorn.example>\n", at.Format(time.ANSIC), messages%500, messages%500, root,
			at.Format(time.RFC1123Z), messages)
		if messages > root {
			fmt.Fprintf(&s, "References: <n%d@foghorn.example>\n", root)
		}
		s.WriteString(
			"Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n")
		for range 20 + random.IntN(60) {
			s.WriteString(line())
		}
		if messages%40 == 0 {
			s.WriteString(
				"\n--b\nContent-Type: application/pdf; name=notice.pdf\nContent-Transfer-Encoding: base64\n\n" +
					strings.Repeat(strings.Repeat("QUJD", 19)+"\n", 2600))
		}
		s.WriteString("\n--b--\n\n")
		written += int64(s.Len())
		if _, err := w.WriteString(s.String()); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return messages
}

func appendTo(b *testing.B, file, text string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
}

// watch looks at the resident memory of the process until the function it
// returns is called, which says how many bytes it had at most.
func watch(b *testing.B) (peak func() int64) {
	most, done, ended := int64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, resident(b))
			}
		}
	}()
	return func() int64 {
		close(done)
		<-ended
		return most
	}
}

func resident(b *testing.B) int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("the memory of the process can only be read on Linux")
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		b.Error(err)
	}
	return pages * int64(os.Getpagesize())
}
