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

// BenchmarkFlood measures the searches of one client alone, and while 32 of the
// most expensive searches are always under way, of one other client or of eight:
// beside one, ratio-p99 is to be at most 3, and nothing of the first client's is to
// be refused. It is a part of `make bounds`.
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
	measure := func(n int) (took []time.Duration, refused int) {
		for i := range n {
			code, t := l.get("198.51.100.200", asked[i%len(asked)], "")
			if took = append(took, t); code != http.StatusOK {
				refused++
			}
		}
		slices.Sort(took)
		return took, refused
	}
	measure(len(asked)) // warm
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			alone, _ := measure(b.N)
			end := l.flood(clients, worst)
			time.Sleep(100 * time.Millisecond)
			beside, refused := measure(b.N)
			answers := end()
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			n := len(alone)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms(worstTook), "worst-ms")
			b.ReportMetric(ms(alone[n/2]), "alone-p50-ms")
			b.ReportMetric(ms(alone[n*99/100]), "alone-p99-ms")
			b.ReportMetric(ms(beside[n/2]), "beside-p50-ms")
			b.ReportMetric(ms(beside[n*99/100]), "beside-p99-ms")
			b.ReportMetric(ms(beside[n*99/100])/ms(alone[n*99/100]), "ratio-p99")
			b.ReportMetric(float64(refused), "refused")
			b.ReportMetric(float64(answers[http.StatusOK]), "flood-answered")
			b.ReportMetric(float64(answers[http.StatusServiceUnavailable]), "flood-refused")
		})
	}
}

// flood keeps 32 searches for a query under way until end is called, which
// returns how many were answered with which status.
func (l *library) flood(clients int, query string) (end func() map[int]int) {
	ended := make(chan struct{})
	var searches sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for i := range 32 {
		searches.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				code, _ := l.get(fmt.Sprintf("198.51.100.%d", 1+i%clients), query, "&limit=50&facets=1")
				mu.Lock()
				answers[code]++
				mu.Unlock()
			}
		})
	}
	return func() map[int]int {
		close(ended)
		searches.Wait()
		return answers
	}
}
