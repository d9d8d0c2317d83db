package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/retrieval/analysis"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// spell writes tokens as position:term, space separated.
func spell(tokens []analysis.Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d:%s", t.Position, t.Term)
	}
	return b.String()
}

func TestAnalyze(t *testing.T) {
	hash := strings.Repeat("ab12", 17)
	for _, c := range []struct{ name, text, want string }{
		{"empty text has no tokens", "", ""},
		{"punctuation has no tokens", " ?!… -- () 🚀👩‍💻 ", ""},
		{"words are stemmed and stop words stay", "The validators are running", "0:the 1:valid 2:are 3:run"},
		{"short words are not stemmed", "gas fees on AWS", "0:gas 1:fee 2:on 3:aws"},
		{"possessives go", "Alice's keys, the validators’ nodes, ERC20's",
			"0:alic 1:key 2:the 3:valid 4:node 5:erc-20 5:erc 6:20"},
		{"contractions are one word", "don't can’t o'brien", "0:dont 1:cant 2:obrien"},
		{"quotes are no apostrophes", "'alpha' 'b'", "0:alpha 1:b"},
		{"an acronym loses its plural s", "two DARs, SVs and HTTPs", "0:two 1:dar 2:sv 3:and 4:http"},

		{"snake case stands whole and in parts", "LOCAL_VERDICT_TIMEOUT",
			"0:local_verdict_timeout 0:local 1:verdict 2:timeout"},
		{"a call is an identifier and its arguments", "SOME_CODE(9,abc)", "0:some_code 0:some 1:code 2:9 3:abc"},
		{"underscores around a name go", "__init__ _x", "0:init 1:x"},
		{"camel case is one position", "HTTPServer WebSockets up",
			"0:httpserver 0:http 0:server 1:websockets 1:websocket 1:web 1:socket 2:up"},
		{"a path stands whole, in segments and parts", "/v2/commands/submit-and-wait",
			"0:v2/commands/submit-and-wait 0:v2 1:command 2:submit-and-wait 2:submit 3:and 4:wait"},
		{"the scheme of an address goes", "https://docs.site.example/a_b",
			"0:docs.site.example/a_b 0:docs.site.example 0:doc 1:site 2:exampl 3:a_b 3:a 4:b"},
		{"a mail address has its host", "ann@host.example", "0:ann@host.example 0:ann 1:host.example 1:host 2:exampl"},
		{"a package has scope and version", "@scope/kit@1.2.3", "0:scope/kit@1.2.3 0:scope 1:kit 2:1.2.3 2:1.2"},
		{"dotted names split", "com.acme.LedgerApi", "0:com.acme.ledgerapi 0:com 1:acm 2:ledgerapi 2:ledger 2:api"},
		{"double colons join", "val-1::1220ab", "0:val-1::1220ab 0:val-1 0:val 1:1 2:1220ab"},
		{"hyphenated words meet their closed spelling", "multi-sig multisig",
			"0:multisig 0:multi-sig 0:multi 1:sig 2:multisig"},
		{"an ellipsis and a dash separate", "end...next a--b c—d", "0:end 1:next 2:a 3:b 4:c 5:d"},
		{"operators separate", "a=b, c+d; e|f", "0:a 1:b 2:c 3:d 4:e 5:f"},

		{"versions lose their v", "v0.5.9 0.5.9 v1.2", "0:0.5.9 0:0.5 1:0.5.9 1:0.5 2:1.2"},
		{"a version inside a name", "kit-v0.5.9-rc1", "0:kit-v0.5.9-rc1 0:kit 1:0.5.9 1:0.5 2:rc-1 2:rc 3:1"},
		{"a version ends a sentence", "Use 0.5.9.", "0:use 1:0.5.9 1:0.5"},
		{"numbers lose zeros and groups", "007 1,000,000 1,00 2024-01-14 10%",
			"0:7 1:1000000 2:1 3:0 4:2024-01-14 4:2024 5:1 6:14 7:10"},
		{"a word and a number with more to it do not fold", "kit 0.5.9, top 1,000, hop 3rd",
			"0:kit 1:0.5.9 1:0.5 2:top 3:1000 4:hop 5:3rd"},
		{"a stop word and a number do not fold", "in 2024", "0:in 1:2024"},
		{"a long word and a number do not fold", "version 3", "0:version 1:3"},
		{"a line break keeps word and number apart", "abc\n12", "0:abc 1:12"},
		{"a number of more than nine digits is no folded one", "abc 1234567890", "0:abc 1:1234567890"},
		{"a hash stays whole", "b1946ac92492d2347c6235b4d2611184", "0:b1946ac92492d2347c6235b4d2611184"},
		{"other mixtures of letters and digits stay whole", "B12 x402 3rd k8s", "0:b12 1:x402 2:3rd 3:k8s"},

		{"names with marks stand whole", "C# and c++, C++17 or F#-Sharp", "0:c# 0:c 1:and 2:c++ 2:c 3:c++ 3:c 4:17 5:or 6:f# 6:f 7:sharp"},
		{"names with marks in a row", "C/C++/C# (g++)", "0:c/c 0:c 1:c++ 1:c 2:c# 2:c 3:g++ 3:g"},
		{"a number behind a mark", "C#7.3", "0:c#7.3 0:c# 0:c 1:7.3"},
		{"other marks separate", "a+b ab# 1++ x+++y #c C##", "0:a 1:b 2:ab 3:1 4:x 5:y 6:c 7:c"},

		{"accents and ligatures fold", "École e\u0301cole ﬁne Straße Łódź ŒUVRE",
			"0:ecol 1:ecol 2:fine 3:strass 4:lodz 5:oeuvr"},
		{"full width folds", "ＣＩＰ－００５６", "0:cip-56 0:cip 1:56"},
		{"invisible characters go", "val\u00adida\u200dtor \ufeffnode\u2060s", "0:valid 1:node"},
		{"a zero-width space separates", "ab\u200bcd", "0:ab 1:cd"},
		{"NUL and broken bytes separate", "ab\x00cd\xffef", "0:ab 1:cd 2:ef"},
		{"Han is paired", "東京都 山", "0:東京 1:京都 2:山"},
		{"kana are composed and paired", "か\u3099き ｶﾞｲ", "0:がき 1:ガイ"},
		{"Hangul is composed and paired", "한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8", "0:한국 1:국어 2:한국"},
		{"Thai marks stay with their letter", "กี่", "0:กี่"},
		{"mixed scripts separate", "node東京ok", "0:node 1:東京 2:ok"},
		{"Arabic loses vowel marks", "مُحَمَّد", "0:محمد"},
		{"Hebrew loses points", "שָׁלוֹם", "0:שלום"},
		{"Cyrillic and Greek are lower case", "Привет ΛΌΓΟΣ", "0:привет 1:λογοσ"},
		{"Devanagari keeps its vowels", "हिन्दी", "0:हिन्दी"},

		{"a long term is cut and marked", hash, "0:" + hash[:47] + "~2ad43ec94952d089"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, spell(analysis.Analyze(c.text))); diff != "" {
				t.Errorf("Analyze(%q) (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestIdentifiersMeetInOneTerm(t *testing.T) {
	for want, spellings := range map[string][]string{
		"cip-56": {"CIP-56", "cip 0056", "CIP0056", "CIP#56", "cip56", "CIP-0056", "CIP_56", "cip #56", "CIP-0056.md",
			"see CIP‑56.", "CIP 0056-Establish", "cip-0056/readme", "(CIP-56)", "CIP-56's", "cip  56"},
		"erc-20": {"ERC20", "ERC-20", "erc 20", "ERC-20/ERC-721", "ERC20-like"},
		"eip-0":  {"EIP-0", "eip 000"},
		"0.5.9":  {"v0.5.9", "0.5.9", "V0.5.9", "kit-0.5.9", "release/v0.5.9"},
		"some_code": {
			"SOME_CODE", "some_code", "SOME_CODE(9,abc)", "[SOME_CODE]"},
		"topupmembertraffictrigger": {"TopupMemberTrafficTrigger", "topupMemberTrafficTrigger()"},
	} {
		for _, s := range spellings {
			t.Run(s, func(t *testing.T) {
				for _, token := range analysis.Analyze(s) {
					if token.Term == want {
						return
					}
				}
				t.Errorf("Analyze(%q) = %s, without %s", s, spell(analysis.Analyze(s)), want)
			})
		}
	}
}

func TestSpansCoverWhatTheTermCameFrom(t *testing.T) {
	for text, want := range map[string][]string{
		"see CIP 0056.":        {"see", "CIP 0056", "CIP", "0056"},
		"naïve e\u0301tudes!":  {"naïve", "e\u0301tudes"},
		"½ ㎏":                  {"½", "½", "½", "㎏"},
		"a v0.5.9":             {"a", "v0.5.9", "v0.5"},
		"東京都":                  {"東京", "京都"},
		"x\u200d y\ufe0f":      {"x\u200d", "y\ufe0f"},
		"Alice's":              {"Alice's"},
		"https://a.example/b!": {"a.example/b", "a.example", "a", "example", "b"},
	} {
		var got []string
		for _, token := range analysis.Analyze(text) {
			got = append(got, text[token.Start:token.End])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("spans of %q (-want +got):\n%s", text, diff)
		}
	}
}

func TestIsIdentifier(t *testing.T) {
	for text, want := range map[string]bool{
		"CIP-56": true, "cip 56": true, "ERC20": true, "#203": true, "v0.5.9": true, "0.5.9": true, "1220ab": true,
		"LOCAL_VERDICT_TIMEOUT": true, "TopupMemberTrafficTrigger": true, "a::b": true, "/v2/state": true,
		"v2/interactive-submission/prepare": true, "window.ethereum": true, "src/main.go": true, "x402": true,
		"ann@host.example": true, "CIP-56's": true, "C++": true, "/about": true, "2FA": true, "b1946ac92492d234": true,

		"": false, " ": false, "validator": false, "BFT": false, "high-quality": false, "and/or": false, "e.g": false,
		"2nd": false, "10kb": false, "2024-01-14": false, "3.5": false, "56": false, "two words": false,
		"version 3": false,
		"東京":        false, "#": false, "-": false, "state-of-the-art": false,
	} {
		if got := analysis.IsIdentifier(text); got != want {
			t.Errorf("IsIdentifier(%q) = %t, want %t", text, got, want)
		}
	}
}

// TestTheWordOfAToken is what people typed, where its term is a stem or a part.
func TestTheWordOfAToken(t *testing.T) {
	const text = "The Validator's NODES don't vote"
	var words []string
	for _, token := range analysis.Analyze(text) {
		words = append(words, token.Word(text))
	}
	if want := []string{"the", "validator", "nodes", "dont", "vote"}; !slices.Equal(words, want) {
		t.Errorf("%q, want %q", words, want)
	}
	names := fmt.Sprint(analysis.Title, analysis.Heading, analysis.Body, analysis.Path)
	if names != "title heading body path" {
		t.Errorf("fields are called %s", names)
	}
}

func TestIsStop(t *testing.T) {
	for _, word := range strings.Fields("the of and what how which who dont isnt is with") {
		if !analysis.IsStop(word) {
			t.Errorf("IsStop(%q) = false", word)
		}
	}
	for _, word := range strings.Fields("validator node vote fee time new first update use cip") {
		if analysis.IsStop(word) {
			t.Errorf("IsStop(%q) = true", word)
		}
	}
}

func TestIDOf(t *testing.T) {
	if a, b := analysis.IDOf("cip-56"), analysis.IDOf("cip-57"); a == b {
		t.Errorf("two terms have the id %d", a)
	}
	// Stored passages hold ids: a value that changes needs a new Version.
	if got, want := analysis.IDOf("cip-56"), analysis.TermID(897458503); got != want {
		t.Errorf("IDOf(cip-56) = %d, want %d", got, want)
	}
}

func TestFoldingTwiceIsFoldingOnce(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		s := "a" + string(r) + "b"
		once := analysis.Fold(s)
		if twice := analysis.Fold(once); twice != once {
			t.Errorf("Fold(%q) = %q, then %q", s, once, twice)
		}
	}
}

// ugly generates texts of words, identifiers, scripts and broken bytes.
func ugly() *rapid.Generator[string] {
	atom := rapid.OneOf(
		rapid.SampledFrom([]string{"CIP-56", "cip 0056", "v0.5.9", "a::b", "HTTPServer", "don't", "1,000,000",
			"https://", "__", "'", "::", "…",
			"東京タワー", "한국어", "สวัสดี", "שָׁלוֹם", "é", "e\u0301", "👩‍💻", "\u200d", "\x00", "\xff", "\xe2\x82", "½", "ﷺ",
			"İ", "ß", "\n", " ", ".", "-", "/", "#", "@"}),
		rapid.String(), rapid.StringN(0, 200, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(1, 300), func(n int) string { return strings.Repeat("aB1", n) }),
	)
	return rapid.Map(rapid.SliceOfN(atom, 0, 20), func(a []string) string { return strings.Join(a, "") })
}

// check fails for tokens that break a promise of Analyze.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, tokens []analysis.Token) {
	t.Helper()
	position, start := 0, 0
	for _, k := range tokens {
		switch {
		case k.Term == "" || len(k.Term) > analysis.MaxTerm || !utf8.ValidString(k.Term):
			t.Fatalf("term %q of %q", k.Term, text)
		case k.Position < position || k.Position > position+1:
			t.Fatalf("position %d after %d in %q", k.Position, position, text)
		case k.Start < start || k.End <= k.Start || k.End > len(text):
			t.Fatalf("span %d:%d after %d in %q", k.Start, k.End, start, text)
		case !boundary(text, k.Start) || !boundary(text, k.End):
			t.Fatalf("span %d:%d cuts a rune of %q", k.Start, k.End, text)
		}
		position, start = k.Position, k.Start
	}
}

func boundary(s string, i int) bool {
	if i == len(s) || utf8.RuneStart(s[i]) {
		return true
	}
	for j := i - 1; j >= 0 && j > i-utf8.UTFMax; j-- { // a stray byte begins a (broken) rune of its own
		if _, size := utf8.DecodeRuneInString(s[j:]); utf8.RuneStart(s[j]) {
			return j+size <= i
		}
	}
	return true
}

func TestTokensKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := ugly().Draw(t, "text")
		tokens := analysis.Analyze(text)
		check(t, text, tokens)
		if diff := cmp.Diff(tokens, analysis.Analyze(text)); diff != "" {
			t.Fatalf("a second analysis differs:\n%s", diff)
		}
	})
}

