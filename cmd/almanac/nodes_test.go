package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"almanac/testing/qdranttest"
	"almanac/testing/wait"
)

// TestNodesOfTheVectorEngineDie kills nodes of a cluster of three, each shard of which is
// on two. With one gone, answers under load are complete and writes go on; with two gone,
// answers say what they lack; a cluster that comes back takes part again, also empty.
func TestNodesOfTheVectorEngineDie(t *testing.T) {
	nodes := qdranttest.Nodes(t, 3)
	model := newModelServer(t, nil)
	at := newSite(t, 24, append(model.settings(), "ALMANAC_SEARCH_PROFILE=default", "ALMANAC_VECTOR_SHARDS=6",
		"ALMANAC_VECTOR_REPLICAS=2", "ALMANAC_VECTOR_COLLECTION=almanac-nodes",
		"ALMANAC_VECTOR_URL=http://"+strings.ReplaceAll(qdranttest.Addrs(nodes), ",", ",http://"))...)
	s := at.serve(t)
	s.ready(t)
	whole := func() bool { return len(s.degraded(t)) == 0 && len(s.down(t)) == 0 }
	wait.Until(t, "the vector engine takes part", whole)

	const question = "how does a tug tow a barge through the canal"
	want := fmt.Sprintf("%+v", s.search(t, question))
	var load sync.WaitGroup
	stop := make(chan struct{})
	asked := make([]int, 3)
	for i := range asked {
		load.Go(func() {
			for ; ; asked[i]++ {
				select {
				case <-stop:
					return
				default:
				}
				r := s.search(t, fmt.Sprintf("%s %d of %d", question, asked[i], i)) // none is remembered
				if len(r.Items) == 0 || len(r.Degraded) > 0 {
					t.Errorf("while a node dies: %+v", r)
				}
			}
		})
	}
	// more asks some questions under load.
	more := func() {
		for range 40 {
			s.degraded(t)
		}
	}
	for i, node := range nodes {
		more()
		node.Kill()
		more()
		if got := fmt.Sprintf("%+v", s.search(t, question)); got != want {
			t.Errorf("without node %d: %s, want %s", i+1, got, want)
		}
		node.Start(t)
		node.Await(t)
		qdranttest.Recovered(t, nodes)
	}
	close(stop)
	load.Wait()
	t.Logf("%d searches while nodes died", asked[0]+asked[1]+asked[2])

	nodes[1].Kill()
	at.write(t, 32)
	at.run(t, "sync")
	wait.Until(t, "pages that came while a node was gone are found, by vectors too", func() bool {
		return s.finds(t, 31) && whole()
	})
	want = fmt.Sprintf("%+v", s.search(t, question))

	nodes[2].Kill()
	wait.Until(t, "answers say that the vectors are missing", func() bool {
		return fmt.Sprint(s.degraded(t)) == "[vector]" && slices.Contains(s.down(t), "vector")
	})
	for _, node := range nodes[1:] {
		node.Start(t)
	}
	for _, node := range nodes[1:] {
		node.Await(t)
	}
	qdranttest.Recovered(t, nodes)
	wait.Until(t, "the vectors take part again", whole)
	if got := fmt.Sprintf("%+v", s.search(t, question)); got != want {
		t.Errorf("with all nodes back: %s, want %s", got, want)
	}

	for _, node := range nodes {
		node.Kill()
		node.Lose(t)
	}
	wait.Until(t, "answers say that the vectors are missing", func() bool { return len(s.down(t)) == 1 })
	for _, node := range nodes {
		node.Start(t)
		node.Await(t)
	}
	wait.Until(t, "an empty cluster is filled again", func() bool {
		return whole() && fmt.Sprintf("%+v", s.search(t, question)) == want
	})
}
