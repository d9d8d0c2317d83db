package server

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestChoose(t *testing.T) {
	for accept, want := range map[string]Coding{
		"gzip, deflate, br, zstd": Zstd, "gzip": Gzip, "GZIP": Gzip, "*": Gzip,
		"*;q=0":                    Identity,
		"gzip; q=0.5, zstd; q=0.1": Gzip, "gzip;q=0, *": Identity, "": Identity,
		"br": Identity, "gzip;q=x": Identity, "identity;q=1, gzip;q=0.9": Identity,
	} {
		if got := ChooseCoding(accept, 10_000); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
	if got := ChooseCoding("gzip", 100); got != Identity {
		t.Errorf("a small body: %q", got)
	}
}

func TestEncode(t *testing.T) {
	body := []byte(strings.Repeat(`{"a":1},`, 1000))
	zr, err := gzip.NewReader(bytes.NewReader(Gzip.Encode(body)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(zr); err != nil || !bytes.Equal(got, body) {
		t.Errorf("gzip: %v", err)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got, err := d.DecodeAll(Zstd.Encode(body), nil); err != nil || !bytes.Equal(got, body) {
		t.Errorf("zstd: %v", err)
	}
	if got := Identity.Encode(body); !bytes.Equal(got, body) {
		t.Error("identity changes the body")
	}
}

func TestHas(t *testing.T) {
	for _, c := range []struct {
		header []string
		tag    string
		want   bool
	}{
		{[]string{`W/"a"`}, `W/"a"`, true}, {[]string{`"a"`}, `W/"a"`, true}, {[]string{`W/"a"`}, `"a"`, true},
		{[]string{`"b", W/"a" ,"c"`}, `"a"`, true}, {[]string{`"b"`, `"a"`}, `"a"`, true}, {[]string{"*"}, `"a"`, true},
		{[]string{`"ab"`}, `"a"`, false}, {[]string{`"a-gzip"`}, `"a"`, false}, {[]string{"a"}, `"a"`, false},
		{nil, `"a"`, false}, {[]string{""}, `"a"`, false},
	} {
		if got := has(http.Header{"If-None-Match": c.header}, c.tag); got != c.want {
			t.Errorf("%q has %s: %v", c.header, c.tag, got)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	body := []byte(strings.Repeat(`{"id":"0056","title":"An invented title","url":"https://kb.example/x"},`, 1000))
	for _, c := range []Coding{Gzip, Zstd} {
		b.Run(string(c), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				c.Encode(body)
			}
		})
	}
}
