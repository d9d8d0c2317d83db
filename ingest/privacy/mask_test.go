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
		"plain":                          {"write to jane@site.org today", "write to " + m + " today"},
		"at the end of a sentence":       {"Ask jane@site.org.", "Ask " + m + "."},
		"several":                        {"a@site.org, b@site.org", m + ", " + m},
		"with plus and dots":             {"jane.doe+list@mail.site.org", m},
		"in angle brackets":              {"Jane Doe <jane@site.org> wrote", "Jane Doe " + m + " wrote"},
		"quoted twice by a mail program": {`"list@site.org" <list@site.org> wrote`, m + " wrote"},
		"in parentheses":                 {"Jane (jane@site.org)", "Jane (" + m + ")"},
		"as a link with a name":          {"[Jane](mailto:jane@site.org) wrote", "Jane wrote"},
		"as a link to itself":            {"[jane@site.org](mailto:jane@site.org?subject=Hi)", m},
		"as a nested link":               {"([j@site.org](mailto:j@site.org)) ", "(" + m + ") "},
		"as an autolink":                 {"<mailto:jane@site.org>", m},
		"in HTML": {`<a href="mailto:jane@site.org">Jane</a>`, `<a href="mailto:` + m +
			`">Jane</a>`},
		"as an HTML entity": {"&lt;jane&#64;site.org&gt; j&commat;site.org", "&lt;" + m + "&gt; " +
			m},
		"escaped in an address": {"https://site.org/?to=jane%40site.org&x=1",
			"https://site.org/?to=" + m + "&x=1"},
		"with a full-width at sign":      {"jane＠site.org", m},
		"with (at)":                      {"jane (at) site.org", m},
		"with [AT] and [dot]":            {"jane [AT] site [dot] org", m},
		"with a markdown escape":         {`martin\_b@site.org and j\@site.org`, m + " and " + m},
		"in bold and code":               {"**jane@site.org** `j@site.org`", "**" + m + "** `" + m + "`"},
		"with an international domain":   {"josé@müller.org", m},
		"with a punycode domain":         {"j@xn--mller-kva.org", m},
		"as a list makes of others":      {"<jane=site.org@lists.site.org>", m},
		"after a key":                    {"emailAddress=jane@site.org\" \"DN", "emailAddress=" + m + "\" \"DN"},
		"before a hyphenated word":       {"jane@site.org-Founder", m + "-Founder"},
		"before a number":                {"jane@site.org.2 more", m + ".2 more"},
		"as the user of a web address":   {"https://jane@site.org/x", "https://" + m + "/x"},
		"without space around it":        {"联系jane@site.org吧", m + "吧"},
		"git as a person's role address": {"mail git@site.org for help", "mail " + m + " for help"},
		"broken after a dot":             {"<j@lists.\r\n  site.org> j=s.org@lists.\nsite.org\n> x", m + "\n> x"},
		"escaped twice":                  {"?to=jane%2540site%252eorg&x", "?to=" + m + "&x"},
		"with AT and DOT":                {"jane.doe AT site DOT org, jane AT site DOT co DOT uk", m + ", " + m},
		"with at and dot in lower case":  {"I am jane dot doe at site dot org now", "I am " + m + " now"},
		"with a service in its domain":   {"`ada.quay@port.service-desk.com` j@timer.slice.org", "`" + m + "` " + m},
		"under a domain of the country":  {"иван@почта.рф, x@例子.中国", m + ", " + m},
		"before a sentence glued on":     {"ask jane@site.org.Then wait", "ask " + m + ".Then wait"},
		"before words glued on":          {"jane@site.org에서 보낸", m + "에서 보낸"},
		"as a word before a colon":       {"jane@site.org:thanks jane@site.org:443 j@site.org: see a/b", m + ":thanks " + m + ":443 " + m + ": see a/b"},
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
		"units of systemd": "`systemctl start keeper@1.service` wg-quick@wg0.service daily@backup.timer getty@tty1.service " +
			"user@1000.slice, openvpn@client.de.service and docker@a.b.socket.",
		"hosts of a private network":  "ssh admin@node1.internal, ops@vault.local; jane@site.example",
		"a remote":                    "scp x deploy@web.site.org:/srv/x ada@web.site.org:report.pdf pi@site.org:~/x git@site.org-work:org/r.git",
		"the file of a domain's user": "User1@org1.site.org-cert.pem jane@site.com.yaml",
		"a scoped package version":    "npm install @scope/pkg@1.2.3",
		"a package version":           "user@1.2.3 and user@v1.4.0-rc.1 and pkg@1.x.y and pkg@2.0.beta",
		"a package tag":               "npx @scope/tool@latest",
		"an action's version":         "uses: some-actions/checkout@v4",
		"an image digest":             "host.example/img:1.0@sha256:a1d6c42f8b80842b71c05152c20fb21e",
		"a clone over ssh":            "git clone git@host.example:org/repo.git",
		"a clone by URL":              "ssh://git@host.example/org/repo and git+ssh://git@host.example/r",
		"a login by URL":              "ssh://deploy@host.example/x ftp://anonymous@files.example",
		"a database address":          "postgres://app:secret@db.site.example:5432/x",
		"an address by number":        "ssh root@10.0.0.1",
		"a realm without domain":      "CLIENT_ID@clients and Alice@Bank1",
		"a picture of double size":    "logo@2x.png icon@3x.webp",
		"a curl data file":            `-H "x: application/json" -d@create.json`,
		"a realm at a sentence's end": "as CLIENT_ID@clients.\nIf not so, CLIENT_ID@clients.\nin a file, CLIENT@realm.local.\nIn it",
		"an at sign alone":            "a @ b, @, @@, a@, @b",
		"a word in brackets":          "look (at) this [at] home",
		"a place in prose":            "Find us at site.org, look at site dot org, LOOK AT SITE DOT ORG",
		"a version at a place":        "3.1 AT site.org and version 2 at site dot org",
		"a time in SQL":               "select a.ts AT TIME ZONE b.tz",
		"a role by URL":               "ssh://deploy@site.org postgres://app@db.site.org/x redis://cache@site.org:6379",
	} {
		t.Run(name, func(t *testing.T) {
			if got := Mask(text); got != text {
				t.Errorf("Mask(%q) = %q", text, got)
			}
		})
	}
}

