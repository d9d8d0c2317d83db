package query_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func parse(t *testing.T, raw string) query.Query {
	t.Helper()
	q, err := query.Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return q
}

// texts lists terms: (stop words) in brackets, *identifiers* in stars.
func texts(terms []query.Term) string {
	var b strings.Builder
	for i, t := range terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case t.Stop:
			fmt.Fprintf(&b, "(%s)", t.Text)
		case t.Identifier:
			fmt.Fprintf(&b, "*%s*", t.Text)
		default:
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func quoted(list []query.Quoted, separator string) string {
	var all []string
	for _, p := range list {
		all = append(all, texts(p.Terms))
	}
	return strings.Join(all, separator)
}

func TestCut(t *testing.T) {
	if got := query.Cut(strings.Repeat("é", 5_000)); got != strings.Repeat("é", query.MaxLength) {
		t.Errorf("%d bytes", len(got))
	}
	if got := query.Cut("node key"); got != "node key" {
		t.Errorf("%q", got)
	}
}

func TestParse(t *testing.T) {
	type want struct{ text, terms, phrases, exclude, kinds, sources string }
	for _, c := range []struct {
		name, raw string
		want      want
	}{
		{"words are stemmed, stop words marked", "how are the validators running",
			want{text: "how are the validators running", terms: "(how) (are) (the) valid run"}},
		{"only stop words are searched after all", "to be or not to be",
			want{text: "to be or not to be", terms: "to be or not"}},
		{"repeated words are one term", "node Node NODES", want{text: "node Node NODES", terms: "node"}},
		{"an identifier comes with its parts", "cip 0056", want{text: "cip 0056", terms: "*cip-56* cip 56"}},
		{"a hyphenated word is no identifier", "top-up", want{text: "top-up", terms: "topup top-up top (up)"}},
		{"an identifier in a sentence", "does CIP-56's fee apply?",
			want{text: "does CIP-56's fee apply?", terms: "(does) *cip-56* cip 56 fee appli"}},
		{"white space is collapsed", "  a\t\tnode \n key ", want{text: "a node\nkey", terms: "(a) node key"}},

		{"a phrase must match", `"traffic top-up" fee`,
			want{text: "traffic top-up fee", terms: "traffic topup top-up top (up) fee", phrases: "traffic top up"}},
		{"a phrase of camel case and folded identifiers", `"GitHub Actions CIP-0056"`,
			want{text: "GitHub Actions CIP-0056", terms: "*github* git hub action *cip-56* cip 56",
				phrases: "*github* action cip 56"}},
		{"several phrases", `"node key" and "fee"`,
			want{text: "node key and fee", terms: "node key (and) fee", phrases: "node key | fee"}},
		{"typographic quotes", `“node key”`, want{text: "node key", terms: "node key", phrases: "node key"}},
		{"an unbalanced quote is text", `"node key`, want{text: `"node key`, terms: "node key"}},
		{"a quote inside a word is text", `5" node say("x")`, want{text: `5" node say("x")`, terms: "5 node (say) x"}},
		{"empty quotes are nothing", `"" node " "`, want{text: "node", terms: "node"}},
		{"an unbalanced quote after a phrase", `"node" "key`,
			want{text: `node "key`, terms: "node key", phrases: "node"}},

		{"a hyphen leaves out", "node -docker -Kubernetes",
			want{text: "node", terms: "node", exclude: "docker kubernet"}},
		{"a hyphen leaves out a phrase", `node -"traffic top-up" -“a key” fee -""`,
			want{text: `node fee -""`, terms: "node fee", exclude: "traffic top up a key"}},
		{"a phrase to leave out inside a sentence", `how do I restore -"a node" from the backup -docker -"my key"`,
			want{text: "how do I restore from the backup", terms: "(how) (do) (i) restor (from) (the) backup",
				exclude: "a node docker my key"}},
		{"names with marks", "C# or -C++ F#", want{text: "C# or F#", terms: "*c#* c (or) *f#* f", exclude: "*c++*"}},
		{"a hyphen leaves out an identifier as a whole", "fee -cip-56 -foo_bar",
			want{text: "fee", terms: "fee", exclude: "*cip-56* *foo_bar*"}},
		{"flags, numbers and dashes are text", "tool --dump -v -1 - x-y",
			want{text: "tool --dump -v -1 - x-y", terms: "tool dump v 1 xy x-y x y"}},
		{"assignments are text", "java -Dkey=1", want{text: "java -Dkey=1", terms: "java dkey 1"}},
		{"stop words are not left out", "docker run -it", want{text: "docker run -it", terms: "docker run (it)"}},
		{"nothing but exclusions is text", "-node -key", want{text: "node key", terms: "node key"}},

		{"kind and source narrow", "fee kind:CIP,doc source:forum kind:doc",
			want{text: "fee", terms: "fee", kinds: "cip doc", sources: "forum"}},
		{"operators without operand are text", "kind: fee source:,",
			want{text: "kind: fee source:,", terms: "kind fee sourc"}},
		{"an operand that is no name is text", "source:https://a.example/b",
			want{text: "source:https://a.example/b",
				terms: "source:https sourc https *a.example/b* a.example (a) exampl b"}},
		{"an operator inside a word is text", "mankind:x", want{text: "mankind:x", terms: "mankind:x mankind x"}},
		{"an exclusion among few words", "traffic -wallet fee",
			want{text: "traffic fee", terms: "traffic fee", exclude: "wallet"}},
		{"a hyphen inside a sentence", "An if -clause is added to calc the excess of blob gas",
			want{text: "An if is added to calc the excess of blob gas",
				terms: "(an) (if) (is) ad (to) calc (the) excess (of) blob gas", exclude: "claus"}},
		{"verbs and colons are no commands", "find fees: -burn",
			want{text: "find fees:", terms: "find fee", exclude: "burn"}},
		{"beside a long option", "docker run --rm -name keeper", want{text: "docker run --rm -name keeper",
			terms: "docker run rm name keeper"}},
		{"beside a path", "rm -rf /var/lib/keeper", want{text: "rm -rf /var/lib/keeper",
			terms: "rm rf *var/lib/keeper* var lib keeper"}},
		{"in two lines", "stop it -group\nnow", want{text: "stop it -group\nnow", terms: "stop (it) group (now)"}},
		{"a value of an option", `git commit --all -am "no fees"`, want{text: `git commit --all -am "no fees"`,
			terms: "git commit (all) (am) (no) fee"}},
		{"a phrase beside a long option is left out", `docker run --rm -"name"`, want{text: "docker run --rm",
			terms: "docker run rm", exclude: "name"}},
		{"exclusions around a sentence", "-docker how do I restore a lost node kind:doc -aws",
			want{text: "how do I restore a lost node", terms: "(how) (do) (i) restor (a) lost node",
				exclude: "docker aws", kinds: "doc"}},
		{"quotes in an error are its own", `kind:doc UPGRADE_FAILED: field "memo" -docker`,
			want{text: `UPGRADE_FAILED: field "memo"`, terms: "*upgrade_failed* upgrad fail field memo",
				exclude: "docker", kinds: "doc"}},
		{"an error in quotes is a phrase", `"UPGRADE_FAILED: field" kind:doc`,
			want{text: "UPGRADE_FAILED: field", terms: "*upgrade_failed* upgrad fail field",
				phrases: "upgrad fail field", kinds: "doc"}},
		{"what was pasted has no operators", "\"a\": -b,\n  kind:doc\n}",
			want{text: "\"a\": -b,\nkind:doc\n}", terms: "(a) b kind:doc kind doc"}},
		{"other operators are text", "author:ann", want{text: "author:ann", terms: "author:ann author ann"}},

		{"NUL and broken bytes separate", "no\x00de k\xffy", want{text: "no de k y", terms: "(no) de k y"}},
		{"other scripts", "東京都 ключ", want{text: "東京都 ключ", terms: "東京 京都 ключ"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := parse(t, c.raw)
			got := want{q.Text, texts(q.Terms), quoted(q.Phrases, " | "), quoted(q.Exclude, " "),
				strings.Join(q.Kinds, " "),
				strings.Join(q.Sources, " ")}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", c.raw, diff)
			}
		})
	}
}

