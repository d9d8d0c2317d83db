package index

import (
	"testing"
	"time"
)

// TestPace follows a log that grows all the time: being some changes behind for ever is to be
// as old as the oldest of them, and not to look at all is to be behind.
func TestPace(t *testing.T) {
	var p pace
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	at := func(second int) time.Time { return begin.Add(time.Duration(second) * time.Second) }
	if d := p.behind(at(0)); d != 0 {
		t.Errorf("before the first look %v", d)
	}
	for _, look := range []struct {
		second         int
		position, head int64
		behind         int // seconds, right after
	}{
		{0, 0, 100, 0}, // the first look
		{10, 50, 110, 10},
		{20, 109, 120, 20}, // all of 0 is taken, and not what was seen at 10
		{30, 118, 130, 20},
		{40, 120, 140, 20},
		{50, 150, 150, 0},
	} {
		p.look(look.position, look.head, at(look.second))
		if d := p.behind(at(look.second)); d != time.Duration(look.behind)*time.Second {
			t.Errorf("at %d s it is %v behind, want %d s", look.second, d, look.behind)
		}
	}
	if d := p.behind(at(120)); d != 70*time.Second {
		t.Errorf("when it does not look any more it is %v behind", d)
	}
}
