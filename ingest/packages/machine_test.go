package packages

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestPrecedence(t *testing.T) {
	order := strings.Fields(
		"1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 " +
			"v1.9.0 1.10.0 1.10.0+a 1.10.0+b 2.0.0-0 99999999999999999999.0.0")
	for i, a := range order {
		for j, b := range order {
			x, ok := parseVersion(a)
			y, also := parseVersion(b)
			if !ok || !also {
				t.Fatalf("%s or %s is not a version", a, b)
			}
			if got := compare(x, y); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	for _, text := range strings.Fields(
		"1 1.2 v1 v1.2 1.2.3.4 01.2.3 1.02.3 1.2.3-01 1.2.3- 1.2.3-a..b 1.2.3-ä latest vv1.2.3 V1.2.3 =1.2.3 1.2.3_1 " +
			"-1.2.3 1.2.3+ 1.2.x") {
		if v, ok := parseVersion(text); ok {
			t.Errorf("%q is version %v", text, v)
		}
	}
	if _, ok := parseVersion(""); ok {
		t.Error("nothing is a version")
	}
}

// write puts files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNpmrc(t *testing.T) {
	text := "\ufeff; registry=https://comment.example.org\n# registry=x\r\nregistry = https://a.example.org/ ; " +
		"ours\r\n@scope:registry=\"https://b.example.org/x#y\"\n" +
		"//b.example.org/:_authToken=${TOKEN}\n//c.example.org/:_authToken=${MISSING}\nempty=${MISSING?}\nlist[] = " +
		"1\n[section]\nsingle='a;b'\nescaped=a\\;b\\#c\n${NAME}=x\nflag\n=y\n  spaced  =  z  \n"
	want := npmrc{
		"registry": "https://a.example.org/", "@scope:registry": "https://b.example.org/x#y",
		"//b.example.org/:_authToken": "secret", "//c.example.org/:_authToken": "${MISSING}",
		"empty": "", "single": "a;b", "escaped": "a;b#c", "named": "x", "spaced": "z",
	}
	if diff := cmp.Diff(want, parseNpmrc([]byte(text),
		map[string]string{"TOKEN": "secret", "NAME": "named"})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNPMRegistry covers each place that npm is configured in.
func TestNPMRegistry(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	m := machine{env: map[string]string{}, home: home, root: root}
	registry := func(want string) {
		t.Helper()
		c, err := m.npm()
		if err != nil {
			t.Fatal(err)
		}
		u, err := c.registry("@causeway/sdk")
		switch {
		case want == "" && !errors.Is(err, errNoNPMRegistry):
			t.Errorf("%v, %v", u, err)
		case want != "" && (err != nil || u.Host != want):
			t.Errorf("%v, %v; want %s", u, err, want)
		}
	}
	registry("")
	write(t, root, map[string]string{"etc/npmrc": "registry=https://etc.example.org"})
	registry("etc.example.org")
	write(t, root, map[string]string{"usr/local/etc/npmrc": "registry=https://all.example.org",
		"user": "registry=https://userconfig.example.org", "global": "registry=https://globalconfig.example.org"})
	registry("all.example.org")
	m.env["NPM_CONFIG_GLOBALCONFIG"] = filepath.Join(root, "global")
	registry("globalconfig.example.org")
	write(t, home, map[string]string{".npmrc": "registry=https://home.example.org"})
	registry("home.example.org")
	m.env["npm_config_userconfig"] = filepath.Join(root, "user")
	registry("userconfig.example.org")
	m.project = fstest.MapFS{".npmrc": {Data: []byte("registry=https://project.example.org")}}
	registry("project.example.org")
	m.env["NPM_CONFIG_REGISTRY"] = ""
	registry("project.example.org")
	m.env["NPM_CONFIG_REGISTRY"] = "https://env.example.org"
	registry("env.example.org")
	m.env["npm_config_@causeway:registry"] = "https://scope.example.org"
	registry("scope.example.org")
}

func TestAuthorization(t *testing.T) {
	c := npmrc{
		"//a.example.org/deep/er/:_authToken": "deeper", "//a.example.org/deep/:_authToken": "deep",
		"//a.example.org/:_authToken": "root", "//a.example.org:8443/:_authToken": "port",
		"//b.example.org/:_auth": "YTpi", "//c.example.org:username": "ada", "//c.example.org:_password": "cXVheQ==",
		"//d.example.org/:_authToken": "${MISSING}",
		"//e.example.org/:_authToken": "two\nlines", "_authToken": "anywhere",
	}
	for registry, want := range map[string]string{
		"https://a.example.org/deep/er/": "Bearer deeper", "https://a.example.org/deep/er": "Bearer deeper",
		"https://a.example.org/deep/other": "Bearer deep", "https://a.example.org/deeper": "Bearer root",
		"https://a.example.org": "Bearer root", "https://a.example.org:8443/x": "Bearer port",
		"https://b.example.org/x/y": "Basic YTpi", "https://c.example.org/": "Basic YWRhOnF1YXk=",
		"https://d.example.org": "", "https://e.example.org": "", "https://f.example.org": "",
		"https://example.org": "",
	} {
		u, err := url.Parse(registry)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.authorization(u); got != want {
			t.Errorf("%s: %q, want %q", registry, got, want)
		}
	}
}

func TestChallenges(t *testing.T) {
	got := parseChallenges([]string{
		`Basic realm="a, \"b\"", Bearer realm="https://auth.example.org/token?x=1",service=registry , scope="repository:a/b:pull,push"`, `Negotiate`, `, ,`, `"x"`, `Bearer`,
	})
	want := []challenge{
		{"basic", map[string]string{"realm": `a, "b"`}},
		{"bearer", map[string]string{"realm": "https://auth.example.org/token?x=1", "service": "registry",
			"scope": "repository:a/b:pull,push"}},
		{"negotiate", map[string]string{}}, {"bearer", map[string]string{}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(challenge{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRepository(t *testing.T) {
	const want = "https://forge.example.org/a/b"
	for _, text := range []string{
		`"git+https://forge.example.org/a/b.git"`, `"git://forge.example.org/a/b.git"`,
		`"ssh://git@forge.example.org:22/a/b.git"`, `"git+ssh://git@forge.example.org/a/b.git#main"`,
		`"git@forge.example.org:a/b.git"`, `{"type": "git", "url": "https://ada:secret@forge.example.org/a/b?x=1"}`,
		`" https://forge.example.org/a/b/ "`,
	} {
		if got := repository(json.RawMessage(text)); got != want {
			t.Errorf("%s is %q", text, got)
		}
	}
	for text, want := range map[string]string{
		`"github:a/b"`: "https://github.com/a/b", `"a/b"`: "https://github.com/a/b",
		`"gitlab:a/b#x"`: "https://gitlab.com/a/b", `"gist:123"`: "", `""`: "", `7`: "", `{}`: "",
		`"file:///etc/passwd"`:  "",
		`"javascript:alert(1)"`: "", `"a/b/c/d"`: "", "": "",
	} {
		if got := repository(json.RawMessage(text)); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func FuzzNpmrc(f *testing.F) {
	for _, text := range []string{"registry=https://a.example.org", "a = \"b\\", "=", "${A}=${${A}}", "'=\"", "x='",
		"a=\\", "\xff=\x00", "//[::1]/:_authToken=x", "@s:registry=http://%zz", "registry=${HOME?}", "a=;\nb=#"} {
		f.Add(text, "@s/p")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		c := parseNpmrc([]byte(text), map[string]string{"A": "registry", "HOME": "https://b.example.org/x"})
		u, err := c.registry(name)
		if err != nil {
			return
		}
		if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%q leads to %s", text, u)
		}
		if auth := c.authorization(u); strings.ContainsFunc(auth, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q is sent %q", text, auth)
		}
	})
}

func FuzzVersion(f *testing.F) {
	for _, text := range []string{"1.2.3", "v1.2.3-rc.1+b", "1.2", "1.2.3-0a", "99999999999999999999999999.0.0", "",
		"v", "1..2", "1.2.3-", "\xff"} {
		f.Add(text, "1.2.3-alpha", "v0.0.1")
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		x, xok := parseVersion(a)
		y, yok := parseVersion(b)
		z, zok := parseVersion(c)
		if !xok || !yok || !zok {
			return
		}
		if compare(x, y) != -compare(y, x) || (compare(x, y) == 0) != (a == b) {
			t.Errorf("%q and %q: %d, %d", a, b, compare(x, y), compare(y, x))
		}
		if compare(x, y) <= 0 && compare(y, z) <= 0 && compare(x, z) > 0 {
			t.Errorf("%q, %q, %q are in no order", a, b, c)
		}
	})
}

func FuzzPackument(f *testing.F) {
	for _, text := range []string{
		`{"name": "a", "dist-tags": {"latest": "1.0.0", "x": 5}, "versions": {"1.0.0": {"name": "a", "version": "1.0.0", "deprecated": true, "license": ["MIT"], "dependencies": [], "dist": {"unpackedSize": -1}}}, "time": {"1.0.0": "2031-01-01T00:00:00.000Z"}}`,
		`{"name": "a", "time": {"unpublished": {}}}`, `{"name": "a", "versions": []}`, `{"name": 1}`,
		`{"name": "a", "versions": {"1.0.0": null}}`, `[]`, `null`, `{"error": "not found"}`,
		`{"name": "a", "versions": {"1.0.0": {"licenses": {"type": "MIT"}, "repository": "github:a/b", "homepage": "x", "description": "\ud800"}}, "readme": 7}`, `{`,
	} {
		f.Add([]byte(text))
	}
	r := &run{opts: settings{NPMPage: "https://p.example.org/{name}/{version}"}}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePackument(data)
		if err != nil {
			return
		}
		for _, v := range p.versions(2, 2) {
			e, err := r.npmEntry(p, v)
			if err == nil && (!json.Valid(e.Record.Data) || e.Record.Key != "npm:"+p.name+"@"+v.text ||
				e.Record.Body == "") {
				t.Errorf("%+v", e.Record)
			}
		}
	})
}

func FuzzChallenges(f *testing.F) {
	for _, text := range []string{`Bearer realm="https://a.example.org/t",service="x"`, `Basic`, `Bearer realm="`,
		`a=b`, `Bearer ,,= x="\`, "\xff", `Bearer a="b" Basic c=d`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range parseChallenges([]string{text}) {
			if c.scheme == "" || c.parameters == nil {
				t.Errorf("%q is %+v", text, c)
			}
		}
	})
}
