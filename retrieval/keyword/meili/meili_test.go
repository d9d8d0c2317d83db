package meili_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/meilisearch/meilisearch-go"
	"go.uber.org/goleak"

	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/meili"
	"almanac/testing/keywordtest"
	"almanac/testing/recordingtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a server with names of indexes for a test alone.
type place struct {
	url, key  string
	client    meilisearch.ServiceManager
	transport *http.Transport
}

// newPlace is a real server or its recording: ALMANAC_TEST_MEILI_URL and
// ALMANAC_TEST_MEILI_KEY name one, -record records.
func newPlace(t *testing.T, recording string) *place {
	t.Helper()
	url, key := os.Getenv("ALMANAC_TEST_MEILI_URL"), os.Getenv("ALMANAC_TEST_MEILI_KEY")
	o := recordingtest.Options{Secrets: []string{key}}
	if url != "" {
		version, err := connect(t, url, key).client.Version()
		if err != nil {
			t.Fatal(err)
		}
		o.Server = "Meilisearch " + version.PkgVersion
	}
	return connect(t, recordingtest.HTTP(t, "testdata/"+recording+".jsonl", url, o), key)
}

func connect(t *testing.T, url, key string) *place {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &place{url, key, meilisearch.New(url, meilisearch.WithAPIKey(key), meilisearch.DisableRetries(),
		meilisearch.WithCustomClient(&http.Client{Transport: transport})), transport}
}

// config returns the configuration of an index named after the test, which
// is removed before and after it.
func (p *place) config(t *testing.T) meili.Config {
	t.Helper()
	name := "almanactest-" + strings.NewReplacer("/", "-", "_", "-", " ", "-", ",", "").Replace(t.Name())
	remove := func() {
		for _, uid := range []string{name, name + "-g1", name + "-g2", name + "-g3"} {
			p.remove(t, uid)
		}
	}
	remove()
	t.Cleanup(remove)
	return meili.Config{URL: p.url, Key: p.key, Index: name, Generation: 1, Owner: "test", Transport: p.transport}
}

func (p *place) remove(t *testing.T, uid string) {
	t.Helper()
	if _, err := p.client.GetIndex(uid); err != nil {
		return
	}
	task, err := p.client.DeleteIndex(uid)
	if err != nil {
		t.Errorf("delete index %s: %v", uid, err)
		return
	}
	p.wait(t, task)
}

func (p *place) wait(t *testing.T, task *meilisearch.TaskInfo) {
	t.Helper()
	done, err := p.client.WaitForTask(task.TaskUID, 10*time.Millisecond)
	if err != nil || done.Status != meilisearch.TaskStatusSucceeded {
		t.Fatalf("task %d: %+v, %v", task.TaskUID, done, err)
	}
}

func open(t *testing.T, c meili.Config) *meili.Engine {
	t.Helper()
	e, err := meili.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	p := newPlace(t, "conformance")
	configs := map[keyword.Engine]meili.Config{}
	keywordtest.Run(t, keywordtest.Options{
		New: func(t *testing.T) keyword.Engine {
			c := p.config(t)
			e := open(t, c)
			configs[e] = c
			return e
		},
		Reopen: func(t *testing.T, e keyword.Engine) keyword.Engine {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, configs[e])
		},
		OwnRanking:   true,
		SplitBatches: true,
	})
}