func TestNothingToSearchForIsErrEmpty(t *testing.T) {
	for _, raw := range []string{"", " \t\n", "?!", "\x00\xff", "🚀", `""`, `" "`, "kind:cip", "source:a -", "--"} {
		if _, err := query.Parse(raw); !errors.Is(err, query.ErrEmpty) {
			t.Errorf("Parse(%q) = %v, want ErrEmpty", raw, err)
		}
	}
}

// What is searched can be named, not left out; a pasted line says what it says.
func TestKindsAndSourcesCannotBeLeftOut(t *testing.T) {
	for _, raw := range []string{"fee -kind:doc", "-source:forum fee", "fee -Site:docs.example", "-kind:doc",
		"how do I pay a fee -type:cip", "fee -https://docs.example/fees", "-HTTP://docs.example fee", "fee -inurl:forum"} {
		if _, err := query.Parse(raw); !errors.Is(err, query.ErrRefused) || !strings.Contains(err.Error(), "kind:cip,doc") {
			t.Errorf("Parse(%q) = %v, want ErrRefused", raw, err)
		}
	}
	for _, raw := range []string{"keeper --verbose -source:main", "fee -kind:", "fee -author:ann"} {
		parse(t, raw)
	}
}

func TestClass(t *testing.T) {
	for class, queries := range map[query.Class][]string{
		query.Identifier: {"C#", "c++", "cip 56", "CIP0104", "ERC-20", "v0.5.9", "ledger 0.5.9", "SOME_CODE", "SOME_CODE OTHER_CODE",
			"TopupTrigger",
			"v2/interactive-submission/prepare", "/v2/state", "what is CIP-56", "party::1220ab", "PR 203"},
		query.Keyword: {"gas fees", "participant pruning", "hard fork", "node", "the who", "ERC20 equivalent",
			"auto-accept transfers", "top-up",
			"kind:doc fee", "東京", "run it locally (fast)"},
		query.Question: {"how do I onboard a validator", "what happens to unclaimed coins", "pruning?",
			"is there a mempool",
			"restore a validator from backup after losing the machine", "which outsiders see a deal", "Who’s voting"},
		query.Code: {"ABORTED: balance below reserved amount (1843 < 200000)",
			"FAILED_PRECONDITION no node satisfies vetting",
			"javax.net.ssl.SSLHandshakeException path building failed", "for (int i = 0; i < n; i++) { sum += a[i]; }",
			"panic: boom\n\tmain.go:12\n\tmain.go:30", "cannot open /etc/node/app.conf today",
			"call getContracts(filter) twice",
			"Map.lookup k m => None", "INTERNAL: Node has identity val-1::1220ab, but val-2 was expected"},
	} {
		for _, raw := range queries {
			t.Run(raw, func(t *testing.T) {
				if got := parse(t, raw).Class; got != class {
					t.Errorf("class %s, want %s", got, class)
				}
			})
		}
	}
}

