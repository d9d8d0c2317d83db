package main

import (
	"strings"
	"testing"

	"almanac/embed/transformer"
	"almanac/testing/wait"
)

// TestAutoTakesOver starts an empty directory with the model that is the default: the
// table answers first, then the transformer, in every process on the directory and after
// a restart at once.
func TestAutoTakesOver(t *testing.T) {
	t.Parallel()
	if !transformer.Fast() {
		t.Skip("this processor is too slow for the transformer")
	}
	at := newSite(t, 24, "ALMANAC_EMBED_MODEL=auto")
	s := at.serve(t)
	if got := s.await(t, "the built-in table serves until the index of the other model is complete").Model; got == "" {
		t.Error("the log does not name the model that answers first")
	}
	s.ready(t)
	if got := s.await(t, "another model serves").Model; got != transformer.Model {
		t.Errorf("the model is %s", got)
	}
	if !s.finds(t, 5) || s.model(t) != transformer.Model {
		t.Errorf("it does not find page 5, or by the model %s", s.model(t))
	}
	if got := at.run(t, "doctor"); !strings.Contains(got, "model "+transformer.Model) ||
		strings.Contains(got, "another model") {
		t.Errorf("doctor says\n%s", got)
	}
	s.stop(t)
	s = at.serve(t)
	s.ready(t)
	if got := s.model(t); got != transformer.Model {
		t.Errorf("after a restart the model is %s", got)
	}
	wait.Until(t, "the table's index is gone", func() bool { return len(at.snapshots(t)) == 2 })
}

// TestAutoStaysWithTheTable runs as on a processor without the instructions that the
// transformer needs, and wants that said in the log once, on the page and by doctor.
func TestAutoStaysWithTheTable(t *testing.T) {
	t.Parallel()
	at := newSite(t, 24, "ALMANAC_EMBED_MODEL=auto", "GODEBUG=cpu.all=off")
	s := at.serve(t)
	s.ready(t)
	const why = "embed.model auto stays with the table"
	status := getJSON[struct {
		Index struct{ Model, Remark string }
	}](t, s, "/status").Index
	if !strings.HasPrefix(status.Model, "static") || !strings.Contains(status.Remark, why) {
		t.Errorf("status %+v", status)
	}
	if _, _, page := s.get(t, "/status", "Accept", "text/html"); !strings.Contains(page, why) {
		t.Error("the page does not say why")
	}
	if got := at.run(t, "doctor"); strings.Count(got, why) != 1 {
		t.Errorf("doctor says\n%s", got)
	}
	wait.Until(t, "the index is durable", func() bool { return len(at.snapshots(t)) == 2 })
	s.stop(t)
	if n := strings.Count(s.log.String(), why); n != 1 {
		t.Errorf("the log says %d times why", n)
	}
}
