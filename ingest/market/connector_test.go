package market_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/market"
	"almanac/testing/connectortest"
)

func p[T any](v T) *T { return &v }

// state is the newest snapshot of the market.
func state(t *testing.T, s *connectortest.Source) catalog.MarketState {
	t.Helper()
	all, err := s.Store.Snapshots(t.Context(), catalog.SeriesMarket, 1)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d snapshots, %v", len(all), err)
	}
	var m catalog.MarketState
	if err := json.Unmarshal(all[0].Data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (x *exchange) state() catalog.MarketState {
	host := strings.TrimPrefix(x.server.URL, "http://")
	return catalog.MarketState{
		PriceUSD: p(0.12345678901), Change24h: p(-3.63827), MarketCapUSD: p(4321987654.25), Volume24hUSD: p(9876543.21),
		PriceAsOf: "2031-06-01T11:00:00Z",
		TVLUSD:    p(7654321.5), Protocols: []catalog.ProtocolTVL{{Protocol: "Lagoon", TVLUSD: p(6e6)},
			{Protocol: "Tidepool", TVLUSD: p(1500000.25)}},
		Stale: []string{}, Source: host + ", " + host,
	}
}

func TestMarket(t *testing.T) {
	x := newExchange(t)
	s := connectortest.NewSource(t, x.config)
	r := s.Sync()
	keys := []string{"asset FSH", "asset PRL", "asset SHL", "asset TLY", "pool lagoon/fsh-shl", "pool lagoon/tly-shl",
		"pool tidepool/0a1b", "pool tidepool/747c1d2a-c668-4682-b9f9-296708a3dd90"}
	if diff := cmp.Diff(keys, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if len(r.Problems) != 0 || !r.Complete {
		t.Errorf("complete %v, %v", r.Complete, r.Problems)
	}
	if diff := cmp.Diff(x.state(), state(t, s)); diff != "" {
		t.Errorf("state (-want +got)\n%s", diff)
	}
	assets := map[string]catalog.Asset{
		"TLY": {Native: true, Supply: p(1234567890.123456789), Provenance: catalog.ChainDerived, Decimals: p(10),
			PriceUSD: p(0.12345678901), PriceAsOf: "2031-06-01T11:00:00Z", AsOf: "2031-06-01T11:30:00Z"},
		"SHL": {Issuer: "Shell Works", Supply: p(8500000.5), Provenance: catalog.IssuerReported, PriceUSD: p(0.9998),
			PriceAsOf: "2031-06-01T10:59:50Z"},
		"PRL": {Supply: p(42.0), Provenance: catalog.IssuerReported, Holders: p(int64(17))},
		"FSH": {Supply: p(12500000.0), Provenance: catalog.IssuerReported, AsOf: "2031-05-01T00:00:00Z"},
	}
	for key, want := range assets {
		if diff := cmp.Diff(want, connectortest.Data[catalog.Asset](t, r.Get(t, catalog.KindAsset, key))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", key, diff)
		}
	}
	pools := map[string]catalog.Pool{
		"lagoon/tly-shl": {
			Base: "TLY", Quote: "SHL", TVL: p(246.5), FeeRate: p(0.003), APY: p(0.0525), Volume24h: p(12.0),
			AsOf:     "2031-06-01T11:00:00Z",
			Reserves: []catalog.Reserve{{Asset: "TLY", Amount: p(1000.5)}, {Asset: "SHL", Amount: p(123.25)}},
		},
		"lagoon/fsh-shl": {Base: "FSH", Quote: "SHL", FeeRate: p(0.0005), AsOf: "2031-06-01T11:00:00Z",
			Reserves: []catalog.Reserve{{Asset: "FSH"}, {Asset: "SHL"}}},
		"tidepool/0a1b": {Base: "TLY", Quote: "SHL", TVL: p(7.0), APY: p(0.0), Volume24h: p(3.0),
			Reserves: []catalog.Reserve{}},
		keys[7][len("pool "):]: {Base: "SHL", TVL: p(1.5e6), APY: p(0.041), Reserves: []catalog.Reserve{}},
	}
	for key, want := range pools {
		if diff := cmp.Diff(want, connectortest.Data[catalog.Pool](t, r.Get(t, catalog.KindPool, key))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", key, diff)
		}
	}
	rec := r.Get(t, catalog.KindPool, "lagoon/tly-shl")
	if rec.Title != "TLY/SHL" || rec.Container != "lagoon" || rec.URL != "https://lagoon.example.org/pools/tly-shl" ||
		rec.Body != "TLY/SHL is a pool of the venue Lagoon Exchange, where TLY is traded against SHL." {
		t.Errorf("%+v", rec)
	}
	rec = r.Get(t, catalog.KindAsset, "SHL")
	want := "Shell dollar (SHL) is an asset on the Causeway Network, issued by Shell Works. Its supply is reported " +
		"by its issuer.\n\nA dollar kept in custody."
	if rec.Title != "Shell dollar" || rec.URL != "https://shell.example.org" ||
		rec.Summary != "A dollar kept in custody." || rec.Body != want {
		t.Errorf("%+v", rec)
	}
	if body := r.Get(t, catalog.KindAsset,
		"TLY").Body; body != "Tally (TLY) is the native coin of the Causeway Network. Its supply is derived from the "+
		"chain." {
		t.Errorf("%q", body)
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		x := newExchange(t)
		return connectortest.Upstream{Config: x.config, Server: x.server,
			Change: func() { x.set("/scan/supply", `{"total": "22345678901234567890", "at": "2031-06-01T11:30:00Z"}`) },
			Drop:   func(s *connectortest.Source) { s.Options["assets"] = s.Options["assets"].([]any)[1:] },
		}
	})
}

// TestSourcesThatAreDown requires the last good figures with their time of
// every source that cannot be read, whatever it does.
func TestSourcesThatAreDown(t *testing.T) {
	faults := map[string]connectortest.Fault{
		"500": connectortest.Status(500), "404": connectortest.Status(404), "429": connectortest.TooMany(1),
		"truncated": connectortest.Truncated,
		"halved":    connectortest.Halved, "sign in": connectortest.SignIn, "garbage": connectortest.Garbage,
		"empty": connectortest.Empty,
		"reset": connectortest.Reset, "inside": connectortest.Redirect(connectortest.Inside[1]),
		"an object": answer(`{}`), "a list": answer(`[]`), "null": answer(`null`), "a number": answer(`-1`),
		"an error": answer(`{"status":{"error_code":429,"error_message":"slow down"}}`),
	}
	parts := map[string]func(*catalog.MarketState){
		"/prices/": func(m *catalog.MarketState) { m.Stale = []string{"price"} },
		"/tvl/v2/": func(m *catalog.MarketState) { m.Stale, m.TVLAsOf = []string{"tvl"}, "2031-06-01T12:00:00Z" },
		"/tvl/protocols": func(m *catalog.MarketState) {
			m.Stale, m.ProtocolsAsOf = []string{"protocols"},
				"2031-06-01T12:00:00Z"
		},
		"/lagoon/pools": func(*catalog.MarketState) {},
		"/yields/":      func(*catalog.MarketState) {},
		"/scan/":        func(*catalog.MarketState) {},
		"/shell/proof":  func(*catalog.MarketState) {},
	}
	for prefix, change := range parts {
		x := newExchange(t)
		s := connectortest.NewSource(t, x.config)
		first := s.Sync()
		want := x.state()
		change(&want)
		for name, fault := range faults {
			if prefix != "/prices/" && !slices.Contains([]string{"404", "halved", "an object"}, name) {
				continue // what servers do is tried at one of them
			}
			t.Run(prefix+" "+name, func(t *testing.T) {
				s.Clock = s.Clock.Add(time.Hour)
				x.server.Heal()
				x.server.Fault(prefix, -1, fault)
				r := s.Sync()
				if diff := cmp.Diff(first.Records, r.Records); diff != "" || r.Changes != 0 {
					t.Errorf("%d changes (-before +after)\n%s", r.Changes, diff)
				}
				if r.Warned == 0 {
					t.Error("no warning")
				}
				if diff := cmp.Diff(want, state(t, s)); diff != "" {
					t.Errorf("state (-want +got)\n%s", diff)
				}
			})
		}
		x.server.Heal()
		if r := s.Sync(); r.Changes != 0 || r.Cursor != first.Cursor {
			t.Errorf("%s healed: %d changes", prefix, r.Changes)
		}
		if diff := cmp.Diff(x.state(), state(t, s)); diff != "" {
			t.Errorf("%s healed (-want +got)\n%s", prefix, diff)
		}
	}
}

func answer(body string) connectortest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

func TestNamedProtocols(t *testing.T) {
	x := newExchange(t)
	x.option("tvl", 0)["protocols"] = []any{"tidepool", "lagoon", "unknown"}
	s := connectortest.NewSource(t, x.config)
	r := s.Sync()
	want := []catalog.ProtocolTVL{{Protocol: "lagoon", TVLUSD: p(6000000.5)}, {Protocol: "tidepool", TVLUSD: p(5e6)},
		{Protocol: "unknown"}}
	if diff := cmp.Diff(want, state(t, s).Protocols); diff != "" || r.Warned != 1 {
		t.Errorf("%v (-want +got)\n%s", r.Problems, diff)
	}
	x.server.Fault("/tvl/tvl/lagoon", -1, connectortest.Status(500))
	s.Sync()
	if m := state(t, s); !cmp.Equal(want, m.Protocols) || !slices.Equal(m.Stale, []string{"protocols"}) {
		t.Errorf("%+v", m)
	}
}

// TestFiguresThatCannotBeTrue leaves them out, or keeps what was good before.
func TestFiguresThatCannotBeTrue(t *testing.T) {
	x := newExchange(t)
	price := func(usd string) string {
		return `{"causeway-tally": {"usd": ` + usd +
			`, "usd_market_cap": "5e9", "usd_24h_vol": -1, "usd_24h_change": -101, "last_updated_at": 4102444800}, "shell-dollar": {"usd": "1.01"}}`
	}
	s := connectortest.NewSource(t, x.config)
	s.Sync()
	for _, bad := range []string{"0", "0.0", `"0"`, "-1", `"NaN"`, `"Infinity"`, "1e13", "1e400", `"0x1p3"`, `"1,5"`,
		`""`, "null", "true", "[]", "{}"} {
		x.set("/prices/simple/price", price(bad))
		r := s.Sync()
		if m := state(t, s); *m.PriceUSD != 0.12345678901 || m.PriceAsOf != "2031-06-01T11:00:00Z" ||
			!slices.Equal(m.Stale, []string{"price"}) || r.Warned == 0 {
			t.Errorf("price %s: %+v, %v", bad, m, r.Problems)
		}
		if d := connectortest.Data[catalog.Asset](t, r.Get(t, catalog.KindAsset, "SHL")); *d.PriceUSD != 1.01 ||
			d.PriceAsOf != "" {
			t.Errorf("price %s: the other coin has %v as of %q", bad, d.PriceUSD, d.PriceAsOf)
		}
	}
	x.set("/prices/simple/price", price(`" 2.5 "`))
	r := s.Sync()
	m := state(t, s)
	want := catalog.MarketState{PriceUSD: p(2.5), MarketCapUSD: p(5e9), TVLUSD: m.TVLUSD, Protocols: m.Protocols,
		Stale: []string{}, Source: m.Source}
	if diff := cmp.Diff(want, m); diff != "" || r.Warned != 2 {
		t.Errorf("%v (-want +got)\n%s", r.Problems, diff)
	}
	x.set("/lagoon/pools", `{"data": {"pools": [
		{"id": "tly-shl", "token0": {"symbol": "TLY"}, "token1": {"symbol": "SHL"}, "tvlUsd": -3, "fee": 20000, "apy": "NaN", "volume": 1e17, "reserve0": "many"},
		{"token0": {"symbol": "A"}, "token1": {"symbol": "B"}},
		{"id": "x", "token0": {}}, 17, null, "pool", []
	]}}`)
	r = s.Sync()
	pool := catalog.Pool{Base: "TLY", Quote: "SHL", Reserves: []catalog.Reserve{{Asset: "TLY"}, {Asset: "SHL"}}}
	if diff := cmp.Diff(pool, connectortest.Data[catalog.Pool](t,
		r.Get(t, catalog.KindPool, "lagoon/tly-shl"))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if r.Skipped != 6 || r.Warned != 2+5 || r.Deleted != 0 || r.Complete {
		t.Errorf("%d skipped, %d warned, %d deleted: %v", r.Skipped, r.Warned, r.Deleted, r.Problems)
	}
	for _, bad := range []string{"-1", "1e31", `"lots"`, "null", "{}"} {
		x.set("/scan/supply", `{"total": `+bad+`}`)
		r := s.Sync()
		if d := connectortest.Data[catalog.Asset](t, r.Get(t, catalog.KindAsset, "TLY")); d.Supply == nil ||
			*d.Supply < 1e9 && bad != "1e31" {
			t.Errorf("supply %s: %+v", bad, d)
		}
	}
	x.set("/shell/proof", `{"tokens": [{}, {"symbol": "SHL", "total": 0, "holders": 1.5}, {"total": 42, "holders": -3}]}`)
	r = s.Sync()
	for _, key := range []string{"SHL", "PRL"} {
		if d := connectortest.Data[catalog.Asset](t, r.Get(t, catalog.KindAsset, key)); d.Holders != nil ||
			d.Supply == nil {
			t.Errorf("%s: %+v", key, d)
		}
	}
}

func TestKeys(t *testing.T) {
	x := newExchange(t)
	x.option("price", 0)["token_env"], x.option("price", 0)["token_header"] = "CAUSEWAY_PRICES_KEY", "x-cg-demo-api-key"
	x.option("venues", 0)["token_env"] = "CAUSEWAY_LAGOON_KEY"
	t.Setenv("CAUSEWAY_PRICES_KEY", " harbour-secret\n")
	r := connectortest.NewSource(t, x.config).Sync()
	if r.Warned != 1 || !strings.Contains(r.Problems[0].Message, "CAUSEWAY_LAGOON_KEY is not set") {
		t.Errorf("%v", r.Problems)
	}
	t.Setenv("CAUSEWAY_LAGOON_KEY", "lagoon-secret")
	x.server.Fault("/prices/", -1, connectortest.Redirect("http://10.0.0.1/?key=harbour-secret"))
	r = connectortest.NewSource(t, x.config).Sync()
	if x.keys["/prices/simple/price"] != "harbour-secret" || x.keys["/lagoon/pools"] != "Bearer lagoon-secret" ||
		x.keys["/yields/pools"] != "" {
		t.Errorf("requested with %v", x.keys)
	}
	for _, problem := range r.Problems {
		if strings.Contains(problem.Message, "secret") {
			t.Errorf("a secret in %q", problem.Message)
		}
	}
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		change func(x *exchange)
		want   string
	}{
		"nothing":  {func(x *exchange) { clear(x.config.Options) }, "at least one of the options"},
		"no api":   {func(x *exchange) { x.option("price", 0)["api"] = "prices" }, "price.api: is not a web address"},
		"no coin":  {func(x *exchange) { delete(x.option("price", 0), "coin") }, "price: the option coin is missing"},
		"no chain": {func(x *exchange) { delete(x.option("tvl", 0), "chain") }, "tvl: the option chain is missing"},
		"no pair": {func(x *exchange) { delete(x.option("venues", 0)["fields"].(map[string]any), "base") },
			"venues[1].fields: want pair, or base and quote"},
		"a bad path of a pool": {func(x *exchange) { x.option("venues", 1)["where"] = map[string]any{"a..b": "x"} },
			`venues[2].where: path "a..b"`},
		"a bad path of a time": {func(x *exchange) { x.option("assets", 0)["supply"].(map[string]any)["as_of"] = "a." },
			`assets[1].supply: as_of: path "a."`},
		"no fields": {func(x *exchange) { delete(x.option("venues", 0), "fields") },
			"venues[1]: the option fields is missing"},
		"a bad path": {func(x *exchange) { x.option("venues", 0)["pools"] = "a..b" }, `venues[1].pools: path "a..b"`},
		"a divisor": {func(x *exchange) { x.option("venues", 0)["divide"] = map[string]any{"apy": 0} },
			`venues[1].divide.apy: "0": want a power of ten`},
		"no power of ten": {func(x *exchange) { x.option("assets", 0)["supply"].(map[string]any)["divide"] = 12 },
			`assets[1].supply.divide: "12": want a power of ten`},
		"another divisor": {func(x *exchange) { x.option("venues", 0)["divide"] = map[string]any{"id": 1} },
			`divide: "id"`},
		"twice": {func(x *exchange) { x.option("venues", 1)["name"] = "lagoon" },
			`venues[2]: name "lagoon" appears twice`},
		"asset twice": {func(x *exchange) { x.option("assets", 1)["symbol"] = "TLY" },
			`assets[2]: symbol "TLY" appears twice`},
		"reported native": {func(x *exchange) { x.option("assets", 3)["native"] = true }, "derived from the chain"},
		"no supply": {func(x *exchange) { delete(x.option("assets", 0), "supply") },
			"assets[1]: the option supply is missing"},
		"value without day": {func(x *exchange) { delete(x.option("assets", 3)["supply"].(map[string]any), "as_of") },
			"as_of"},
		"value of tomorrow": {func(x *exchange) {
			x.option("assets",
				3)["supply"].(map[string]any)["as_of"] = "2032-01-01"
		}, "as_of"},
		"negative value": {func(x *exchange) { x.option("assets", 3)["supply"].(map[string]any)["value"] = -1 },
			"is negative"},
		"no number": {func(x *exchange) { x.option("assets", 3)["supply"].(map[string]any)["value"] = "nan" },
			"is not a number"},
		"coin without api": {func(x *exchange) { delete(x.config.Options, "price") }, "there is no option price"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := newExchange(t)
			tt.change(x)
			err := connectortest.Open(market.Kind, x.config.Options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