func TestOperatorsAreBounded(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for _, c := range []struct {
		name, within, beyond, limit string
	}{
		{"words of a phrase", `"` + words(32) + `"`, `"` + words(33) + `"`, "33 words, and may have 32"},
		{"phrases", strings.Repeat(`"a node" `, 8), strings.Repeat(`"a node" `, 9),
			"9 phrases in quotes, and at most 8"},
		{"exclusions", "node" + strings.Repeat(" -key", 32), "node" + strings.Repeat(" -key", 33),
			"33 words, and may exclude 32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parse(t, c.within)
			if _, err := query.Parse(c.beyond); !errors.Is(err, query.ErrTooMany) ||
				!strings.Contains(err.Error(), c.limit) {
				t.Errorf("error %v, want ErrTooMany with %q", err, c.limit)
			}
		})
	}
}

func TestPartsOfAnIdentifierCountLess(t *testing.T) {
	weights := map[string]float64{}
	for _, term := range parse(t, "LOCAL_CODE high-quality code").Terms {
		weights[term.Text] = term.Weight
	}
	want := map[string]float64{"local_code": 1, "local": 0.2, "code": 1, "highqual": 0.5, "high-quality": 0.5,
		"high": 1, "qualiti": 1}
	if diff := cmp.Diff(want, weights); diff != "" {
		t.Errorf("weights (-want +got):\n%s", diff)
	}
}

