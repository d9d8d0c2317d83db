package memory_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"almanac/ingest/memory"
)

// lamp is an item that is large enough to be remembered.
var lamp = bytes.Repeat([]byte("The lamp is lit at dusk.\n"), 4000)

func TestAnItemInHandWhenARunEndedIsNotTakenAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in-hand")
	take := func(program string, content []byte) (*memory.Hand, error) {
		h := memory.NewHand(dir, program)
		return h, h.Take(content)
	}
	if _, err := take("1", lamp); err != nil { // and its process ends
		t.Fatal(err)
	}
	for range 2 { // whatever else is read
		h, err := take("1", lamp)
		if !errors.Is(err, memory.ErrHeld) || !h.Held() {
			t.Fatalf("%v, held %t", err, h.Held())
		}
		h.Close()
	}
	for what, again := range map[string]struct {
		program string
		content []byte
	}{
		"another program":  {"2", lamp},
		"other content":    {"1", append(lamp[:len(lamp):len(lamp)], '.')},
		"a small one":      {"1", lamp[:1000]},
		"the other's rest": {"", append([]byte("1\x00"), lamp...)},
	} {
		h, err := take(again.program, again.content)
		if err != nil || h.Held() {
			t.Errorf("%s: %v", what, err)
		}
		h.Close()
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("%d marks are left of one item", len(left))
	}
}

func TestWhatIsDoneIsOutOfHand(t *testing.T) {
	other := append(lamp[:len(lamp):len(lamp)], "Or at dawn.\n"...)
	for what, done := range map[string]func(*memory.Hand){
		"put":          (*memory.Hand).Empty,
		"the next one": func(h *memory.Hand) { _, _ = h.Take(other), h.Take([]byte("small")) },
		"the end":      (*memory.Hand).Close,
		"an interruption before it is read": func(h *memory.Hand) {
			h.Close()
			_ = h.Take(other)
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			h := memory.NewHand(dir, "1")
			if err := h.Take(lamp); err != nil {
				t.Fatal(err)
			}
			if len(names(t, dir)) != 1 {
				t.Fatal("it is not remembered")
			}
			done(h)
			if left := names(t, dir); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}
