package qdrant

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	"almanac/testing/qdranttest"
	"almanac/testing/wait"
)

func checkpointOf(t *testing.T, x *Index) int64 {
	t.Helper()
	at, err := x.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func apply(t *testing.T, x *Index, b vector.Batch) {
	t.Helper()
	if err := x.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func TestTheCollectionIsAsConfigured(t *testing.T) {
	s := startStandIn(t)
	c := config(s.Addr)
	c.Quantize, c.OnDisk, c.Shards, c.Replicas = true, true, 3, 2
	openAt(t, c)
	var info *client.CollectionInfo
	s.collection("almanac-causeway-g3", func(c *qdranttest.Collection) { info = c.Info })
	params := info.GetConfig().GetParams()
	dense := params.GetVectorsConfig().GetParamsMap().GetMap()[denseVector]
	scalar := dense.GetQuantizationConfig().GetScalar()
	sparse := params.GetSparseVectorsConfig().GetMap()[sparseVector]
	if dense.GetSize() != 4 || !dense.GetOnDisk() || dense.GetHnswConfig().GetFullScanThreshold() != fullScan ||
		scalar.GetType() != client.QuantizationType_Int8 || !scalar.GetAlwaysRam() ||
		!sparse.GetIndex().GetOnDisk() || params.GetShardNumber() != 3 || params.GetReplicationFactor() != 2 ||
		len(info.GetPayloadSchema()) != len(payloadIndexes) {
		t.Errorf("collection %v", info)
	}
}

func TestCollectionsOfOthersAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*client.CollectionConfig)
		want   string
	}{
		{"no almanac", func(c *client.CollectionConfig) { c.Metadata = nil }, "was not made by almanac"},
		{"another owner", func(c *client.CollectionConfig) {
			c.Metadata[ownerKey] = client.NewValueString(
				"catalog-b")
		}, "belongs to the catalog catalog-b, not to catalog-a"},
		{"another model", func(c *client.CollectionConfig) { c.Metadata[modelKey] = client.NewValueString("model-2") },
			"vectors of the model model-2, not of model-1"},
		{"other weights", func(c *client.CollectionConfig) { c.Metadata[weightingKey] = client.NewValueString("0") },
			"term weights of version 0"},
		{"other dimensions", func(c *client.CollectionConfig) { c.Params.VectorsConfig.GetParamsMap().Map[denseVector].Size = 8 }, "vectors of 8 dimensions, the model has 4"},
		{"another distance", func(c *client.CollectionConfig) {
			c.Params.VectorsConfig.GetParamsMap().Map[denseVector].Distance = client.Distance_Dot
		}, "has not the vectors of an index"},
		{"one unnamed vector", func(c *client.CollectionConfig) {
			c.Params.VectorsConfig = client.NewVectorsConfig(&client.VectorParams{Size: 4,
				Distance: client.Distance_Cosine})
		}, "has not the vectors of an index"},
		{"no IDF", func(c *client.CollectionConfig) { c.Params.SparseVectorsConfig.Map[sparseVector].Modifier = nil },
			"has not the vectors of an index"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startStandIn(t)
			openAt(t, config(s.Addr))
			s.collection("almanac-causeway-g3", func(made *qdranttest.Collection) { c.change(made.Info.Config) })
			err := use(t, config(s.Addr))
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, vector.ErrUnavailable) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestOldServersAreRefused(t *testing.T) {
	for version, ok := range map[string]bool{"1.15.9": false, "0.99.0": false, "": false, "next": false, "1.16.0": true,
		"v1.18.3": true, "2.0.0-rc1": true} {
		s := startStandIn(t)
		s.Version(version)
		if err := use(t, config(s.Addr)); (err == nil) != ok ||
			!ok && !strings.Contains(err.Error(), "needed is 1.16 or newer") {
			t.Errorf("version %q: error %v", version, err)
		}
	}
}

// door is a listener that ends every connection until it is opened.
type door struct {
	net.Listener
	open atomic.Bool
}

func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil || d.open.Load() {
			return c, err
		}
		_ = c.Close()
	}
}

