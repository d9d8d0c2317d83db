package workbench_test

import (
	"fmt"
	"math"
	"testing"

	"almanac/catalog"
	"almanac/retrieval/workbench"
)

func TestSample(t *testing.T) {
	counts := []catalog.SearchCount{{Query: "often", N: 90}, {Query: "now and then", N: 9}, {Query: "once", N: 1}}
	top, err := workbench.Sample(counts, workbench.SampleTop, 2, 1)
	if err != nil || len(top) != 2 || top[0].Query != "often" || top[1].Query != "now and then" {
		t.Errorf("top is %v, %v", top, err)
	}
	if _, err := workbench.Sample(counts, "by feel", 2, 1); err == nil {
		t.Error("an unknown way is no error")
	}
	const draws = 20_000
	for how, want := range map[string][]float64{
		workbench.SampleRandom: {1. / 3, 1. / 3, 1. / 3}, workbench.SampleProportional: {.9, .09, .01},
	} {
		first := map[string]int{}
		for seed := range uint64(draws) {
			one, err := workbench.Sample(counts, how, 1, seed)
			if err != nil || len(one) != 1 {
				t.Fatal(one, err)
			}
			first[one[0].Query]++
		}
		for i, c := range counts {
			share := float64(first[c.Query]) / draws
			if margin := 4 * math.Sqrt(want[i]*(1-want[i])/draws); math.Abs(share-want[i]) > margin { // four sigma
				t.Errorf("%s: %s is drawn in %.4f, want %.2f ± %.4f", how, c.Query, share, want[i], margin)
			}
		}
		again, _ := workbench.Sample(counts, how, 2, 7)
		once, _ := workbench.Sample(counts, how, 2, 7)
		if fmt.Sprint(again) != fmt.Sprint(once) {
			t.Errorf("%s: the same seed gives %v and %v", how, again, once)
		}
	}
	if all, err := workbench.Sample(counts, workbench.SampleRandom, 9, 1); err != nil || len(all) != 3 {
		t.Errorf("nine of three are %v, %v", all, err)
	}
}
