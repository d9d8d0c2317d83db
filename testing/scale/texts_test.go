package scale

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const page = "# Keys\n\nAn operator rotates the keys of a validator once a quarter, and again after a leak is known " +
	"to have happened.\n\n```\nopenssl rand -hex 32 and so on until it is long enough to be taken for a paragraph of " +
	"text\n```\n\n" +
	"Offline\n-------\n\nKeys that are kept offline need a quorum of three operators before they can be used to sign " +
	"a proposal.\n\nshort\n"

func texts(t *testing.T) *Texts {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.md"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := ReadTexts(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTextsAreHeadingsAndParagraphs(t *testing.T) {
	f := texts(t).files[0]
	if want := []string{"Keys", "Offline"}; !reflect.DeepEqual(f.headings, want) {
		t.Errorf("headings %q, want %q", f.headings, want)
	}
	if len(f.paragraphs) != 2 || f.paragraphs[0][0] != "An" || f.paragraphs[1][0] != "Keys" {
		t.Errorf("paragraphs %q", f.paragraphs)
	}
	if _, err := ReadTexts(filepath.Join(t.TempDir(), "none")); !errors.Is(err, ErrNoTexts) {
		t.Errorf("a directory that is not there: %v", err)
	}
}

func TestRecordsAreTheSameEachTime(t *testing.T) {
	all := texts(t)
	a, b, other := all.Record(7, 0), all.Record(7, 0), all.Record(8, 0)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same record differs")
	}
	if a.Record.Body == other.Record.Body || a.Record.Key == other.Record.Key {
		t.Error("two records are the same")
	}
	edited := all.Record(7, 1).Record
	if edited.Key != a.Record.Key || !strings.HasSuffix(edited.Body, a.Record.Body) || edited.Body == a.Record.Body {
		t.Error("an edition is not the record with a few other words")
	}
}
