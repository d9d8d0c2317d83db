package derive_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/derive"
)

func TestTLDR(t *testing.T) {
	long := strings.Repeat("word ", 100) + "end."
	for name, c := range map[string]struct{ body, want string }{
		"an empty text has none":        {"", ""},
		"a text without prose has none": {"# Title\n\n* [Text](/a.pdf)\n* [Vote](/b.pdf)\n", ""},
		"the abstract wins over first prose": {
			"Some note before everything else.\n\n## Motivation\nBecause we can do it now.\n\n## Abstract\nThis " +
				"proposal adds a lighthouse to the harbour.\n", "This proposal adds a lighthouse to the harbour."},
		"a numbered abstract is one": {
			"# **1\\. Abstract**\n\nLanterns are lit at dusk by the keeper.\n\n# **2\\. Motivation**\n\nIt is dark " +
				"outside.", "Lanterns are lit at dusk by the keeper."},
		"summary is as good as abstract": {
			"Intro words stand here first.\n\n### Executive Summary\n\nA short summary of the thing.",
			"A short summary of the thing."},
		"first prose serves where no abstract is": {
			"# Title\n\n| a | b |\n|---|---|\n| c | d |\n\nThe fleet reports its version daily.\n",
			"The fleet reports its version daily."},
		"a span of code between three backticks is no fence": {
			"```sh npm install```\n\nThe fleet reports its version daily.\n", "The fleet reports its version daily."},
		"a fence with a language closes none": {
			"```\nRun these words in a shell.\n```sh\nRun these words in a shell, too.\n```\n\nThe fleet reports its " +
				"version daily.\n", "The fleet reports its version daily."},
		"a longer fence closes": {
			"~~~\nRun these words in a shell.\n~~~~~\n\nThe fleet reports its version daily.\n",
			"The fleet reports its version daily."},
		"markdown is stripped": {
			"## Abstract\n\nThe **dApp API** uses [`ledger-api`](http://x.example/a_(b)) and *signs* the `hash`[^1].",
			"The dApp API uses ledger-api and signs the hash."},
		"versions, decimals and addresses do not end a sentence": {
			"## Abstract\n\nUpgrade to 0.5.9 before the cut. Fees fall by 2.5 percent, e.g. for see " +
				"https://example.org/a.b. Then rest i.e. sleep.",
			"Upgrade to 0.5.9 before the cut. Fees fall by 2.5 percent, e.g. for see https://example.org/a.b. Then " +
				"rest i.e. sleep."},
		"a sentence that announces a list is left out": {
			"## Abstract\n\nAdd Acme as a validator of weight 3.\n\nAcme commits to:\n- Build a bridge\n",
			"Add Acme as a validator of weight 3."},
		"a list is used if there is no prose": {
			"## Abstract\n\n* Add Acme as a validator\n* Support it with two engineers.\n",
			"Add Acme as a validator. Support it with two engineers."},
		"code, tables and figures are not prose": {
			"## Abstract\n\n```\nlet this be code that runs here.\n```\n![figure one here](a.png)\n<pre>\nKey: value " +
				"of a field here\n</pre>\n\nOnly this is prose at all.\n",
			"Only this is prose at all."},
		"licences are not a summary": {
			"## Summary\n\nThis work is licensed under CC0-1.0.\n\nIt counts the blocks of a round.",
			"It counts the blocks of a round."},
		"an endless sentence is passed over": {"## Abstract\n\n" + long + " The next one is short enough.",
			"The next one is short enough."},
		"whole sentences are taken while they fit": {"## Abstract\n\nThe first sentence stands here. " + "X" +
			strings.Repeat("x", 380) + " is the second sentence.", "The first sentence stands here."},
		"wrapped lines are one paragraph": {
			"## Abstract\nThis specifies an\nenvelope for receipts\nof computing.\n\n## Next",
			"This specifies an envelope for receipts of computing."},
		"a missing full stop is put": {"## Abstract\nAdd Acme as validator of weight 5",
			"Add Acme as validator of weight 5."},
		"key lines of a header are not prose": {
			"**Author:** Somebody With A Name\n**Status:** Draft and more words\n\nThis is the text of it.",
			"This is the text of it."},
		"a subheading belongs to its abstract": {
			"## Abstract\n\n### What\n\nThe harbour gets a second pier.\n\n## Other\n\nNot this one at all.",
			"The harbour gets a second pier."},
		"marks of notes are not words": {
			"# Gate\n\n> [!WARNING]\n> The gate stays shut while the heron sleeps.\n\n:::tip[Use the lever]\n\nThe long lever " +
				"opens it at low tide.\n\n:::\n",
			"The gate stays shut while the heron sleeps. The long lever opens it at low tide."},
		"a note that was named is not a key": {
			"> **Warning:**\n> The gate stays shut while the heron sleeps.\n\n**Caution: Mind the tide**\nKeep the long lever " +
				"dry.",
			"The gate stays shut while the heron sleeps."},
		"a comment is not prose, but one in code ends nothing": {
			"<!-- Write what\nit is about. -->\n```\n<!--\n```\nThe fleet reports its version daily. <!-- x -->\n",
			"The fleet reports its version daily."},
		"raw elements are not prose": {
			"<pre>\nKey: of a field that is here\n\n# And more of it\n</pre>\n<table><tr><td>Words that are in a cell." +
				"</td></tr></table>\n" +
				"The fleet reports\n<br>\nits version every day.", "its version every day."},
		"a quotation is prose, indented text is not": {
			"    make the fleet report its version\n\n> The fleet reports\n> its version daily.\n",
			"The fleet reports its version daily."},
		"underlined headings are headings": {"Abstract\n========\n\nShips queue in the order they arrive.\n",
			"Ships queue in the order they arrive."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := derive.TLDR(c.body); got != c.want {
				t.Errorf("TLDR =\n %q, want\n %q", got, c.want)
			}
		})
	}
}

