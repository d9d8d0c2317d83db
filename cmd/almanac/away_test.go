package main

import (
	"fmt"
	"net/http"
	"testing"
)

// TestBothEnginesAway: while neither Meilisearch nor Qdrant answers, also when the
// program starts, searches are answered from memory and say so, changes are
// seen, and /ready stays 200.
func TestBothEnginesAway(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for what the program leaves alone for seconds")
	}
	t.Parallel()
	w := newWorld(t)
	defer w.report(t)
	answers := func() {
		t.Helper()
		for _, page := range []int{3, 6, 10} {
			if r := w.ask(t, only(page)); !r.has(page) || fmt.Sprint(r.Degraded) != "[keyword vector]" {
				t.Errorf("%s: the word of page %d finds %v, without %v", w.phase, page, r.Items, r.Degraded)
			}
		}
		if status, _, body := w.get(t, "/ready"); status != http.StatusOK {
			t.Errorf("%s: /ready answers %d %s", w.phase, status, body)
		}
	}
	w.in("both engines down")
	w.links["keyword"].Stop()
	w.links["vector"].Stop()
	answers()
	w.until(t, "it says what is down", func() bool { return len(w.down(t)) == 2 })
	answers()
	w.change(t)
	w.until(t, "the change is seen", func() bool { return w.sees(t) })

	w.in("both engines down at start")
	w.stop(t)
	w.begin(t)
	answers()

	w.in("both engines back")
	w.links["keyword"].up(t)
	w.links["vector"].up(t)
	w.recovers(t)
}
