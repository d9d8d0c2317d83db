package tally_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/api/tally"
)

func TestQueriesAreNormalised(t *testing.T) {
	for text, want := range map[string]string{
		"Token Standard":                 "token standard",
		"  token\t\nstandard ":           "token standard",
		"TOKEN\u00a0STANDARD":            "token standard",
		"to\u200bken stan\u00addard":     "token standard",
		"ｔｏｋｅｎ standard":                 "token standard",
		"Straße":                         "straße",
		"cafe\u0301":                     "café",
		"İstanbul":                       "istanbul",
		"token\x00standard":              "token standard",
		"token \xff standard":            "token standard",
		`"exact phrase" -not kind:doc`:   `"exact phrase" -not kind:doc`,
		"Was ist ein Validator?":         "was ist ein validator?",
		"検証者 とは":                         "検証者 とは",
		"CIP-0056":                       "cip-0056",
		strings.Repeat("the tide? ", 30): strings.TrimSpace(strings.Repeat("the tide? ", 30)),
	} {
		if got, ok := tally.Query(text); !ok || got != want {
			t.Errorf("%q is %q (%v), want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", " \t", "\u200b", "\x00", strings.Repeat("the tide? ", 31),
		strings.Repeat("検", 301)} {
		if got, ok := tally.Query(text); ok {
			t.Errorf("%.20q is counted as %q", text, got)
		}
	}
}

// secrets are made up; the longer ones are joined here, so that scanners of the
// repository do not take them for real.
var secrets = map[string][]string{
	"an e-mail address": {
		"alice@example.org", "who is Alice <alice.b+x@sub.example.co.uk>?", "mailto:a@b.io", "ALICE@EXAMPLE.ORG",
		"alice＠example.org", "alice%40example.org", "alice (at) example.org", "alice [at] example [dot] org",
		"al\u200bice@exam\u200bple.org", "root@localhost", "a@[10.0.0.1]", "jürgen@müller.de", "用户@例子.公司",
		"git clone git@forge.example:tide/pilot.git",
	},
	"a phone number": {
		"+49 30 901820", "+1 (202) 555-0143", "call 202-555-0143", "202.555.0143", "0049 30 1234567", "06 12 34 56 78",
		"+442071838750", "(030) 1234 5678", "tel:+15550100200",
	},
	"a card or account number": {
		"4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111", "378282246310005",
		"DE89 3704 0044 0532 0130 00",
		"ssn 078-05-1120", "account 123456789", "order (2030-01-02) 4111 1111 1111 1111",
	},
	"a key with a prefix": {
		"sk-" + "abcdefghijklmnopqrst", "sk_live" + "_4eC39HqLyjWDarj", "sk-proj" + "-Abc123def456", "sk-ant" +
			"-api03-xyzxyz",
		"ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "github_pat_" + "11ABCDEFG0abcdefghij", "glpat-" +
			"x9Yz_abcdefghijklm",
		"xoxb-" + "123456789012-abcdefghijkl", "AKIA" + "IOSFODNN7EXAMPLE", "akia" + "iosfodnn7example", "AIza" +
			"SyA1234567890abcdefghijklmnopqrstu",
		"npm_" + "abcdefghijklmnopqrstuvwx", "hf_" + "AbCdEfGhIjKlMnOp", "what is ghp_" +
			"16C7e42F292c6912E7710c838347Ae178B4a",
	},
	"a token": {
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJhbGciOi", "Bearer abc123",
		"Authorization: Basic dXNlcjpwYXNz",
		"authorization=x", "access_token=x", "-----BEGIN RSA PRIVATE KEY-----", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
		"token=abc", "api_key: 42", "api key = x",
		"https://user:pass@host/path", "postgres://u:p@db:5432/x", "https://x-oauth-token@forge.example/a",
		"curl -H 'secret: x'", `{"password":"hunter2"}`,
	},
	"a password": {
		"password: hunter2", "password=hunter2", "my password is hunter2", "pwd : x", "PIN: 1234", "Tr0ub4dor&3!",
		"P@ssw0rd2024",
		"passphrase=correct horse",
	},
	"a number in base 16": {
		"deadbeefdeadbeefdeadbeef", "0x00112233445566778899aabbccddeeff00112233",
		"1220d3adb33f1220d3adb33f1220d3adb33f",
		"party::1220aabbccddeeff00112233445566778899", "550e8400-e29b-41d4-a716-446655440000",
		"aa:bb:cc:dd:ee:ff:00:11",
		"AA:BB:CC:DD:EE:FF:00:11:22", "error 550e8400-e29b-41d4-a716-446655440000 in log",
	},
	"a random text": {
		"Zx8Qm2LpR7tVb4Nc9KsW", "dGhpcyBpcyBhIHNlY3JldCB0ZXh0", "k3j9x2m4p8q1z7w5v6n0", "JBSWY3DPEHPK3PXP",
		"aB3dE5fG7hI9jK1lM3nO", "qwjkzxvbnmpltrdsgfhc", "ABCD1-EFG2H-3IJKL-MN4OP", "a1b2-c3d4-e5f6-g7h8",
		"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvv",
	},
	"a seed phrase": {
		"legal winner thank year wave sausage worth useful legal winner thank yellow",
		"letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
		"1. legal 2. winner 3. thank 4. year 5. wave 6. sausage 7. worth 8. useful 9. legal 10. winner 11. thank 12. " +
			"yellow",
		"recover with Legal Winner thank year wave sausage worth useful legal winner thank yellow",
	},
	"an IP address": {"192.168.1.20", "why is 10.0.0.1 blocked", "2001:db8::1:2:3", "fe80:0:0:0:1"},
}

func TestSecretsAreNotCounted(t *testing.T) {
	for what, texts := range secrets {
		for _, text := range texts {
			if !tally.Private(text) {
				t.Errorf("%s: %q is not private", what, text)
			}
			if q, ok := tally.Query("where is " + text); ok {
				t.Errorf("%s: counted as %q", what, q)
			}
		}
	}
}

// TestRandomTextsAreRecognised measures the share of random tokens that are.
func TestRandomTextsAreRecognised(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	for name, alphabet := range map[string]string{
		"base 62": lower + strings.ToUpper(lower) + digits, "base 64": lower + strings.ToUpper(lower) + digits + "-_",
		"base 36": lower + digits, "base 32": strings.ToUpper(lower) + "234567", "letters": lower +
			strings.ToUpper(lower),
	} {
		for _, length := range []int{24, 32, 43} {
			const n = 500
			found := 0
			for range n {
				var token strings.Builder
				for range length {
					token.WriteByte(alphabet[random.IntN(len(alphabet))])
				}
				if tally.Private(token.String()) {
					found++
				}
			}
			share := float64(found) / n
			t.Logf("%s, %d characters: %.3f", name, length, share)
			if share < 0.85 || length > 32 && share < 0.97 {
				t.Errorf("%s, %d characters: %.3f are recognised", name, length, share)
			}
		}
	}
}

// TestQuestionsAreCounted holds that what people and programs ask is not taken
// for a secret.
func TestQuestionsAreCounted(t *testing.T) {
	for _, text := range []string{
		"token standard", "CIP-0056", "cip 56", "PR-203", "what does CIP-56 require?",
		"how do I rotate the keys of a validator",
		"private key management", "API key", "where do I get an API token", "reset password", "basic setup",
		"bearer token authentication",
		"secret sharing", "pin a version", "list_ecosystem_projects", "detect_cip_dependency_chain",
		"TransferPreapprovalProviderRenewal", "com.example.ledger.api.v2.CommandSubmissionService",
		"HoldingV1InstrumentIdView",
		"ALLOCATION_REQUEST_EXPIRED_ERROR", "splice-api-token-allocation-instruction-v1", "@tide/pilot", "pilot@1.2.3",
		"@tide/pilot@2.0.0-rc.1",
		"3.4.0-snapshot.20300501.13767.0.v2fc6c7e2", "1.2.3", "v0.4.12", "2030-05-15", "2030-05-15 12:00:00",
		"2030-05-15T12:00:00Z",
		"https://docs.example.org/pilot/berth?x=1#top", "docs/quickstart/validator-onboarding.md",
		"kind:doc source:docs",
		"error 503 service unavailable", "port 7575", "round 123456", "block 12345678", "1,000,000 tokens", "80 %",
		"C++", "a/b testing",
		"UNAVAILABLE: io exception", "java.lang.NullPointerException", "net::ERR_CONNECTION_REFUSED", "std::map<int>",
		"how long does the onboarding of a new super validator take and which steps are there for the sponsor",
		"validator onboarding docker compose traffic top up reward coupon featured app marker",
		"PACKAGE_NOT_VETTED(4,b07e11): mytoken:2.0.0 is not vetted by node jetty-3",
		"active authorization : who grants it",
		"sha256 fingerprint", "ed25519 signature", "base64 encoding", "internationalisation",
		"antidisestablishmentarianism",
		"gRPC ledger API GetActiveContracts", "Größe der Übertragung", "検証者のオンボーディング",
	} {
		if tally.Private(text) {
			t.Errorf("%q is private", text)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, texts := range secrets {
		for _, text := range texts {
			f.Add(text)
		}
	}
	f.Add("Token\u200b  Standard\xff")
	planted := []string{
		"alice@example.org", "4111 1111 1111 1111", "AKIA" + "IOSFODNN7EXAMPLE", "password=hunter2",
		"0123456789abcdef0123456789abcdef",
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, secret := range planted {
			if !tally.Private(text + " " + secret) {
				t.Errorf("%q hides %s", text, secret)
			}
		}
		query, ok := tally.Query(text)
		if !ok {
			return
		}
		if again, ok := tally.Query(query); !ok || again != query {
			t.Errorf("%q is %q, and that %q (%v)", text, query, again, ok)
		}
		if !utf8.ValidString(query) || tally.Private(text) || tally.Private(query) {
			t.Errorf("%q is counted as %q", text, query)
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	for b.Loop() {
		tally.Query("How do I rotate the keys of a validator without downtime?")
	}
}
