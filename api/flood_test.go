package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// worstQueries are the most expensive queries that are answered: as many
// phrases, exclusions and terms as they may have, of the most frequent words.
func worstQueries() []string {
	frequent := strings.Fields("the to of and a in is for on be this that with are as or by from it can not an will")
	var words, excluded []string
	for i := range 200 {
		words = append(words, frequent[i%len(frequent)])
		excluded = append(excluded, fmt.Sprintf("-zyx%c%c", 'a'+i%26, 'a'+i/26))
	}
	content := strings.Fields("validator network node party contract ledger transaction token app package user " +
		"synchronizer participant wallet fee reward traffic vote proposal grant api data state version upgrade key")
	var phrases strings.Builder
	for i := range 8 {
		fmt.Fprintf(&phrases, `"%s" `, strings.Join(words[i:i+32], " "))
	}
	return []string{
		phrases.String(),
		strings.Repeat(`"of the" `, 8) + strings.Join(content, " "),
		`"to the" ` + strings.Join(content, " ") + " " + strings.Join(excluded[:32], " "),
		strings.Join(content, " ") + " " + strings.Join(words[:64], " "),
	}
}

// get sends a search of a client and returns its status and duration.
func (l *library) get(client, query, rest string) (int, time.Duration) {
	r := httptest.NewRequest("GET", "/api/v1/search?q="+url.QueryEscape(query)+rest, http.NoBody)
	r.RemoteAddr = client + ":1"
	w := httptest.NewRecorder()
	start := time.Now()
	l.public.ServeHTTP(w, r)
	return w.Code, time.Since(start)
}

// BenchmarkFlood measures the searches of one client alone, and while another
// one keeps 32 of the most expensive searches under way: ratio-p99 is to be at
// most 3, and nothing of the first client's refused.
func BenchmarkFlood(b *testing.B) {
	l := openPreset(b, "corpus", sharedCorpus(b))
	var asked []string
	for _, q := range readTasks(b, "corpus") {
		asked = append(asked, q.Ask)
	}
	worst, worstTook := "", time.Duration(0)
	for _, q := range worstQueries() {
		took := time.Hour
		for range 5 {
			code, t := l.get("198.51.100.1", q, "&limit=50&facets=1")
			if took = min(took, t); code != http.StatusOK {
				b.Fatalf("%d for %s", code, q)
			}
		}
		if took > worstTook {
			worst, worstTook = q, took
		}
	}
	measure := func() (took []time.Duration) {
		for i := range b.N {
			code, t := l.get("198.51.100.2", asked[i%len(asked)], "")
			if took = append(took, t); code != http.StatusOK {
				b.Errorf("%d for %s", code, asked[i%len(asked)])
			}
		}
		slices.Sort(took)
		return took
	}
	measure() // warm
	b.ResetTimer()
	alone := measure()
	end := make(chan struct{})
	var flood sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 32 {
		flood.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				code, _ := l.get("198.51.100.1", worst, "&limit=50&facets=1")
				mu.Lock()
				answers[code]++
				mu.Unlock()
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	beside := measure()
	close(end)
	flood.Wait()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	n := len(alone)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(worstTook), "worst-ms")
	b.ReportMetric(ms(alone[n/2]), "alone-p50-ms")
	b.ReportMetric(ms(alone[n*99/100]), "alone-p99-ms")
	b.ReportMetric(ms(beside[n/2]), "beside-p50-ms")
	b.ReportMetric(ms(beside[n*99/100]), "beside-p99-ms")
	b.ReportMetric(ms(beside[n*99/100])/ms(alone[n*99/100]), "ratio-p99")
	b.ReportMetric(float64(answers[http.StatusOK]), "flood-answered")
	b.ReportMetric(float64(answers[http.StatusServiceUnavailable]), "flood-refused")
}
