package market

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/text/options"
	"almanac/text/table"
)

type settings struct {
	Price  *price  `yaml:"price"`
	TVL    *tvl    `yaml:"tvl"`
	Venues []venue `yaml:"venues" unique:"name"`
	Assets []asset `yaml:"assets" unique:"symbol"`
}

// access is how we authenticate at a server.
type access struct {
	TokenEnv    string `yaml:"token_env" format:"env"`
	TokenHeader string `yaml:"token_header"`
}

type price struct {
	API    string `yaml:"api" required:"true" format:"base"`
	Coin   string `yaml:"coin" required:"true"`
	access `yaml:",inline"`
}

type tvl struct {
	API       string   `yaml:"api" required:"true" format:"base"`
	Chain     string   `yaml:"chain" required:"true"`
	Protocols []string `yaml:"protocols"`
	access    `yaml:",inline"`
}

type venue struct {
	Name     string                `yaml:"name" required:"true" format:"slug"`
	Title    string                `yaml:"title"`
	URL      string                `yaml:"url" required:"true" format:"address"`
	Page     string                `yaml:"page" format:"address"`
	Pools    table.Path            `yaml:"pools"`
	AsOf     table.Path            `yaml:"as_of"`
	Where    map[table.Path]string `yaml:"where"`
	Fields   fields                `yaml:"fields" required:"true"`
	Reserves []reserve             `yaml:"reserves"`
	Divide   map[string]divisor    `yaml:"divide"`
	access   `yaml:",inline"`
}

// fields are the paths of a pool's values; "" if it does not have one.
type fields struct {
	ID        table.Path `yaml:"id"`
	Pair      table.Path `yaml:"pair"`
	Base      table.Path `yaml:"base"`
	Quote     table.Path `yaml:"quote"`
	TVL       table.Path `yaml:"tvl"`
	FeeRate   table.Path `yaml:"fee_rate"`
	APY       table.Path `yaml:"apy"`
	Volume24h table.Path `yaml:"volume_24h"`
	AsOf      table.Path `yaml:"as_of"`
}

type reserve struct {
	Asset  table.Path `yaml:"asset"`
	Amount table.Path `yaml:"amount"`
}

type asset struct {
	Symbol      string `yaml:"symbol" required:"true"`
	Name        string `yaml:"name"`
	Issuer      string `yaml:"issuer"`
	Native      bool   `yaml:"native"`
	Decimals    *int   `yaml:"decimals"`
	Coin        string `yaml:"coin"`
	Description string `yaml:"description"`
	Page        string `yaml:"page" format:"address"`
	Supply      supply `yaml:"supply" required:"true"`
}

type supply struct {
	URL     string     `yaml:"url" format:"address"`
	Path    table.Path `yaml:"path"`
	AsOf    string     `yaml:"as_of"` // a path; with value, a time
	Holders table.Path `yaml:"holders"`
	Divide  divisor    `yaml:"divide"`
	Value   *float64   `yaml:"value"`
	access  `yaml:",inline"`
}

// Check gives assets the coin that the API of prices knows them by.
func (s *settings) Check() error {
	if s.Price == nil && s.TVL == nil && len(s.Venues) == 0 && len(s.Assets) == 0 {
		return errors.New("want at least one of the options price, tvl, venues and assets")
	}
	for i := range s.Assets {
		switch a := &s.Assets[i]; {
		case a.Coin != "" && s.Price == nil:
			return options.Errorf(options.Item("assets", i)+".coin", "there is no option price to read it from")
		case a.Native && a.Coin == "" && s.Price != nil:
			a.Coin = s.Price.Coin
		}
	}
	return nil
}

// divisible are the fields of a pool that option divide can name.
var divisible = []string{"apy", "fee_rate", "tvl", "volume_24h"}

// Check fills in the title.
func (v *venue) Check() error {
	for name := range v.Divide {
		if !slices.Contains(divisible, name) {
			return options.Errorf("divide", "%q; want one of %s", name, strings.Join(divisible, ", "))
		}
	}
	v.Title = cmp.Or(v.Title, v.Name)
	return nil
}

// Check checks that a pool has assets.
func (f *fields) Check() error {
	if f.Pair == "" && (f.Base == "" || f.Quote == "") {
		return errors.New("want pair, or base and quote")
	}
	return nil
}

var assetSymbol = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Check fills in the name.
func (a *asset) Check() error {
	switch {
	case !assetSymbol.MatchString(a.Symbol):
		return options.Errorf("symbol", "want letters and digits, such as TLY")
	case a.Native && a.Supply.Value != nil:
		return options.Errorf("supply", "that of the native coin is derived from the chain: want a url and a path")
	}
	a.Name = cmp.Or(a.Name, a.Symbol)
	return nil
}

// Check checks where the supply is from.
func (s *supply) Check() (err error) {
	switch {
	case (s.URL == "") == (s.Value == nil):
		return errors.New("want either a url with a path, or a value with the time it was reported (as_of)")
	case s.Value != nil:
		if _, err = plausible(*s.Value, 0, maxSupply); err != nil {
			err = options.Errorf("value", "%w", err)
		}
	default:
		if err = new(table.Path).UnmarshalText([]byte(s.AsOf)); err != nil {
			err = options.Errorf("as_of", "%w", err)
		}
	}
	return err
}

// date reads the times of the supplies that the options state.
func (s settings) date(now time.Time) error {
	for i, a := range s.Assets {
		if a.Supply.Value == nil {
			continue
		}
		at := parseTime(a.Supply.AsOf, now)
		if at == "" {
			return options.Errorf(options.Item("assets", i)+".supply.as_of",
				"want the day the value was reported, such as 2031-05-01")
		}
		s.Assets[i].Supply.AsOf = at
	}
	return nil
}