func TestCaseAndSpacesDoNotChangeTerms(t *testing.T) {
	words := rapid.StringMatching(`[a-z]{1,12}( [a-z]{1,12}){0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		text := words.Draw(t, "text")
		want := spell(analysis.Analyze(text))
		for _, other := range []string{strings.ToUpper(text), "\t" + strings.ReplaceAll(text, " ", "\n") + " .", "«" +
			text + "»"} {
			if got := spell(analysis.Analyze(other)); got != want {
				t.Fatalf("%q gives %s, %q gives %s", text, want, other, got)
			}
		}
	})
}

func TestLongTextsTakeLinearTime(t *testing.T) {
	// A quadratic step would take hours here.
	for name, text := range map[string]string{
		"one word": strings.Repeat("a", 1<<20), "digits": strings.Repeat("1", 1<<20),
		"dots":               strings.Repeat("1.", 1<<19),
		"dots then a letter": strings.Repeat("1.", 1<<19) + "x", "groups": "1" + strings.Repeat(",000", 1<<18) + "x",
		"hyphens": strings.Repeat("a-", 1<<19), "slashes": strings.Repeat("ab/cd_", 1<<17),
		"camel":       strings.Repeat("aB", 1<<19),
		"apostrophes": strings.Repeat("a'", 1<<19), "underscores": "a" + strings.Repeat("_", 1<<20),
		"Han":   strings.Repeat("東", 1<<18),
		"marks": "a" + strings.Repeat("\u0301", 1<<19), "Thai marks": "ก" + strings.Repeat("\u0e34", 1<<18),
		"NUL":    strings.Repeat("\x00", 1<<20),
		"broken": strings.Repeat("\xff", 1<<20), "letters and numbers": strings.Repeat("ab 1 ", 1<<18),
	} {
		t.Run(name, func(t *testing.T) { check(t, text[:100], nil); check(t, text, analysis.Analyze(text)) })
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"", "CIP-0056 v0.5.9", "a::b/c_d", "ｶﾞ\u3099", "\xff\x00", "1,000.5", "한\u1112\u1161",
		"x\u0301\u0301'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := analysis.Analyze(text)
		check(t, text, tokens)
		checkInitials(t, text, tokens)
		analysis.IsIdentifier(text)
		once := analysis.Fold(text)
		if twice := analysis.Fold(once); twice != once {
			t.Fatalf("Fold(%q) = %q, then %q", text, once, twice)
		}
	})
}

// checkInitials fails if a text that is searched for a term lacks one of the tokens
// that begin like it.
func checkInitials(t *testing.T, text string, tokens []analysis.Token) {
	t.Helper()
	for _, of := range tokens[:min(len(tokens), 20)] {
		unlike := func(x analysis.Token) bool { return !strings.HasPrefix(x.Term, of.Term[:min(2, len(of.Term))]) }
		var initials analysis.Initials
		initials.Add(of.Term)
		want := slices.DeleteFunc(slices.Clone(tokens), unlike)
		got := slices.DeleteFunc(analysis.AppendFor(&initials, nil, text), unlike)
		if !slices.Equal(got, want) {
			t.Fatalf("searched for %q: %v, want %v", of.Term, got, want)
		}
	}
}

func TestInitialsOfWords(t *testing.T) {
	for _, text := range []string{
		"dying skis skies lying tying idly gently ugly early only singly Yes yields flies cries",
		"SubmitAndWait getHTTPServers DARs multi-sig CIP-0056 cip 56 v0.5.9 1,000.5 a::b/c_d don't naïve 東京タワー",
	} {
		checkInitials(t, text, analysis.Analyze(text))
	}
}
