package sample

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"almanac/catalog"
	"almanac/ingest"
)

// How much of the past the fiction has beside what its servers say now.
const (
	networkStates = 200 // every six hours
	marketStates  = 96  // every hour
)

// past is a connector that begins with the snapshots its source would have
// left in the days before the anchor, the same for the same anchor. Those of
// the statistics are a file, the others are computed from what the servers say.
type past struct {
	ingest.Connector[[]byte]
	files  fs.FS
	anchor time.Time
}

// Sync implements ingest.Connector.
func (p past) Sync(ctx context.Context, before []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	if before != nil {
		return p.Connector.Sync(ctx, before, out)
	}
	sink := &pastSink{Sink: out, past: p}
	after, outcome, err := p.Connector.Sync(ctx, before, sink)
	if err == nil && sink.err != nil {
		err = fmt.Errorf("sample: past snapshots: %w", sink.err)
	}
	return after, outcome, err
}

type pastSink struct {
	ingest.Sink
	past past
	err  error
}

// Snapshot hands over the past of a series before its present.
func (s *pastSink) Snapshot(now catalog.Snapshot) {
	var before []catalog.Snapshot
	var err error
	switch now.Series {
	case catalog.SeriesNetwork:
		if before, err = s.past.network(now); err == nil {
			var stats []catalog.Snapshot
			stats, err = s.past.stats()
			before = append(stats, before...)
		}
	case catalog.SeriesMarket:
		before, err = s.past.market(now)
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	for _, b := range before {
		s.Sink.Snapshot(b)
	}
	s.Sink.Snapshot(now)
}

// What the network ran how many days before the anchor.
var ran = []struct {
	since   int
	version string
}{{-7, "2.6.1"}, {-19, "2.6.0"}, {-1000, "2.5.1"}}

func (p past) network(now catalog.Snapshot) ([]catalog.Snapshot, error) {
	featured, err := p.featured()
	if err != nil {
		return nil, err
	}
	return series(now, networkStates, func(i int) (time.Time, any, error) {
		var s catalog.NetworkState
		if err := json.Unmarshal(now.Data, &s); err != nil {
			return time.Time{}, nil, err
		}
		at := p.anchor.Add(-6 * time.Hour * time.Duration(i))
		rounds := int64(36 * i)
		for _, n := range []*int64{s.LatestRound, s.RewardsRound} {
			if n != nil {
				*n -= rounds
			}
		}
		if s.AppRewards != nil && s.ValidatorRewards != nil {
			*s.AppRewards -= 1893.2271 * float64(rounds)
			*s.ValidatorRewards -= 402 * float64(rounds)
			s.AppRewardsExact = fmt.Sprintf("%.10f", *s.AppRewards)
			s.ValidatorRewardsExact = fmt.Sprintf("%.10f", *s.ValidatorRewards)
		}
		if n := s.ValidatorCount; n != nil { // five joined in the time shown
			*n -= i / 40
			s.Validators = s.Validators[:min(len(s.Validators), *n)]
		}
		if n := s.FeaturedApps; n != nil {
			*n = len(slices.DeleteFunc(slices.Clone(featured), func(since time.Time) bool { return since.After(at) }))
		}
		for d := range s.Deployments {
			s.Deployments[d].Upgrade = nil // was voted for yesterday
			for _, r := range ran {
				if !at.Before(p.anchor.AddDate(0, 0, r.since)) {
					s.Deployments[d].Version = r.version
					break
				}
			}
		}
		return at, s, nil
	})
}

// stats are the statistics of past/stats.csv.
func (p past) stats() ([]catalog.Snapshot, error) {
	file, err := p.files.Open("past/stats.csv")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	columns, days := rows[0], rows[1:]
	return series(catalog.Snapshot{Series: catalog.SeriesStats}, len(days), func(i int) (time.Time, any, error) {
		row, of := days[len(days)-i], map[catalog.Kind]int{}
		at, err := time.Parse(time.DateOnly, row[0])
		for c, value := range row[1:] {
			n, failed := strconv.Atoi(value)
			of[catalog.Kind(columns[c+1])], err = n, errors.Join(err, failed)
		}
		s := catalog.Stats{
			CIPs: of[catalog.KindCIP], CIPsInReview: of["cips_in_review"], CIPsFinal: of["cips_final"],
			Topics: of[catalog.KindTopic], Posts: of[catalog.KindPost], Issues: of[catalog.KindIssue],
			Pulls: of[catalog.KindPull], Proposals: of[catalog.KindGrant], Docs: of[catalog.KindDoc],
			Videos: of[catalog.KindVideo], Blogs: of[catalog.KindBlog], MailThreads: of[catalog.KindMailThread],
			Radar: of[catalog.KindRadar], RecordsByKind: of,
		}
		delete(of, "cips_in_review")
		delete(of, "cips_final")
		return at, s, err
	})
}

// featured is since when each application is.
func (p past) featured() ([]time.Time, error) {
	var list struct {
		Apps []struct {
			CreatedAt time.Time `json:"created_at"`
		} `json:"featured_apps"`
	}
	data, err := fs.ReadFile(p.files, "web/scan.causeway.example.org/api/scan/v0/featured-apps.json")
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	var all []time.Time
	for _, a := range list.Apps {
		all = append(all, a.CreatedAt)
	}
	return all, err
}

func (p past) market(now catalog.Snapshot) ([]catalog.Snapshot, error) {
	r := rand.New(rand.NewPCG(7, 129412)) // the same walk for everybody
	// What the price was, by the hours before now, as a share of today's.
	price, locked := []float64{1}, []float64{1}
	for range marketStates + 24 {
		price = append(price, price[len(price)-1]*math.Exp(r.NormFloat64()*0.006))
		locked = append(locked, locked[len(locked)-1]*math.Exp(r.NormFloat64()*0.002))
	}
	volume := make([]float64, marketStates+1)
	for i := range volume {
		volume[i] = 0.8 + 0.4*r.Float64()
	}
	scale := func(figure *float64, by float64) {
		if figure != nil {
			*figure = math.Round(*figure*by*1e6) / 1e6
		}
	}
	return series(now, marketStates, func(i int) (time.Time, any, error) {
		var s catalog.MarketState
		if err := json.Unmarshal(now.Data, &s); err != nil {
			return time.Time{}, nil, err
		}
		at := p.anchor.Add(-time.Hour * time.Duration(i))
		scale(s.PriceUSD, price[i])
		scale(s.MarketCapUSD, price[i])
		scale(s.Volume24hUSD, volume[i])
		if s.Change24h != nil {
			*s.Change24h = math.Round((price[i]/price[i+24]-1)*1e4) / 100
		}
		scale(s.TVLUSD, locked[i])
		for _, protocol := range s.Protocols {
			scale(protocol.TVLUSD, locked[i])
		}
		for _, stated := range []*string{&s.PriceAsOf, &s.TVLAsOf, &s.ProtocolsAsOf} {
			if *stated != "" {
				*stated = at.Add(-10 * time.Minute).Format(time.RFC3339)
			}
		}
		return at, s, nil
	})
}

// series makes so many snapshots of a series, oldest first; the first before
// now is 1.
func series(now catalog.Snapshot, count int, state func(i int) (time.Time, any, error)) ([]catalog.Snapshot, error) {
	var all []catalog.Snapshot
	for i := count; i > 0; i-- {
		at, s, err := state(i)
		if err != nil {
			return nil, err
		}
		data, err := catalog.Encode(s)
		if err != nil {
			return nil, err
		}
		all = append(all, catalog.Snapshot{Series: now.Series, CapturedAt: at, Data: data})
	}
	return all, nil
}