func TestSentences(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain": {"One is here. Two is there! Three?",
			[]string{"One is here.", "Two is there!", "Three?"}},
		"abbreviations": {"Use tools, e.g. Make or i.e. Just. Done.",
			[]string{"Use tools, e.g. Make or i.e. Just.", "Done."}},
		"initials": {"Written by J. R. Miller alone. It works.",
			[]string{"Written by J. R. Miller alone.", "It works."}},
		"weak abbreviations end": {"Bread, milk, etc. The end. Acme Inc. builds it.",
			[]string{"Bread, milk, etc.", "The end.", "Acme Inc. builds it."}},
		"quotes close": {`He said "stop." Then he left.`, []string{`He said "stop."`, "Then he left."}},
		"identifiers may begin": {"It is done. dApps follow. and so on",
			[]string{"It is done.", "dApps follow. and so on"}},
		"enumerators do not end": {"1. First of all. 2. Then", []string{"1. First of all.", "2. Then"}},
		"numbers and file names": {"Version 3.4.5 reads a.yaml now. Go 1.26 is used.",
			[]string{"Version 3.4.5 reads a.yaml now.", "Go 1.26 is used."}},
		"ellipsis inside": {"Wait... and see. Good.", []string{"Wait... and see.", "Good."}},
		"nothing":         {"   ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, derive.Sentences(c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzTLDR(f *testing.F) {
	for _, seed := range []string{"", "## Abstract\n\nA b c d. E f g h.", "```\nx", "<pre>", "| a |",
		"# \xff\n\nA b c d.", "**Bold title**\n- [x](y)", "a\n===\n", "… … …. …"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := derive.TLDR(body)
		if n := utf8.RuneCountInString(got); n > 400 {
			t.Errorf("%d characters", n)
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r") || strings.TrimSpace(got) != got {
			t.Errorf("not one clean line: %q", got)
		}
	})
}

func FuzzSentences(f *testing.F) {
	f.Add("One. Two.")
	f.Add("e.g. x")
	f.Fuzz(func(t *testing.T, text string) {
		var kept int
		for _, s := range derive.Sentences(text) {
			if strings.TrimSpace(s) == "" {
				t.Error("an empty sentence")
			}
			kept += len(strings.Join(strings.Fields(s), ""))
		}
		if all := len(strings.Join(strings.Fields(text), "")); kept != all {
			t.Errorf("kept %d of %d bytes", kept, all)
		}
	})
}
