package mail

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestReadLetter(t *testing.T) {
	const boundary = "Content-Type: multipart/mixed; boundary=\"=_x\"\n\n"
	tests := map[string]struct {
		raw   string
		want  string
		files []string
		fault bool
	}{
		"plain":         {raw: "From: a@b.example\n\nRaise the flag.\n", want: "Raise the flag."},
		"no header":     {raw: "\nText.\n", want: "Text."},
		"windows lines": {raw: crlf("Subject: x\n\nOne.\n\nTwo.\n"), want: "One.\n\nTwo."},
		"quoted-printable": {
			raw: "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: " +
				"quoted-printable\n\nCaf=E9 =93ouvert=94, a long=\n line", want: "Café “ouvert”, a long line"},
		"base64": {
			raw: "Content-Type: text/plain; charset=\"UTF-8\"\nContent-Transfer-Encoding: " +
				"BASE64\n\nR3LDvMOfZSBhdXMg\n SGFtYnVyZw==\n", want: "Grüße aus Hamburg"},
		"koi8-r": {
			raw: "Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: " +
				"8bit\n\n\xf0\xd2\xc9\xd7\xc5\xd4\n", want: "Привет"},
		"iso-2022-jp":        {raw: "Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B3&\x1b(B\n", want: "界"},
		"gb2312":             {raw: "Content-Type: text/plain; charset=gb2312\n\n\xc4\xe3\xba\xc3\n", want: "你好"},
		"a lie about utf-8":  {raw: "Content-Type: text/plain; charset=us-ascii\n\nna\xc3\xafve\n", want: "naïve"},
		"a lie about ascii":  {raw: "Content-Type: text/plain; charset=utf-8\n\nna\xefve\n", want: "naïve"},
		"a made-up charset":  {raw: "Content-Type: text/plain; charset=x-unknown-8bit\n\nna\xefve\n", want: "naïve"},
		"a made-up encoding": {raw: "Content-Transfer-Encoding: 8-bits\n\nText.\n", want: "Text."},
		"broken base64":      {raw: "Content-Transfer-Encoding: base64\n\nSGVsbG8h!!!!\n", want: "Hello!", fault: true},
		"flowed": {
			raw:  "Content-Type: text/plain; format=flowed\n\nA long \nline.\n> quoted \n> too\n From here.\n-- \nAda\n",
			want: "A long line.\n> quoted too\nFrom here.",
		},
		"alternatives": {
			raw: "Content-Type: multipart/alternative; boundary=b\n\npreamble\n--b\nContent-Type: " +
				"text/plain\n\nPlain.\n--b\nContent-Type: text/html\n\n<p>Rich.</p>\n--b--\nepilogue\n",
			want: "Plain.",
		},
		"html": {
			raw: "Content-Type: text/html; " +
				"charset=utf-8\n\n<html><head><style>p{}</style></head><body><table><tr><td><p>See <a " +
				"href=\"https://x.example/a\">it</a>.</p><ul><li>one<li>two</ul></td></tr></table><div " +
				"class=\"gmail_quote\"><div>On Mon, B " +
				"wrote:</div><blockquote>old</blockquote></div><div>after</div></body></html>",
			want: "See [it](https://x.example/a).\n\n- one\n- two\n\nafter",
		},
		"an empty plain part": {
			raw: "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n " +
				"\n--b\nContent-Type: text/html\n\n<p>Rich &amp; full.</p>\n--b--\n",
			want: "Rich & full.",
		},
		"attachments": {
			raw: boundary + "--=_x\nContent-Type: multipart/related; boundary=y\n\n--y\n\nSee the " +
				"file.\n--y\nContent-Type: image/png; name=\"=?utf-8?q?k=C3=A4se=2Epng?=\"\nContent-Disposition: " +
				"inline\n\nx\n--y--\n" +
				"--=_x\nContent-Type: application/pdf\nContent-Disposition: attachment; " +
				"filename*=utf-8''fee%20model.pdf\n\nJVBERi0=\n--=_x\nContent-Type: text/plain\nContent-Disposition: " +
				"attachment; filename=\"C:\\notes\\log.txt\"\n\nnoise\n" +
				"--=_x\nContent-Type: message/rfc822\n\nSubject: x\n\ninner\n--=_x\nContent-Type: " +
				"application/pgp-signature\n\nx\n--=_x--\n",
			want: "See the file.", files: []string{"käse.png", "fee model.pdf", "log.txt", "message/rfc822"},
		},
		"a part that never ends": {raw: boundary + "--=_x\n\nText.\n", want: "Text.", fault: true},
		"no boundary":            {raw: "Content-Type: multipart/mixed\n\nText.\n", fault: true},
		"a footer of parts": {raw: boundary +
			"--=_x\n\nText.\n--=_x\nContent-Type: " +
			"text/plain\n\n_______________________________________________\nTugs mailing list\n--=_x--\n",
			want: "Text."},
		"what archives escape": {raw: "X: y\n\nHello.\n>From here on.\n>>From there.\nEnd.\n",
			want: "Hello.\nFrom here on.\n>From there.\nEnd."},
		"mistakes in the header": {
			raw: ">From someone Mon May  5 10:00:00 2031\nSubject : x\nthis is no field\n folded\nContent-Type: " +
				"text/html\n\n<p>a</p>\n", want: "a"},
		"a header without an end": {raw: "Subject: x\nFrom: y", want: ""},
		"a parameter given twice": {
			raw: "Content-Type: text/plain; charset=koi8-r; Charset=utf-8\nContent-Transfer-Encoding: base64\n\n" +
				"8NLJ18XU\n", want: "Привет"},
		"a boundary given twice": {
			raw: "Content-Type: multipart/mixed; boundary=b; boundary=c\n\n--b\nContent-Type: text/plain;; " +
				"charset=\"utf-8\n\nOne.\n--c\nTwo.\n--b--\n", want: "One.\n--c\nTwo."},
		"no semicolon before a parameter": {raw: "Content-Type: text/html charset=utf-8\n\n<p>é</p>\n", want: "é"},
		"a bare word among parameters": {
			raw: "Content-Type: multipart/mixed; boundary=\"b \"; report\n\n--b\nContent-Type: application/x-log; " +
				"name=low tide.log; broken\n\nx\n--b \nContent-Disposition: attachment;;filename=\"a\\\"b.txt\"\n\nx\n" +
				"--b\n\nText.\n--b--", want: "Text.", files: []string{"low tide.log", `a"b.txt`}},
		"faults of quoted-printable stay": {
			raw:  "Content-Transfer-Encoding: \"Quoted-Printable\"\n\n5 = five, a=zz \f=c3=A9=  \n and more  \n=\n=3\n",
			want: "5 = five, a=zz \fé and more\n=3"},
		"text below base64": {
			raw:  "Content-Transfer-Encoding: base64\n\nSGVsbG8=\n____________________\nTugs mailing list\n",
			want: "Hello", fault: true},
		"an encoding by its code page": {
			raw: "Content-Type: text/plain; charset='CP936'\n\n\xc4\xe3\xba\xc3\n", want: "你好"},
		"an encoding with underscores": {
			raw: "Content-Type: text/plain; charset=iso_8859_5\n\n\xbf\xe0\xd8\xd2\xd5\xe2\n", want: "Привет"},
		"a boundary that only the text names": {
			raw: "Content-Type: multipart/mixed\n\n--=_y\nContent-Type: text/plain\n\nText.\n--=_y--\n", want: "Text."},
		"a part without the line before its text": {
			raw: boundary + "--=_x\nThe gate is open.\n--=_x--\n", want: "The gate is open."},
		"an inner multipart that does not end": {
			raw: boundary + "--=_x\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\nOne.\n--=_x\n\nTwo.\n" +
				"--=_x--\n", want: "One.\n\nTwo."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := readLetter(bufio.NewReader(strings.NewReader(tt.raw)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, l.text); diff != "" {
				t.Errorf("text (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.files, l.attachments); diff != "" || (l.fault != nil) != tt.fault {
				t.Errorf("files (-want +got)\n%s\nfault %v, want %t", diff, l.fault, tt.fault)
			}
		})
	}
}

func TestOwnText(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a message below": {
			"Yes.\n\nOn Mon, 5 May 2031 at 10:00, Bram Reed\n<bram@kelp.example> wrote:\n\n> Is it?\n>> Maybe.\n",
			"Yes."},
		"close to it": {"Yes.\nOn Monday Bram wrote:\n> Is it?", "Yes."},
		"in German":   {"Ja.\n\nAm 5. Mai schrieb Bram Reed:\n> Ist es so?", "Ja."},
		"answers in between": {"On Monday Bram wrote:\n> One?\nYes.\n> Two?\nNo.\n",
			"On Monday Bram wrote:\n> One?\nYes.\n> Two?\nNo."},
		"only a message": {"> All of it.\n", "> All of it."},
		"outlook": {
			"Agreed.\n\nFrom: Bram Reed\nSent: Monday, 5 May 2031 10:00\nTo: tugs\nSubject: Buoys\n\nIs it?",
			"Agreed."},
		"outlook, older": {"Agreed.\n\n-----Original Message-----\nFrom: Bram", "Agreed."},
		"a signature":    {"Text.\n-- \nAda Quay\n+44 1234", "Text."},
		"the list's footer": {
			"Text.\n\n-=-=-=-=-=-=-=-=-=-=-=-\nLinks: You receive all messages sent to this group.\nView/Reply " +
				"Online (#12): https://x.example/12", "Text."},
		"sections between rules": {
			"One.\n\n____________________\n\nTwo.\n\n____________________\n\nThree.\n",
			"One.\n\n____________________\n\nTwo.\n\n____________________\n\nThree."},
		"sections between hyphens": {"One.\n--\nTwo.\n--\nThree.", "One.\n--\nTwo.\n--\nThree."},
		"a rule, a signature and a footer": {
			"One.\n____________________\nTwo.\n-- \nAda Quay\n\nFoghorn Labs\n\n____________________\nTugs mailing list -- " +
				"tugs@lists.example\nTo unsubscribe send an email to tugs-leave@lists.example\n",
			"One.\n____________________\nTwo."},
		"a footer between rules": {
			"Text.\n\n--------------------\nTo unsubscribe, e-mail: tugs-request@lists.example\n--------------------\n",
			"Text."},
		"a footer as a signature": {"Text.\n-- \nAda\n\n-- \nYou received this message because you are a tug.\n", "Text."},
		"a signature above a message": {
			"Yes.\n\n-- \nAda\n\nOn Monday Bram wrote:\n> Is it?\n\n____________________\nTugs mailing list", "Yes."},
		"much below a signature": {"Text.\n-- \n" + strings.Repeat("A line.\n", 30),
			"Text.\n-- \n" + strings.TrimSpace(strings.Repeat("A line.\n", 30))},
		"text below a patch": {
			"See this.\n\nFrom: Ada\nDate: Monday\nSubject: [PATCH] gate\n\n gate.c | 2 +-\n\n-- \n2.47.1\n\nThe gate stays " +
				"shut.\n\n-- \nAda",
			"See this.\n\nFrom: Ada\nDate: Monday\nSubject: [PATCH] gate\n\n gate.c | 2 +-\n\n-- \n2.47.1\n\nThe gate stays " +
				"shut."},
		"a patch":             {"See this.\n\n---\n gate.c | 2 +-\n\n-- \n2.47.1\n", "See this.\n\n---\n gate.c | 2 +-"},
		"a line of a program": {"Text.\n\nSent from my phone\n\nOn Monday Bram wrote:\n> Is it?", "Text."},
		"answers below its line": {"Sent from my phone, and it rains.\n\nText.",
			"Sent from my phone, and it rains.\n\nText."},
		"a span of dates": {"From: Monday\nTo: Friday\n\nThe gate is shut.",
			"From: Monday\nTo: Friday\n\nThe gate is shut."},
		"nothing but a message of Outlook": {"From: Bram\nSent: Monday\nTo: tugs\nSubject: Buoys\n\nIs it?",
			"From: Bram\nSent: Monday\nTo: tugs\nSubject: Buoys\n\nIs it?"},
		"signed in the clear": {
			"Hello.\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nTwo points:\n- - One.\n- - Two.\n" +
				"-----BEGIN PGP SIGNATURE-----\nVersion: x\n\niQEzBAEB\n=AbCd\n-----END PGP SIGNATURE-----\n\nBye.\n",
			"Hello.\n\nTwo points:\n- One.\n- Two.\n\nBye."},
		"signed in the clear, with a signature": {
			"-----BEGIN PGP SIGNED MESSAGE-----\n\nText.\n- -- \nAda\n-----BEGIN PGP SIGNATURE-----\n\niQ\n" +
				"-----END PGP SIGNATURE-----", "Text."},
		"signed in a quotation": {
			"> -----BEGIN PGP SIGNED MESSAGE-----\n> Hash: SHA256\n>\n> One?\nYes.\n> -----BEGIN PGP SIGNATURE-----\n>\n" +
				"> iQEzBAEB\n> -----END PGP SIGNATURE-----\nBye.", ">\n> One?\nYes.\nBye."},
		"signed and cut off": {"-----BEGIN PGP SIGNED MESSAGE-----\n\nOne.\n-----BEGIN PGP SIGNATURE-----\niQ",
			"One.\n-----BEGIN PGP SIGNATURE-----\niQ"},
		"gaps":                {"\n\nA\n\n\n\n\nB \u00a0\n", "A\n\nB"},
		"a letter's From":     {"From: the keeper\nI write to you.", "From: the keeper\nI write to you."},
		"a question is asked": {"As Bram wrote:\n\nit is late.", "As Bram wrote:\n\nit is late."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, own(tt.text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSender(t *testing.T) {
	for from, want := range map[string]person{
		"Ada Quay <ada@foghorn.example>":                        {"Ada Quay", "ada@foghorn.example"},
		"\"Quay, Ada\" <ada@foghorn.example>":                   {"Quay, Ada", "ada@foghorn.example"},
		"Quay, Ada <ada@foghorn.example>":                       {"Quay, Ada", "ada@foghorn.example"},
		"=?iso-8859-1?Q?Ren=E9?= <r@foghorn.example>":           {"René", "r@foghorn.example"},
		"=?utf-8?B?w4lsw6k=?=\n =?utf-8?B?dmU=?= <e@x.example>": {"Éléve", "e@x.example"},
		"Ren\xe9 <r@foghorn.example>":                           {"René", "r@foghorn.example"},
		"ada at foghorn.example (Ada Quay)":                     {"Ada Quay", "ada@foghorn.example"},
		"ada@foghorn.example (Ada Quay)":                        {"Ada Quay", "ada@foghorn.example"},
		"ada@foghorn.example":                                   {"", "ada@foghorn.example"},
		"\"ada@foghorn.example\" <ada@foghorn.example>":         {"", "ada@foghorn.example"},
		"Ada Quay via tugs <tugs@lists.example>":                {"Ada Quay", ""},
		"\"'Ada Quay' via lists\" <tugs@lists.example>":         {"Ada Quay", ""},
		"Ada Quay": {"Ada Quay", ""},
		"":         {},
		"<>":       {"<>", ""},
	} {
		if got := sender(readHeader([]byte("From: " + from + "\n"))); got != want {
			t.Errorf("%q: %+v, want %+v", from, got, want)
		}
	}
}

func TestSubject(t *testing.T) {
	for raw, want := range map[string]struct {
		base  string
		reply bool
	}{
		"Buoys":                                  {"Buoys", false},
		"[tugs] Buoys":                           {"Buoys", false},
		"Re: [Tugs] RE[2]: AW: [EXTERNAL] Buoys": {"Buoys", true},
		"Fwd: Buoys":                             {"Buoys", false},
		"[draft] Buoys":                          {"[draft] Buoys", false},
		"=?utf-8?q?Re=3A_Buo?= =?utf-8?q?ys?=":   {"Buoys", true},
		"Regarding: Buoys":                       {"Regarding: Buoys", false},
		"Re:":                                    {"", true},
		"回复：Buoys":                               {"Buoys", true},
		"Buoys\n and  tides":                     {"Buoys and tides", false},
		"=?x-none?q?a?= =?utf-8?q?b":             {"=?x-none?q?a?= =?utf-8?q?b", false},
	} {
		if base, reply := subject(readHeader([]byte("Subject: "+raw+"\n")), "tugs"); base != want.base ||
			reply != want.reply {
			t.Errorf("%q: %q, reply %t", raw, base, reply)
		}
	}
}

func TestSent(t *testing.T) {
	now := time.Date(2031, 6, 1, 0, 0, 0, 0, time.UTC)
	for raw, want := range map[string]string{
		"Date: Mon, 5 May 2031 10:00:00 +0200 (CEST)":                "2031-05-05T08:00:00Z",
		"Date: Mon, 05 May 2031 10:00:00 JST":                        "2031-05-05T01:00:00Z",
		"Date: Mon, 5 May 2031 10:00:00 +02:00":                      "2031-05-05T08:00:00Z",
		"Date: 5 May 2031 10:00 GMT":                                 "2031-05-05T10:00:00Z",
		"Date: Mon May  5 10:00:00 2031":                             "2031-05-05T10:00:00Z",
		"Date: 2031-05-05T10:00:00Z":                                 "2031-05-05T10:00:00Z",
		"Date: soon\nReceived: by x; Mon, 5 May 2031 11:00:00 +0000": "2031-05-05T11:00:00Z",
		"Date: Thu, 1 Jan 1970 00:00:00 +0000":                       "2031-05-04T09:08:07Z",
		"Date: Mon, 5 May 2131 10:00:00 +0000":                       "2031-05-04T09:08:07Z",
	} {
		if got := sent(readHeader([]byte(raw+"\n")), "From a at b  Sun May  4 09:08:07 2031",
			now); got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, want %s", raw, got.Format(time.RFC3339), want)
		}
	}
	if got := sent(readHeader(nil), "From x", now); !got.IsZero() {
		t.Errorf("no charset, but %s", got)
	}
}

func TestWhereMessagesBegin(t *testing.T) {
	const head, text = "From: a@b.example\nDate: Mon, 5 May 2031 10:00:00 +0000\n\n", "Text.\n\n"
	patch := "From " + strings.Repeat("3f", 20) + " Mon Sep 17 00:00:00 2001\n"
	for name, tt := range map[string]struct {
		mbox string
		want int
	}{
		"lines with less than a date": {"From \n" + head + text + "From -\r\n" + head + text +
			"From a@b.example\n" + head + text + "From MAILER-DAEMON\n" + head + text, 4},
		"the line of another program": {"From - Mon May  5 10:00:00 2031\n" + head + text, 1},
		"such lines in a text": {"From \n" + head + text + "From here\nDate: soon\n\nFrom - to b\n\n" +
			"From \nhere on\n", 1},
		"a patch in a text":            {"From \n" + head + text + patch + head + text + "From \n" + head, 2},
		"a file of patches":            {patch + head + text + patch + head + text, 2},
		"a long patch, many in a text": {"From -\n" + head + text + patch + head + text + patch + head + text, 1},
	} {
		n := 0
		if err := scan(strings.NewReader(tt.mbox), func(found) error { n++; return nil }); err != nil || n != tt.want {
			t.Errorf("%s: %d messages, %v; want %d", name, n, err, tt.want)
		}
	}
}

func FuzzReadLetter(f *testing.F) {
	for _, seed := range []string{
		"Content-Type: multipart/mixed; boundary=a\n\n--a\n\nx\n--a\nContent-Type: multipart/mixed; " +
			"boundary=a\n\n--a\n--a--", "Content-Type: multipart/mixed; boundary=\"\"\n\n----\n\n--",
		"Content-Type: text/html\n\n<div class=gmail_quote><div><table><td></div>x",
		"Content-Type: text/plain; format=flowed; delsp=yes\n\n> a \n>> b \n-- \n",
		"Content-Transfer-Encoding: base64\n\n=", "Content-Type: text/plain; charset=utf-16\n\n\x00",
		"Content-Disposition: attachment; filename*0=a; filename*1*=%ff\n\n", "From: =?utf-8?q?\n\n>From x\n>",
		": \n\n",
		"Content-Type: text/html; charset=iso-2022-jp\n\n\x1b$B",
		"Content-Transfer-Encoding: quoted-printable\n\n=\n=3",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := readLetter(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			t.Fatal(err)
		}
		base, _ := subject(l.header, "tugs")
		p := sender(l.header)
		for _, s := range append([]string{l.text, base, p.name, p.address, id(l.header)}, l.attachments...) {
			if !utf8.ValidString(s) && utf8.Valid(raw) {
				t.Errorf("%q is not UTF-8", s)
			}
		}
		if len(l.text) > 20*len(raw)+1000 {
			t.Errorf("%d bytes became %d", len(raw), len(l.text))
		}
		_ = sent(l.header, string(raw), time.Now())
	})
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"From a Mon May  5 10:00:00 2031\nFrom: a\n\nx\n\nFrom b Mon May  5 10:00:00 2031\nFrom: b\n\nFrom here at " +
			"10:00 in 2031\nit\n", "From a 10:00 2031\r\nA: b\r\n\r\n\r\nFrom a 10:00 2031\r\nA: b", "From ", "\n\n",
		"x",
		"From a 1:00 2031\n>From b 1:00 2031\nA: b\n\n" + strings.Repeat("x", 70_000) + "\n\nFrom a 1:00 2031\nA: b",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		end := int64(0)
		err := scan(bytes.NewReader(data), func(m found) error {
			if m.begin < end || m.offset < m.begin || m.offset+m.length > int64(len(data)) ||
				!bytes.HasPrefix(data[m.begin:], []byte("From ")) {
				return fmt.Errorf("message at %d, text at %d, %d long", m.begin, m.offset, m.length)
			}
			if end = m.offset + m.length; !bytes.HasPrefix(data[m.offset:], m.header) {
				return fmt.Errorf("header %q", m.header)
			}
			return nil
		})
		if err != nil && err != errNoMbox {
			t.Error(err)
		}
	})
}