func TestWordsAreFoldedAndPlaced(t *testing.T) {
	q := parse(t, "the Validators' Écoles")
	var got []string
	for _, term := range q.Terms {
		got = append(got, fmt.Sprintf("%d %s %s", term.Position, term.Word, term.Text))
		if term.ID != analysis.IDOf(term.Text) {
			t.Errorf("%s has the id of another term", term.Text)
		}
	}
	if diff := cmp.Diff([]string{"0 the the", "1 validators valid", "2 ecoles ecol"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLongQueriesKeepTheirFirstTerms(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "the zulu%dx ", i)
	}
	q := parse(t, b.String())
	content := 0
	for _, term := range q.Terms {
		if !term.Stop {
			content++
		}
	}
	if content != query.MaxTerms || q.Terms[1].Text != "zulu0x" {
		t.Errorf("%d content terms from %s, want %d from zulu0x", content, q.Terms[1].Text, query.MaxTerms)
	}
}

// a phrase finds itself wherever its words are.
func TestAPhraseMatchesTheTextItWasTakenFrom(t *testing.T) {
	word := rapid.SampledFrom([]string{"node", "top-up", "CIP-0056", "cip 56", "ERC20", "GitHub", "v0.5.9", "a_b",
		"Alice's", "the", "DARs", "x/y.z", "東京都", "1,000"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"), ", ")
		q, err := query.Parse(`"` + text + `"`)
		if err != nil || len(q.Phrases) != 1 {
			t.Fatalf("Parse = %d phrases, %v", len(q.Phrases), err)
		}
		at := map[int]map[string]bool{}
		for _, k := range analysis.Analyze("before " + text + " after") {
			if at[k.Position] == nil {
				at[k.Position] = map[string]bool{}
			}
			at[k.Position][k.Term] = true
		}
		for i, term := range q.Phrases[0].Terms {
			if !at[1+i][term.Text] {
				t.Fatalf("%q: %s is not at position %d of the text", text, term.Text, 1+i)
			}
		}
	})
}

func TestAnyQueryParses(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{`"`, "“", "-", "kind:", "source:", " ", "\n", "a", "CIP-56", "(",
		"::", "\x00", "\xff", "é", "東京"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
		checkQuery(t, raw)
	})
}

func checkQuery(t interface {
	Helper()
	Fatalf(string, ...any)
}, raw string) {
	t.Helper()
	q, err := query.Parse(raw)
	if err != nil {
		if !errors.Is(err, query.ErrEmpty) && !errors.Is(err, query.ErrTooMany) && !errors.Is(err, query.ErrRefused) {
			t.Fatalf("Parse(%q): %v", raw, err)
		}
		return
	}
	content, seen := 0, map[string]bool{}
	for _, term := range q.Terms {
		if seen[term.Text] || term.Text == "" || term.Weight <= 0 || term.Weight > 1 {
			t.Fatalf("Parse(%q): bad term %+v", raw, term)
		}
		seen[term.Text] = true
		if !term.Stop {
			content++
		}
	}
	switch {
	case content == 0, q.Class == "", !utf8.ValidString(q.Text), strings.ContainsRune(q.Text, 0):
		t.Fatalf("Parse(%q) = %+v", raw, q)
	}
	for _, p := range q.Phrases {
		if len(p.Terms) == 0 || len(p.Terms) > query.MaxPhraseWords {
			t.Fatalf("Parse(%q): phrase of %d words", raw, len(p.Terms))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", `"a b" -c kind:d source:e,f`, `"`, "-", "kind:", "CIP-56 v0.5.9", "\xff\x00", "“a”",
		"A_B: x::y (z)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkQuery(t, raw) })
}
