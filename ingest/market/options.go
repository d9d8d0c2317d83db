package market

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/dotpath"
)

// options are the source's options in the network file; doc.go shows them.
type options struct {
	Price  *price  `yaml:"price"`
	TVL    *tvl    `yaml:"tvl"`
	Venues []venue `yaml:"venues"`
	Assets []asset `yaml:"assets"`
}

type price struct {
	API         string `yaml:"api"`
	Coin        string `yaml:"coin"`
	TokenEnv    string `yaml:"token_env" format:"env"`
	TokenHeader string `yaml:"token_header"`
}

type tvl struct {
	API         string   `yaml:"api"`
	Chain       string   `yaml:"chain"`
	Protocols   []string `yaml:"protocols"`
	TokenEnv    string   `yaml:"token_env" format:"env"`
	TokenHeader string   `yaml:"token_header"`
}

type venue struct {
	Name        string                  `yaml:"name"`
	Title       string                  `yaml:"title"`
	URL         string                  `yaml:"url"`
	Page        string                  `yaml:"page"`
	Pools       dotpath.Path            `yaml:"pools"`
	AsOf        dotpath.Path            `yaml:"as_of"`
	Where       map[dotpath.Path]string `yaml:"where"`
	Fields      fields                  `yaml:"fields"`
	Reserves    []reserve               `yaml:"reserves"`
	Divide      map[string]float64      `yaml:"divide"`
	TokenEnv    string                  `yaml:"token_env" format:"env"`
	TokenHeader string                  `yaml:"token_header"`
}

// fields are the paths of a pool's values; "" if it does not have one.
type fields struct {
	ID        dotpath.Path `yaml:"id"`
	Pair      dotpath.Path `yaml:"pair"`
	Base      dotpath.Path `yaml:"base"`
	Quote     dotpath.Path `yaml:"quote"`
	TVL       dotpath.Path `yaml:"tvl"`
	FeeRate   dotpath.Path `yaml:"fee_rate"`
	APY       dotpath.Path `yaml:"apy"`
	Volume24h dotpath.Path `yaml:"volume_24h"`
	AsOf      dotpath.Path `yaml:"as_of"`
}

type reserve struct {
	Asset  dotpath.Path `yaml:"asset"`
	Amount dotpath.Path `yaml:"amount"`
}

type asset struct {
	Symbol      string `yaml:"symbol"`
	Name        string `yaml:"name"`
	Issuer      string `yaml:"issuer"`
	Native      bool   `yaml:"native"`
	Decimals    *int   `yaml:"decimals"`
	Coin        string `yaml:"coin"`
	Description string `yaml:"description"`
	Page        string `yaml:"page"`
	Supply      supply `yaml:"supply"`
}

type supply struct {
	URL         string       `yaml:"url"`
	Path        dotpath.Path `yaml:"path"`
	AsOf        string       `yaml:"as_of"` // a path; with value, a time
	Holders     dotpath.Path `yaml:"holders"`
	Divide      float64      `yaml:"divide"`
	Value       *float64     `yaml:"value"`
	TokenEnv    string       `yaml:"token_env" format:"env"`
	TokenHeader string       `yaml:"token_header"`
}

var (
	venueName   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	assetSymbol = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

func readOptions(src network.Source, now time.Time) (options, error) {
	var o options
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	if o.Price == nil && o.TVL == nil && len(o.Venues) == 0 && len(o.Assets) == 0 {
		return o, errors.New("want at least one of the options price, tvl, venues and assets")
	}
	if p := o.Price; p != nil {
		p.API = strings.TrimRight(p.API, "/")
		switch {
		case !isAddress(p.API):
			return o, errors.New("option price: api: want an address such as https://prices.example.org/api/v3")
		case p.Coin == "":
			return o, errors.New("option price: coin: want the id of the network's coin")
		}
	}
	if t := o.TVL; t != nil {
		t.API = strings.TrimRight(t.API, "/")
		switch {
		case !isAddress(t.API):
			return o, errors.New("option tvl: api: want an address such as https://tvl.example.org")
		case t.Chain == "":
			return o, errors.New("option tvl: chain: want the name of the network's chain")
		}
	}
	met := map[string]bool{}
	for i := range o.Venues {
		v := &o.Venues[i]
		if err := v.complete(); err != nil {
			return o, fmt.Errorf("option venues: %s: %w", cmp.Or(v.Name, fmt.Sprintf("number %d", i+1)), err)
		}
		if met[v.Name] {
			return o, fmt.Errorf("option venues: %s appears twice", v.Name)
		}
		met[v.Name] = true
	}
	met = map[string]bool{}
	for i := range o.Assets {
		a := &o.Assets[i]
		if err := a.complete(o, now); err != nil {
			return o, fmt.Errorf("option assets: %s: %w", cmp.Or(a.Symbol, fmt.Sprintf("number %d", i+1)), err)
		}
		if met[a.Symbol] {
			return o, fmt.Errorf("option assets: %s appears twice", a.Symbol)
		}
		met[a.Symbol] = true
	}
	return o, nil
}

func isAddress(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// divisible are the fields of a pool that option divide can name.
var divisible = []string{"apy", "fee_rate", "tvl", "volume_24h"}

func (v *venue) complete() error {
	f := v.Fields
	switch {
	case !venueName.MatchString(v.Name):
		return errors.New("name: want lower-case letters, digits and hyphens")
	case !isAddress(v.URL):
		return errors.New("url: want the address of its pools")
	case v.Page != "" && !isAddress(v.Page):
		return errors.New("page: want an address such as https://venue.example.org/pools/{id}")
	case f.Pair == "" && (f.Base == "" || f.Quote == ""):
		return errors.New("fields: want pair, or base and quote")
	}
	v.Title = cmp.Or(v.Title, v.Name)
	for name, by := range v.Divide {
		if !slices.Contains(divisible, name) {
			return fmt.Errorf("divide: %q; want one of %s", name, strings.Join(divisible, ", "))
		}
		if _, ok := places(by); !ok {
			return fmt.Errorf("divide: %s: want a power of ten such as 100", name)
		}
	}
	return nil
}

func (a *asset) complete(o options, now time.Time) error {
	s := &a.Supply
	_, isPower := places(s.Divide)
	switch {
	case !assetSymbol.MatchString(a.Symbol):
		return errors.New("symbol: want letters and digits, such as TLY")
	case a.Page != "" && !isAddress(a.Page):
		return errors.New("page: want a web address")
	case a.Coin != "" && o.Price == nil:
		return errors.New("coin: there is no option price to read it from")
	case (s.URL == "") == (s.Value == nil):
		return errors.New("supply: want either a url with a path, or a value with the time it was reported (as_of)")
	case s.URL != "" && !isAddress(s.URL):
		return errors.New("supply: url: want a web address")
	case s.Divide != 0 && !isPower:
		return errors.New("supply: divide: want a power of ten such as 1e10")
	}
	a.Name = cmp.Or(a.Name, a.Symbol)
	if a.Native && a.Coin == "" && o.Price != nil {
		a.Coin = o.Price.Coin
	}
	if s.Value == nil {
		return new(dotpath.Path).UnmarshalText([]byte(s.AsOf))
	}
	if a.Native {
		return errors.New("supply: that of the native coin is derived from the chain: want a url and a path")
	}
	if _, err := plausible(*s.Value, maxSupply); err != nil {
		return fmt.Errorf("supply: value: %w", err)
	}
	if s.AsOf = parseTimeText(s.AsOf, now); s.AsOf == "" {
		return errors.New("supply: as_of: want the day the value was reported, such as 2031-05-01")
	}
	return nil
}