func TestAServerThatComesLater(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{Listener: listener}
	x := openAt(t, config(qdranttest.StartOn(t, d).Addr))
	if _, err := x.Checkpoint(t.Context()); !errors.Is(err, vector.ErrUnavailable) {
		t.Fatalf("error %v, want ErrUnavailable", err)
	}
	d.open.Store(true)
	x.conn.ResetConnectBackoff() // instead of waiting for the next try
	for state := x.conn.GetState(); state != connectivity.Ready; state = x.conn.GetState() {
		x.conn.Connect()
		if !x.conn.WaitForStateChange(t.Context(), state) {
			t.Fatalf("the connection is %v", state)
		}
	}
	if at := checkpointOf(t, x); at != 0 {
		t.Errorf("checkpoint %d", at)
	}
	apply(t, x, vector.Batch{Records: []vector.Record{record(1, 2)}, Checkpoint: 5})
	if at := checkpointOf(t, x); at != 5 {
		t.Errorf("checkpoint %d", at)
	}
}

func TestAServerThatComesBackEmpty(t *testing.T) {
	s := startStandIn(t)
	x := openAt(t, config(s.Addr))
	apply(t, x, vector.Batch{Records: []vector.Record{record(1, 2)}, Checkpoint: 5})
	for name, lose := range map[string]func(qdranttest.State){
		"nothing":             func(state qdranttest.State) { clear(state.Collections) },
		"an older collection": func(state qdranttest.State) { delete(state.Collections[x.name].Points, checkpointID) },
	} {
		s.Change(lose)
		if name == "nothing" {
			_, err := x.Search(t.Context(), axis, passage.Filter{}, 1)
			if !errors.Is(err, vector.ErrUnavailable) ||
				!strings.Contains(err.Error(), "has no collection almanac-causeway-g3") {
				t.Errorf("%s: search: error %v", name, err)
			}
		}
		if err := x.Apply(t.Context(), vector.Batch{Records: []vector.Record{record(2, 1)}, After: 5,
			Checkpoint: 6}); !errors.Is(err, vector.ErrLost) {
			t.Errorf("%s: apply: error %v, want ErrLost", name, err)
		}
		if at := checkpointOf(t, x); at != 0 {
			t.Errorf("%s: checkpoint %d, want 0", name, at)
		}
		apply(t, x, vector.Batch{Records: []vector.Record{record(1, 2)}, Checkpoint: 5})
		apply(t, x, vector.Batch{Records: []vector.Record{record(2, 1)}, After: 5, Checkpoint: 6})
		if got := s.ids(x.name); len(got) != 3 {
			t.Errorf("%s: points %v", name, got)
		}
		apply(t, x, vector.Batch{Delete: []int64{2}, After: 6, Checkpoint: 5})
	}
}

func TestTheCheckpointIsNeverAheadOfThePoints(t *testing.T) {
	s := startStandIn(t)
	x := openAt(t, config(s.Addr))
	apply(t, x, vector.Batch{Records: []vector.Record{record(1, 3), record(2, 1)}, Checkpoint: 1})
	zero := record(3, 2)
	zero.Vectors[1] = make([]float32, 4)
	zero.Terms = make([]analysis.Packed, 2)
	view, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{{{Term: "a"}}}))
	if err != nil {
		t.Fatal(err)
	}
	zero.Terms[1] = view
	b := vector.Batch{Records: []vector.Record{record(1, 1), zero}, Delete: []int64{2}, After: 1, Checkpoint: 2}
	for _, method := range []string{"Points/Get", "Points/Upsert", "Points/DeleteVectors", "Points/Delete"} {
		s.failOn(method, status.Error(codes.Unavailable, "gone"))
		if err := x.Apply(t.Context(), b); !errors.Is(err, vector.ErrUnavailable) {
			t.Errorf("%s fails: error %v", method, err)
		}
		s.heal()
		if at := checkpointOf(t, x); at != 1 {
			t.Errorf("%s fails: checkpoint %d, want 1", method, at)
		}
	}
	// The last request, of the checkpoint itself.
	s.Fault(func(_ string, in any) error {
		if u, ok := in.(*client.UpsertPoints); ok && u.GetPoints()[0].GetId().GetNum() == checkpointID {
			return status.Error(codes.DeadlineExceeded, "")
		}
		return nil
	})
	if err := x.Apply(t.Context(), b); !errors.Is(err, vector.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	s.heal()
	for range 2 {
		apply(t, x, b)
		want := []uint64{uint64(passage.NewID(1, 0)), uint64(passage.NewID(3, 0)), uint64(passage.NewID(3, 1))}
		if got := s.ids(x.name); !slices.Equal(got, want) {
			t.Errorf("points %v, want %v", got, want)
		}
		if at := checkpointOf(t, x); at != 2 {
			t.Errorf("checkpoint %d, want 2", at)
		}
	}
}

