package recent_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"almanac/catalog/recent"
)

// source has the text of each number under which it is asked for.
type source struct{ asked [][]int }

func (s *source) read(text string) func([]int) (map[int]string, error) {
	return func(missing []int) (map[int]string, error) {
		s.asked = append(s.asked, slices.Clone(missing))
		found := map[int]string{}
		for _, k := range missing {
			if k > 0 {
				found[k] = fmt.Sprint(text, k)
			}
		}
		return found, nil
	}
}

func get(t *testing.T, c *recent.Cache[int, string], s *source, state int64, text string, keys ...int) map[int]string {
	t.Helper()
	got, err := c.Get(state, keys, s.read(text))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestKeepsWhatWasRead(t *testing.T) {
	c, s := recent.New[int, string](2), &source{}
	for _, keys := range [][]int{{1, 2}, {2, 1}, {1, 3}, {2}, {-1}, {-1}, {}} {
		want := map[int]string{}
		for _, k := range keys {
			if k > 0 {
				want[k] = fmt.Sprint("a", k)
			}
		}
		if got := get(t, c, s, 7, "a", keys...); !maps.Equal(got, want) {
			t.Errorf("%d: got %v, want %v", keys, got, want)
		}
	}
	// 3 took the place of 2, and what is missing is asked for again.
	if got, want := fmt.Sprint(s.asked), "[[1 2] [3] [2] [-1] [-1]]"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

func TestForgetsAnotherState(t *testing.T) {
	c, s := recent.New[int, string](8), &source{}
	for _, x := range []struct {
		state int64
		text  string
	}{{1, "old"}, {2, "new"}, {1, "restored"}} {
		if got := get(t, c, s, x.state, x.text, 5)[5]; got != x.text+"5" {
			t.Errorf("state %d: got %s", x.state, got)
		}
	}
}

// TestAReadThatWasOvertaken: what is read at one state comes back after another reader has seen the next.
func TestAReadThatWasOvertaken(t *testing.T) {
	c, s := recent.New[int, string](8), &source{}
	got, err := c.Get(1, []int{5}, func([]int) (map[int]string, error) {
		get(t, c, s, 2, "new", 6)
		return map[int]string{5: "old5"}, nil
	})
	if err != nil || got[5] != "old5" {
		t.Fatalf("got %v %v", got, err)
	}
	if got := get(t, c, s, 2, "new", 5, 6); got[5] != "new5" || got[6] != "new6" {
		t.Errorf("got %v", got)
	}
}

func TestAFailedReadKeepsNothing(t *testing.T) {
	c, s := recent.New[int, string](8), &source{}
	failure := errors.New("away")
	if got, err := c.Get(1, []int{5}, func([]int) (map[int]string, error) { return nil, failure }); err != failure {
		t.Errorf("got %v %v", got, err)
	}
	if got := get(t, c, s, 1, "a", 5)[5]; got != "a5" {
		t.Errorf("got %s", got)
	}
}

// TestConcurrentReadersSeeTheirState: while the state advances nobody gets a value of before the state asked for.
func TestConcurrentReadersSeeTheirState(t *testing.T) {
	c := recent.New[int, int64](4)
	var state atomic.Int64
	var wg sync.WaitGroup
	for reader := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				asked, key := state.Load(), (i+reader)%6
				got, err := c.Get(asked, []int{key}, func([]int) (map[int]int64, error) {
					return map[int]int64{key: state.Load()}, nil
				})
				if err != nil || got[key] < asked {
					t.Errorf("asked at %d, got %d %v", asked, got[key], err)
					return
				}
				if i%50 == 0 {
					state.Add(1)
				}
			}
		})
	}
	wg.Wait()
}
