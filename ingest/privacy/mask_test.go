package privacy

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMaskHidesMailAddresses(t *testing.T) {
	const m = hidden
	tests := map[string]struct{ text, want string }{
		"plain":                          {"write to jane@site.example today", "write to " + m + " today"},
		"at the end of a sentence":       {"Ask jane@site.example.", "Ask " + m + "."},
		"several":                        {"a@site.example, b@site.example", m + ", " + m},
		"with plus and dots":             {"jane.doe+list@mail.site.example", m},
		"with a digit domain":            {"jane@163.com and j@57blocks.example", m + " and " + m},
		"in angle brackets":              {"Jane Doe <jane@site.example> wrote", "Jane Doe " + m + " wrote"},
		"quoted twice by a mail program": {`"list@site.example" <list@site.example> wrote`, m + " wrote"},
		"in parentheses":                 {"Jane (jane@site.example)", "Jane (" + m + ")"},
		"as a link with a name":          {"[Jane](mailto:jane@site.example) wrote", "Jane wrote"},
		"as a link to itself":            {"[jane@site.example](mailto:jane@site.example?subject=Hi)", m},
		"as a nested link":               {"([j@site.example](mailto:j@site.example)) ", "(" + m + ") "},
		"as an autolink":                 {"<mailto:jane@site.example>", m},
		"in HTML": {`<a href="mailto:jane@site.example">Jane</a>`, `<a href="mailto:` + m +
			`">Jane</a>`},
		"as an HTML entity": {"&lt;jane&#64;site.example&gt; j&commat;site.example", "&lt;" + m + "&gt; " +
			m},
		"escaped in an address": {"https://site.example/?to=jane%40site.example&x=1",
			"https://site.example/?to=" + m + "&x=1"},
		"with a full-width at sign":      {"jane＠site.example", m},
		"with (at)":                      {"jane (at) site.example", m},
		"with [AT] and [dot]":            {"jane [AT] site [dot] example", m},
		"with a markdown escape":         {`martin\_b@site.example and j\@site.example`, m + " and " + m},
		"with a quoted local part":       {`"jane doe"@site.example`, m},
		"in bold and code":               {"**jane@site.example** `j@site.example`", "**" + m + "** `" + m + "`"},
		"in a table":                     {"| Mail|jane@site.example|", "| Mail|" + m + "|"},
		"in capitals":                    {"JANE@SITE.EXAMPLE", m},
		"with an international domain":   {"josé@müller.example", m},
		"with a punycode domain":         {"j@xn--mller-kva.example", m},
		"as a list makes of others":      {"<jane=site.example@lists.site.example>", m},
		"after a key":                    {"emailAddress=jane@site.example\" \"DN", "emailAddress=" + m + "\" \"DN"},
		"before a hyphenated word":       {"jane@site.example-Founder", m + "-Founder"},
		"before a number":                {"jane@site.example.2 more", m + ".2 more"},
		"at a numbered host in brackets": {"jane@[192.0.2.1]", m},
		"as the user of a web address":   {"https://jane@site.example/x", "https://" + m + "/x"},
		"without space around it":        {"联系jane@site.example吧", m},
		"git as a person's role address": {"mail git@site.example for help", "mail " + m + " for help"},
		"broken after a dot": {"<j@lists.\r\n  site.example> j=s.example@lists.\nsite.example\n> x", m +
			"\n> x"},
		"after a slash":                  {"jane/j@site.example", "jane/" + m},
		"escaped twice":                  {"?to=jane%2540site%252eexample&x", "?to=" + m + "&x"},
		"as another entity":              {"j&#0064;site&#46;example j&#x0040;site&period;example", m},
		"escaped in a string":            {`"j\u0040site.example" "j\x40site\x2eexample"`, `"` + m + `" "` + m + `"`},
		"in full width":                  {"ｊａｎｅ＠ｓｉｔｅ．ｏｒｇ", m},
		"with ideographic stops":         {"写信到jane@site。org。谢谢 j＠site｡org", m + "。谢谢 " + m},
		"before an ideographic stop":     {"jane@site.org。Then", m + "。Then"},
		"with blanks around the at sign": {"jane @ site.org or jane.doe@ site.org.", m + " or " + m + "."},
		"with (a)":                       {"jane(a)site.org, Jane.Doe[A]site.org", m + ", " + m},
		"with AT and DOT":                {"jane.doe AT site DOT org, jane AT site DOT co DOT uk", m + ", " + m},
		"with AT alone":                  {"write to jane.doe AT site.org", "write to " + m},
		"with at and dot in lower case":  {"I am jane dot doe at site dot org now", "I am " + m + " now"},
		"with dot alone":                 {"jane@site dot org", m},
		"before the word dot":            {"jane@site.org dot matrix", m + " dot matrix"},
		"in pieces of code":              {"`jane.doe`@`site.org` or `jane`@site.org", "`" + m + "` or `" + m},
		"with the at sign as code":       {"jane.doe`@`site.org", m},
		"with bold signs":                {"jane**@**site**.**org, **jane**@site.org", m + ", **" + m},
		"in pieces of HTML":              {"jane<b>@</b>site<!-- x -->.<i>org</i>", m + "</i>"},
		"a person's login":               {"ssh://jane.doe@site.org/x postgres://j.doe@db.site.org", "ssh://" + m + "/x postgres://" + m},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Mask(tt.text); got != tt.want {
				t.Errorf("Mask(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestMaskKeepsWhatIsNotAnAddress(t *testing.T) {
	for name, text := range map[string]string{
		"a scoped package version":        "npm install @scope/pkg@1.2.3",
		"a package version":               "user@1.2.3 and user@v1.4.0-rc.1 and pkg@1.x.y and pkg@10.0.x",
		"a package tag":                   "npx @scope/tool@latest",
		"an action's version":             "uses: some-actions/checkout@v4",
		"an image digest":                 "host.example/img:1.0@sha256:a1d6c42f8b80842b71c05152c20fb21e",
		"a clone over ssh":                "git clone git@host.example:org/repo.git",
		"a clone by URL":                  "ssh://git@host.example/org/repo and git+ssh://git@host.example/r",
		"a login by URL":                  "ssh://deploy@host.example/x ftp://anonymous@files.example",
		"a database address":              "postgres://app:secret@db.site.example:5432/x",
		"an address by number":            "ssh root@10.0.0.1",
		"a realm without domain":          "CLIENT_ID@clients and Alice@Bank1",
		"a handle":                        "thanks @jane, see @site.example",
		"a picture of double size":        "logo@2x.png icon@3x.webp",
		"a certificate's file":            "msp/User1@org1.site.example-cert.pem",
		"a file at a commit":              "docs/page.rst@5f96e9893 guide.md@82ec39c9",
		"a template by hash":              "Iou:Iou@8f199... <ByteString@2d53bfcc size=3>",
		"a curl data file":                `-H "x: application/json" -d@create.json`,
		"a realm at a sentence's end":     "as CLIENT_ID@clients.\nIf not so",
		"an at sign alone":                "a @ b, @, @@, a@, @b",
		"a local part of another address": "x@y",
		"a java annotation":               "@Override void a() {}",
		"a word in brackets":              "look (at) this [at] home",
		"an oracle login":                 "sqlplus -L USER/pass@ORCL",
		"a place in prose":                "Find us at site.org, look at site dot org, LOOK AT SITE DOT ORG",
		"a version at a place":            "3.1 AT site.org and version 2 at site dot org",
		"an office":                       "Ann, CEO @ site.org, and see @site.org",
		"a time in SQL":                   "select a.ts AT TIME ZONE b.tz",
		"a product of matrices":           "y = x @ self.weight + q @ k.mT + x @ w.to(device) + a @ b.at[0]",
		"a list in words":                 "either (a) site.org or (b) f(a).org and f(a)x[i] and arr[a]b.c",
		"decorators as code":              "使用`@app.route`和`@click.group()`, a`@Get`b",
		"a package as code":               "`@scope/pkg`@`1.2.3` `pkg`@`latest`",
		"a path behind an at sign":        "main @ github.com/org/repo",
		"a realm before another sentence": "Alice@Bank1。然后 CLIENT@realm dot product CLIENT@realm `.b`",
		"a picture as code":               "`logo`@`2x.png`",
		"an address that is hidden":       `"a" returns "****@site.org"`,
		"a role by URL":                   "ssh://deploy@site.org postgres://app@db.site.org/x redis://cache@site.org:6379",
	} {
		t.Run(name, func(t *testing.T) {
			if got := Mask(text); got != text {
				t.Errorf("Mask(%q) = %q", text, got)
			}
		})
	}
}

// plainAddress must not match masked text.
var plainAddress = regexp.MustCompile(`(?i)(?:^|[\s,;])[a-z0-9]{1,20}@[a-z0-9]{2,20}\.(?:example|com|org)(?:$|[\s,;])`)

func FuzzMask(f *testing.F) {
	for _, s := range []string{
		"jane@site.example", "[a](mailto:a@b.example)", "a (at) b (dot) example", "<<a@b.example>>@c.example",
		`"x"@y.example`,
		"a=b.example@c.example", "git@a.example:b", "%[40](mailto:b@x.example)", "a@a@a@a.example", "a%40b%40c.example",
		"\xffa@b.example",
		"x@<b@y.example>.example", "ssh://a@b.example", "a@[::1]", "＠＠a＠b.example", "a@b.example-", "&#64;a@b.c.d.e.fg",
		"a.b AT c DOT org", "a dot b at c dot org", "a @ b.org", "a(a)b.org", "`a`@`b`.org", "a<b>@</b>c。org", "a\\u0040b.org",
		"a@b dot c dot org dot d", "ａ＠ｂ．ｏｒｇ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Mask(s)
		if again := Mask(got); again != got {
			t.Errorf("not stable:\n%q\n%q\n%q", s, got, again)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("broke UTF-8: %q → %q", s, got)
		}
		if found := plainAddress.FindString(got); found != "" {
			t.Errorf("%q remains of %q", found, s)
		}
		if !strings.Contains(s, "@") && !strings.ContainsAny(s, `%&([{\＠﹫`) && !strings.Contains(strings.ToLower(s), " at ") &&
			got != s {
			t.Errorf("changed %q, which has no at sign, to %q", s, got)
		}
	})
}

func TestPeopleAreNamedWithoutTheirAddress(t *testing.T) {
	p := People{salt: []byte("pepper")}
	alone := p.Pseudonym("jane@site.example")
	tests := map[string]struct{ field, want string }{
		"a name stays":            {"Jane Doe", "Jane Doe"},
		"a handle stays":          {"@jane", "@jane"},
		"name and address":        {"Jane Doe <jane@site.example>", "Jane Doe"},
		"quoted name and address": {`"Doe, Jane" <jane@site.example>`, "Doe, Jane"},
		"address in parentheses":  {"Jane Doe (jane@site.example)", "Jane Doe"},
		"address first":           {"jane@site.example (Jane Doe)", "Jane Doe"},
		"address as a link": {"Jane Doe ([jane@site.example](mailto:jane@site.example))",
			"Jane Doe"},
		"name - address":                           {"Jane Doe - jane@site.example", "Jane Doe"},
		"several":                                  {"Jane <j@site.example>, Joe <joe@site.example>", "Jane, Joe"},
		"several, one without name":                {"Jane <j@site.example>, joe@site.example, Ann", "Jane, Ann"},
		"an address alone becomes a pseudonym":     {"jane@site.example", alone},
		"in brackets too":                          {" <jane@site.example> ", alone},
		"in capitals it is the same person":        {"JANE@Site.Example", alone},
		"as a mailto address too":                  {"mailto:jane@site.example", alone},
		"an address and punctuation is not a name": {"<jane@site.example>,", alone},
		"nothing": {"", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := p.name(tt.field); got != tt.want {
				t.Errorf("name(%q) = %q, want %q", tt.field, got, tt.want)
			}
		})
	}
	if !regexp.MustCompile(`^member-[0-9a-f]{12}$`).MatchString(alone) {
		t.Errorf("pseudonym %q", alone)
	}
	if other := (People{salt: []byte("salt")}).Pseudonym("jane@site.example"); other == alone {
		t.Error("another salt gives the same pseudonym")
	}
}

func TestMaskDataKeepsOrderAndNumbers(t *testing.T) {
	p := People{}
	in := `{"z":12345678901234567890,"a":["Jane <jane@site.example>","see jane@site.example"],` +
		`"h":{"j@site.example":null},"pkg":"@s/p@1.2.3","q":"say \"hi\" \u003cj@site.example\u003e",` +
		`"u":"j\u0040site.example"}`
	want := `{"z":12345678901234567890,"a":["Jane","see [email hidden]"],"h":{"[email hidden]":null},` +
		`"pkg":"@s/p@1.2.3","q":"say \"hi\" [email hidden]","u":"[email hidden]"}`
	if got := string(p.maskData([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