func TestEveryRequestWaitsAndIsOfModestSize(t *testing.T) {
	s := startStandIn(t)
	c := config(s.Addr)
	c.Dimensions = 1024
	x := openAt(t, c)
	var mu sync.Mutex
	var sizes []int
	s.Fault(func(method string, in any) error {
		if w, ok := in.(interface{ GetWait() bool }); ok && !w.GetWait() {
			t.Errorf("%s does not wait", method)
		}
		if u, ok := in.(*client.UpsertPoints); ok {
			mu.Lock()
			defer mu.Unlock()
			sizes = append(sizes, proto.Size(u))
		}
		return nil
	})
	r := vector.Record{ID: 7}
	for range 1000 {
		v := make([]float32, 1024)
		v[5] = 1
		r.Vectors = append(r.Vectors, v)
	}
	apply(t, x, vector.Batch{Records: []vector.Record{r}, Checkpoint: 1})
	if got := len(s.ids(x.name)); got != 1000 {
		t.Errorf("%d points", got)
	}
	if slices.Max(sizes) > 2<<20 || len(sizes) < 4 {
		t.Errorf("requests of %v bytes", sizes)
	}
}

func TestBatchesThatCannotBeAreRefused(t *testing.T) {
	s := startStandIn(t)
	x := openAt(t, config(s.Addr))
	for name, r := range map[string]vector.Record{
		"a negative id":        record(-1, 1),
		"an id too large":      record(1<<47, 1),
		"one vector too few":   {ID: 1, Vectors: [][]float32{axis}, Terms: make([]analysis.Packed, 2)},
		"one vector too many":  {ID: 1, Vectors: [][]float32{axis, axis}, Terms: make([]analysis.Packed, 1)},
		"another dimension":    {ID: 1, Vectors: [][]float32{axis[:3]}},
		"more than a record's": record(1, passage.MaxPerRecord+1),
	} {
		err := x.Apply(t.Context(), vector.Batch{Records: []vector.Record{record(5, 1), r}, Checkpoint: 1})
		if err == nil || !strings.Contains(err.Error(), "record ") || len(s.ids(x.name)) > 0 {
			t.Errorf("%s: error %v, points %v", name, err, s.ids(x.name))
		}
	}
}

func TestReadersWriteNothing(t *testing.T) {
	s := startStandIn(t)
	c := config(s.Addr)
	c.ReadOnly = true
	x := openAt(t, c)
	if at, err := x.Checkpoint(t.Context()); at != 0 || err != nil || len(s.names()) > 0 {
		t.Errorf("checkpoint %d, error %v, collections %v", at, err, s.names())
	}
	if _, err := x.Search(t.Context(), axis, passage.Filter{}, 1); !errors.Is(err, vector.ErrUnavailable) {
		t.Errorf("a search before the collection was made: error %v", err)
	}
	writer := openAt(t, config(s.Addr))
	apply(t, writer, vector.Batch{Records: []vector.Record{record(1, 1)}, Checkpoint: 4})
	before := s.Calls("Points/Upsert") + s.Calls("Points/CreateFieldIndex")
	apply(t, x, vector.Batch{Delete: []int64{1}, After: 900, Checkpoint: 901})
	if err := errors.Join(x.Flush(t.Context()), x.Promote(t.Context())); err != nil {
		t.Error(err)
	}
	if at := checkpointOf(t, x); at != 4 || len(s.ids(x.name)) != 1 || len(s.aliases()) > 0 ||
		s.Calls("Points/Upsert")+s.Calls("Points/CreateFieldIndex") != before || s.Calls("Points/Delete") != 1 {
		t.Errorf("checkpoint %d, %d deletions", at, s.Calls("Points/Delete"))
	}
}

