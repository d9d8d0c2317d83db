package webaddress_test

import (
	"strings"
	"testing"

	"almanac/text/webaddress"
)

func TestParse(t *testing.T) {
	const form, user, long = "begins with https://", "without a user", "at most 8192 bytes"
	for address, want := range map[string]string{
		"https://docs.example.org": "", "http://docs.example.org/a?b=c#d": "", "HTTPS://Docs.Example.org/": "",
		"https://127.0.0.1:8080/": "", "https://[::1]:8080/": "", "https://docs.example.org/{page}": "",
		"https://docs.example.org/a b": "", "https://例え.example/": "",
		"": form, "docs.example.org": form, "//docs.example.org": form, "/docs": form, "https:": form, "https://": form,
		"https:///docs": form, "https://:8080/": form, "https:docs.example.org": form, "https//docs.example.org": form,
		"ftp://docs.example.org": form, "javascript:alert(1)": form, "mailto:ada@example.org": form,
		"file:///etc/passwd": form, "git@docs.example.org:a/b": form, "ssh://git@docs.example.org/a": form,
		"https://docs example.org/": form, "https://docs.example.org/%zz": form, "https://docs.example.org/\x00": form,
		"https://docs.example.org:port/": form, "http://[fe80::1%25eth0]/": form, " https://docs.example.org": form,
		"https://ada@docs.example.org/": user, "https://ada:hush@docs.example.org/": user, "https://@docs.example.org/": user,
		"https://docs.example.org/" + strings.Repeat("a", 9000): long,
	} {
		u, err := webaddress.Parse(address)
		switch {
		case want == "" && (err != nil || u.Hostname() == ""):
			t.Errorf("%q: %v, %v", address, u, err)
		case want != "" && (u != nil || err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.60q: %v, %v; want %q", address, u, err, want)
		case err != nil && strings.Contains(err.Error(), "hush"):
			t.Errorf("the error holds a password: %v", err)
		}
		if checked := webaddress.Check(address); (checked == nil) != (err == nil) {
			t.Errorf("%q: Check says %v", address, checked)
		}
	}
}

func TestFill(t *testing.T) {
	const file, page = "https://forge.example.org/{repo}/{path}", "https://docs.example.org/{page}"
	for name, tt := range map[string]struct {
		template string
		values   map[string]string
		want     string
	}{
		"escaped": {file, map[string]string{"{repo}": "a/b", "{path}": "x y/{repo}?.md"},
			"https://forge.example.org/a/b/x%20y/%7Brepo%7D%3F.md"},
		"a missing value": {file, map[string]string{"{repo}": "a/b", "{path}": ""}, ""},
		"an optional one": {page, map[string]string{"{page}": ""}, "https://docs.example.org/"},
		"none":            {"", map[string]string{"{repo}": "a/b"}, ""},
	} {
		if got := webaddress.Fill(tt.template, tt.values, "{page}"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if err := webaddress.CheckTemplate(file, "{repo}"); err == nil || err.Error() != "unknown {path}; known are {repo}" {
		t.Error(err)
	}
	if err := webaddress.CheckTemplate(file, "{repo}", "{path}"); err != nil {
		t.Error(err)
	}
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{
		"https://Docs.Example.org/a": "docs.example.org", "http://docs.example.org:8080": "docs.example.org:8080",
		"ssh://git@code.example.org/a": "code.example.org", "docs/a": "", "": "", "https://a b": "",
	} {
		if got := webaddress.Host(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"A Model of the Tally": "a-model-of-the-tally", "--Tides (2nd ed.)--": "tides-2nd-ed", "潮": "", "": "",
		"a_b.c": "a-b-c",
	} {
		if got := webaddress.Slug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzParse holds that a web address written again is one, with the same host.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"https://docs.example.org/a?b=c#d", "http://[::1%25a]:80/", "https://a@b", "//a",
		"https://%41/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, err := webaddress.Parse(address)
		if err != nil {
			return
		}
		if host := webaddress.Host(address); u.User != nil || len(address) > webaddress.MaxLength ||
			!strings.EqualFold(host, u.Host) {
			t.Fatalf("%q is %+v of host %q", address, u, host)
		}
		again, err := webaddress.Parse(u.String())
		if err != nil && len(u.String()) <= webaddress.MaxLength || err == nil && again.Host != u.Host {
			t.Fatalf("%q is %q, which is %v, %v", address, u, again, err)
		}
	})
}
