package releases

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestErrorText(t *testing.T) {
	for name, c := range map[string]struct {
		printed, want string
		identifiers   []string
	}{
		"a message": {"connection refused", "connection refused", nil},
		"Java": {"2030-05-01T10:11:12.123Z [node-3] ERROR c.Store - Migration " +
			"stopped\njava.lang.IllegalStateException: POOL_EMPTY(9,a1b2c3): waited 30 s\n" +
			"\tat com.tide.Pool.acquire(Pool.scala:112)\n\tat " +
			"java.base/java.lang.Thread.run(Thread.java:833)\nCaused by: too many connections\n\t... 12 more",
			"c.Store Migration stopped java.lang.IllegalStateException: POOL_EMPTY waited 30 s Caused by: too many " +
				"connections",
			[]string{"IllegalStateException", "POOL_EMPTY"}},
		"Python": {"Traceback (most recent call last):\n  File \"/home/ida/app.py\", line 3, in " +
			"<module>\nledger.StaleOffsetError: offset 7 is pruned",
			"ledger.StaleOffsetError: offset 7 is pruned", []string{"StaleOffsetError"}},
		"Go": {"panic: runtime error: index out of range [5]\n\ngoroutine 1 [running]:\nmain.book(0x14000102000, " +
			"0x5)\n\t/home/ida/main.go:12 +0x1d\nmain.main()\n\t/home/ida/main.go:7 +0x20\nexit status 2",
			"panic: runtime error: index out of range [5] exit status 2", nil},
		"JavaScript": {"TypeError: moor is not a function\n    at Harbour.berth (/srv/app/harbour.js:10:5)\n    at " +
			"async /srv/app/index.js:3:1",
			"TypeError: moor is not a function", []string{"TypeError"}},
		"Rust": {
			"thread 'main' panicked at 'no quay', src/main.rs:4:5\nstack backtrace:\n   0: rust_begin_unwind\n   1: " +
				"0x55d0 - harbour::berth\n", "thread 'main' panicked at 'no quay', src/main.rs:4:5 0: rust_begin_unwind", nil},
		"a path keeps its file's name": {"cannot read /etc/tide/node.conf:33: no such file; C:\\tide\\a.log",
			"cannot read node.conf: no such file; a.log", nil},
		"an address of an API is none": {"POST /v2/commands/submit: 404", "POST /v2/commands/submit: 404", nil},
		"what differs each time": {
			"request 6ba7b810-9dad-11d1-80b4-00c04fd430c8 of 1220aabbccddeeff00112233 at 10:11:12 failed",
			"request of at failed", nil},
		"lines once":                {"retry\nretry\nretry ERR-17", "retry retry ERR-17", []string{"ERR-17"}},
		"colours and control signs": {"\x1b[31merror\x1b[0m:\x00 x", "error: x", nil},
		"operators of searches": {"\"kind:doc\" -moor --fast Source:kind:x", "kind doc moor fast Source kind x",
			nil},
		"nothing but frames": {"\tat com.tide.Pool.acquire(Pool.scala:112)", "at com.tide.Pool.acquire(Pool.scala:112)",
			nil},
		"nothing": {" \n\t", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text, identifiers := errorText(c.printed)
			if text != c.want || !slices.Equal(identifiers, c.identifiers) {
				t.Errorf("%q %q\nwant %q %q", text, identifiers, c.want, c.identifiers)
			}
		})
	}
	long, _ := errorText(strings.Repeat("the ship did not come ", 100) + "SHIP_LOST")
	if n := utf8.RuneCountInString(long); n > 1_010 || !strings.HasSuffix(long, " SHIP_LOST") {
		t.Errorf("a long text: %d characters, ends %q", n, long[len(long)-20:])
	}
}

// FuzzErrorText holds that the text is bounded, is one line of valid characters,
// and has every identifier.
func FuzzErrorText(f *testing.F) {
	f.Add("ERROR POOL_EMPTY(9,a1b2): no connection\n\tat a.B.c(D.java:1)\n")
	f.Add("\x1b[31m\xff-kind:doc \"x\" /home/a/b.go:1:2")
	f.Add(strings.Repeat("A_B ", 400))
	f.Fuzz(func(t *testing.T, printed string) {
		text, identifiers := errorText(printed)
		if n := utf8.RuneCountInString(text); n > 1_000+12*81 || !utf8.ValidString(text) || len(identifiers) > 12 {
			t.Errorf("%d characters, %d identifiers: %q", n, len(identifiers), text)
		}
		if strings.ContainsFunc(text, unicode.IsControl) || strings.TrimSpace(text) != text {
			t.Errorf("not one line: %q", text)
		}
		for _, id := range identifiers {
			if !strings.Contains(text, id) {
				t.Errorf("without %s: %q", id, text)
			}
		}
	})
}