func TestPromote(t *testing.T) {
	s := startStandIn(t)
	foreign := config(s.Addr)
	foreign.Generation, foreign.Owner = 2, "catalog-b"
	openAt(t, foreign)
	foreign.Collection, foreign.Owner = "almanac-causeway-gx", "catalog-a"
	openAt(t, foreign)
	c := config(s.Addr)
	c.Generation = 1
	old := openAt(t, c)
	if err := old.Promote(t.Context()); err != nil || s.aliases()["almanac-causeway"] != "almanac-causeway-g1" {
		t.Fatalf("error %v, aliases %v", err, s.aliases())
	}
	abandoned := config(s.Addr)
	abandoned.Generation = 9
	openAt(t, abandoned)

	x := openAt(t, config(s.Addr))
	apply(t, x, vector.Batch{Records: []vector.Record{record(1, 1)}, Checkpoint: 4})
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // queries in flight
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := x.Search(t.Context(), axis, passage.Filter{}, 1); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2 {
		if err := x.Promote(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
	want := []string{"almanac-causeway-g2", "almanac-causeway-g3", "almanac-causeway-gx-g2"}
	if got := s.names(); !slices.Equal(got, want) || s.aliases()["almanac-causeway"] != "almanac-causeway-g3" {
		t.Errorf("collections %v, want %v; aliases %v", got, want, s.aliases())
	}

	// The older generation has nothing to ask.
	if _, err := old.Search(t.Context(), axis, passage.Filter{}, 1); !errors.Is(err, vector.ErrUnavailable) {
		t.Errorf("search in the old generation: error %v", err)
	}
}

// TestAnAliasThatIsGoneComesBack at the next look of the generation that serves, and of
// no other.
func TestAnAliasThatIsGoneComesBack(t *testing.T) {
	s := startStandIn(t)
	var log strings.Builder
	c := config(s.Addr)
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	x := openAt(t, c)
	apply(t, x, vector.Batch{Records: []vector.Record{record(1, 1)}, Checkpoint: 4})
	checkpointOf(t, x)
	if got := s.aliases(); len(got) > 0 {
		t.Fatalf("aliases %v before it is promoted", got)
	}
	if err := x.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.Change(func(state qdranttest.State) { clear(state.Aliases) })
		if at := checkpointOf(t, x); at != 4 || s.aliases()["almanac-causeway"] != "almanac-causeway-g3" {
			t.Errorf("checkpoint %d, aliases %v", at, s.aliases())
		}
	}
	if n := strings.Count(log.String(), "made again"); n != 2 {
		t.Errorf("the log says it %d times:\n%s", n, &log)
	}
	c.Generation = 4
	if err := openAt(t, c).Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if checkpointOf(t, x); s.aliases()["almanac-causeway"] != "almanac-causeway-g4" {
		t.Errorf("aliases %v", s.aliases())
	}
}

// TestNamesOfOthersAreRefused: before a collection is made, and where its name
// was taken meanwhile.
func TestNamesOfOthersAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(qdranttest.State)
		want string
	}{
		{"an alias", func(state qdranttest.State) { state.Aliases["almanac-causeway"] = "almanac-causeway-g1" },
			"the alias almanac-causeway names the collection almanac-causeway-g1, which is not this catalog's"},
		{"a collection", func(state qdranttest.State) {
			state.Collections["almanac-causeway"] = state.Collections["almanac-causeway-g1"]
		}, "a collection has the name almanac-causeway, which must be an alias"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startStandIn(t)
			foreign := config(s.Addr)
			foreign.Owner, foreign.Generation = "catalog-b", 1
			openAt(t, foreign)
			x := openAt(t, config(s.Addr))
			s.Change(c.take)
			before, later := s.names(), config(s.Addr)
			later.Generation = 4
			for call, err := range map[string]error{"checkpoint": use(t, later), "promote": x.Promote(t.Context())} {
				if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, vector.ErrUnavailable) {
					t.Errorf("%s: error %v, want one with %q", call, err, c.want)
				}
			}
			if got := s.names(); !slices.Equal(got, before) {
				t.Errorf("collections %v, want %v", got, before)
			}
		})
	}
}

