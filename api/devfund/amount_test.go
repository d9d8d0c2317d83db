package devfund

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAmounts(t *testing.T) {
	usd := func(v float64) amount { return amount{Value: v, Unit: "USD"} }
	hc := func(v float64) amount { return amount{Value: v, Unit: "HC"} }
	var none amount
	for s, want := range map[string]amount{
		"25,000 HC": hc(25_000), "1000000 HC": hc(1e6), "200,000.00 HC": hc(200_000), "1.7m HC": hc(1.7e6),
		"18M HC": hc(18e6), "6.700.000 HC": hc(6.7e6), "5,000 HC (of which 2,700 go to the testers)": hc(5000),
		"18,000 HC, first payment planned for 2031-01-07": hc(18_000),
		"1,000,000 HC (~$148,700 USD at current rates)":   hc(1e6),
		"17,000,000 HC Timeline: 9 months Team: 6":        hc(17e6),
		"850,000 HC across 4 milestones over 36 weeks":    hc(850_000),
		"16,000 HC, paid on acceptance of each milestone": hc(16_000), "$340,000": usd(340_000),
		"$54,000.00": usd(54_000), "US$ 2.5 million": usd(2.5e6), "$300,000 USD equivalent in HC": usd(300_000),
		"£34,380 equivalent in Harbour Coin": {Value: 34_380, Unit: "GBP"}, "€150k": {Value: 150_000, Unit: "EUR"},
		"450,000 Harbour Coins (HC)": hc(450_000), "90,000 $HC": hc(90_000),

		"": none, "a lot": none, "25,000": none, "HC 25,000": none, "1,000 shells": none,
		"~$10,500 USD": none, "up to 950,000 HC": none, "Up to 950,000 HC, in stages": none, "$0 (paid by us)": none,
		"$5,000,000+": none, "$30,000 - $50,000 USD": none, "40,000 USDC / 255,000 HC": none,
		"400,000 HC per month": none, "500,000 HC + 150,000 HC/month maintenance": none, "30,000 HC/month": none,
		"8,500,000 HC, plus an early completion bonus": none, "370,000 HC guaranteed": none, "10.000 HC": none,
		"1,00,000 HC": none, "$12,000 USD = $36,000 USD": none, "450,000 HC for build and 300,000 HC for upkeep": none,
		"300,000 HC, to be confirmed": none, "11,150,000 HC at each milestone": none,
		strings.Repeat("9", 400) + " HC": none,
	} {
		got := parseAmounts([]string{s})[0]
		if got != want {
			t.Errorf("%.60q is %v, want %v", s, got, want)
		}
	}
	got := parseAmounts([]string{"500 Harbour Coin", "600 Harbour Coins (HC)", "7 HC", "8 Reef Coin"})
	if d := cmp.Diff([]amount{hc(500), hc(600), hc(7), {Value: 8, Unit: "Reef Coin"}}, got); d != "" {
		t.Errorf("names and symbols of units: %s", d)
	}
}

func FuzzParseAmounts(f *testing.F) {
	for _, s := range []string{"25,000 HC", "1.7m Harbour Coin (HC)", "$5,000,000+", "6.700.000 X", "(((((", "9k",
		"\xff1 HC"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, x := range parseAmounts([]string{a, b}) {
			if (x.Value == 0) != (x.Unit == "") || x.Value < 0 || x.Value > 1e21 || math.IsNaN(x.Value) ||
				len(x.Unit) > len(a)+len(b)+3 {
				t.Errorf("%q, %q: %v", a, b, x)
			}
		}
	})
}