// plainAddress must not match masked text.
var plainAddress = regexp.MustCompile(`(?i)(?:^|[\s,;])[a-z0-9]{1,20}@[a-z0-9]{2,20}\.(?:com|org)(?:$|[\s,;])`)

func FuzzMask(f *testing.F) {
	for _, s := range []string{
		"jane@site.org", "[a](mailto:a@b.org)", "a (at) b (dot) org", "<<a@b.org>>@c.org",
		`"x"@y.org`,
		"a=b.org@c.org", "git@a.org:b", "%[40](mailto:b@x.org)", "a@a@a@a.org", "a%40b%40c.org",
		"\xffa@b.org",
		"x@<b@y.org>.org", "ssh://a@b.org", "＠＠a＠b.org", "a@b.org-", "&#64;a@b.c.d.e.fg",
		"a.b AT c DOT org", "a dot b at c dot org", "a@b dot c dot org dot d",
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
		if !strings.Contains(s, "@") && !strings.ContainsAny(s, `%&([{＠`) && !strings.Contains(strings.ToLower(s), " at ") &&
			got != s {
			t.Errorf("changed %q, which has no at sign, to %q", s, got)
		}
	})
}

func TestPeopleAreNamedWithoutTheirAddress(t *testing.T) {
	p := People{salt: []byte("pepper")}
	alone := p.Pseudonym("jane@site.org")
	tests := map[string]struct{ field, want string }{
		"a name stays":            {"Jane Doe", "Jane Doe"},
		"a handle stays":          {"@jane", "@jane"},
		"name and address":        {"Jane Doe <jane@site.org>", "Jane Doe"},
		"quoted name and address": {`"Doe, Jane" <jane@site.org>`, "Doe, Jane"},
		"address in parentheses":  {"Jane Doe (jane@site.org)", "Jane Doe"},
		"address first":           {"jane@site.org (Jane Doe)", "Jane Doe"},
		"address as a link": {"Jane Doe ([jane@site.org](mailto:jane@site.org))",
			"Jane Doe"},
		"name - address":                           {"Jane Doe - jane@site.org", "Jane Doe"},
		"several":                                  {"Jane <j@site.org>, Joe <joe@site.org>", "Jane, Joe"},
		"several, one without name":                {"Jane <j@site.org>, joe@site.org, Ann", "Jane, Ann"},
		"an address alone becomes a pseudonym":     {"jane@site.org", alone},
		"in brackets too":                          {" <jane@site.org> ", alone},
		"in capitals it is the same person":        {"JANE@Site.Org", alone},
		"as a mailto address too":                  {"mailto:jane@site.org", alone},
		"an address and punctuation is not a name": {"<jane@site.org>,", alone},
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
	if other := (People{salt: []byte("salt")}).Pseudonym("jane@site.org"); other == alone {
		t.Error("another salt gives the same pseudonym")
	}
}

func TestMaskDataKeepsKeysOrderAndNumbers(t *testing.T) {
	p := People{}
	in := `{"z":12345678901234567890,"a":["Jane <jane@site.org>","see jane@site.org"],` +
		`"h":{"j@site.org" : "j@site.org","k@site.org":null},"pkg":"@s/p@1.2.3","q":"say \"hi\" \u003cj@site.org\u003e",` +
		`"u":"j\u0040site.org"}`
	want := `{"z":12345678901234567890,"a":["Jane","see [email hidden]"],"h":{"j@site.org" : "[email hidden]",` +
		`"k@site.org":null},` +
		`"pkg":"@s/p@1.2.3","q":"say \"hi\" [email hidden]","u":"[email hidden]"}`
	if got := string(p.maskData([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