func TestDrop(t *testing.T) {
	s := startStandIn(t)
	x := openAt(t, config(s.Addr))
	other := config(s.Addr)
	other.Generation = 4
	openAt(t, other)
	for range 2 {
		if err := x.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.names(); !slices.Equal(got, []string{"almanac-causeway-g4"}) {
		t.Errorf("left are %v", got)
	}
	if checkpointOf(t, x) != 0 {
		t.Error("it is not made again when it is needed")
	}
	reader := config(s.Addr)
	reader.ReadOnly = true
	before := s.names()
	if err := openAt(t, reader).Drop(t.Context()); err == nil || !slices.Equal(s.names(), before) {
		t.Errorf("dropped by a reader: error %v, left are %v", err, s.names())
	}
}

// TestAnotherNodeAnswers holds that a node that is gone, or that ends, is not noticed while
// another one answers, and that all are asked.
func TestAnotherNodeAnswers(t *testing.T) {
	first, second := startStandIn(t), startStandIn(t)
	openAt(t, config(first.Addr)) // both have the collection, as nodes of one cluster have
	openAt(t, config(second.Addr))
	c := config(strings.Join([]string{"127.0.0.1:1", first.Addr, second.Addr}, ","))
	c.ReadOnly = true
	x := openAt(t, c)
	both := func() bool {
		if _, err := x.Search(t.Context(), axis, passage.Filter{}, 1); err != nil {
			t.Fatal(err)
		}
		return first.Calls("Points/Query") > 0 && second.Calls("Points/Query") > 0
	}
	wait.Until(t, "both answer", both)
	for _, gone := range []standIn{first, second} {
		gone.failOn("Points/Query", status.Error(codes.Unavailable, "shutting down"))
		for range 6 {
			both()
		}
		gone.heal()
	}
	first.failOn("Points/Query", status.Error(codes.Unavailable, "shutting down"))
	second.failOn("Points/Query", status.Error(codes.Unavailable, "shutting down"))
	if _, err := x.Search(t.Context(), axis, passage.Filter{}, 1); !errors.Is(err, vector.ErrUnavailable) ||
		!strings.HasSuffix(err.Error(), c.Addr+" cannot be reached: shutting down") {
		t.Errorf("error %v", err)
	}
	c.Addr = first.Addr + ",elsewhere"
	if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), `"elsewhere" is not host:port`) {
		t.Errorf("error %v", err)
	}
}

// TestANewCollectionTakesItsTime holds that a server that answers is waited for while it
// makes a collection, which takes a real one seconds, and that nothing is said then.
func TestANewCollectionTakesItsTime(t *testing.T) {
	var mu sync.Mutex
	patient := map[string]bool{}
	addr := qdranttest.StartAt(t, "127.0.0.1:0", grpc.ChainUnaryInterceptor(func(ctx context.Context, in any,
		info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		until, _ := ctx.Deadline()
		mu.Lock()
		patient[info.FullMethod] = until.After(time.Now().Add(time.Hour))
		mu.Unlock()
		return next(ctx, in)
	})).Addr
	c := config(addr)
	c.Timeout = 24 * time.Hour
	openAt(t, c)
	for method, want := range map[string]bool{"/qdrant.Qdrant/HealthCheck": false, "/qdrant.Collections/Create": true,
		"/qdrant.Points/CreateFieldIndex": true} {
		if got, ok := patient[method]; !ok || got != want {
			t.Errorf("%s: %v %v", method, got, ok)
		}
	}
}
