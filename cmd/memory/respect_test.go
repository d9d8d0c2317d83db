package memory

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"almanac/testing/race"
	"almanac/testing/wait"
)

// growth is how much the heap may grow before it is collected, in percent.
func growth() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestTheMemoryLimitIsTheContainersUnlessOneIsGiven: what the operator sets in the
// environment, the runtime has read already.
func TestTheMemoryLimitIsTheContainersUnlessOneIsGiven(t *testing.T) {
	const given = 5 << 40
	before := debug.SetMemoryLimit(given)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	t.Setenv("GOGC", "100") // the garbage is the other test's
	t.Setenv("GOMEMLIMIT", "5TiB")
	Respect()
	if got := debug.SetMemoryLimit(-1); got != given {
		t.Errorf("the limit that was given became %d", got)
	}
	want := int64(given)
	if limit, err := memlimit.FromCgroup(); err == nil {
		want = int64(limit / 10 * 9)
	}
	t.Setenv("GOMEMLIMIT", "")
	Respect()
	if got := debug.SetMemoryLimit(-1); got != want {
		t.Errorf("the limit is %d, want %d", got, want)
	}
}

// large is the size of a heap that is collected before it has doubled. No page of it is
// ever touched, so that it takes address space and no memory.
const large = 1100 << 20

func TestTheGarbageOfALargeHeapIsBounded(t *testing.T) {
	race.Skip(t) // the detector touches what shadows it
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOMEMLIMIT", "off")
	t.Setenv("GOGC", "")
	heap := make([]byte, large)
	Respect()
	wait.Until(t, "a large heap gains 69 %", func() bool {
		runtime.GC()
		return growth() == 69 // 768 of 1100 MB
	})
	runtime.KeepAlive(heap)
	wait.Until(t, "a small one doubles again", func() bool {
		runtime.GC()
		return growth() == 100
	})
}

// TestAGrowthThatIsGivenIsKept asks a process of its own, since what Respect follows is
// followed to the end of the process.
func TestAGrowthThatIsGivenIsKept(t *testing.T) {
	race.Skip(t) // as above
	if os.Getenv("GOGC") != "150" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "GOGC=150", "GOMEMLIMIT=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	heap := make([]byte, large)
	Respect()
	var seen atomic.Int64
	afterCollections(func() { seen.Add(1) })
	wait.Until(t, "some collections have ended", func() bool {
		runtime.GC()
		return seen.Load() >= 3
	})
	runtime.KeepAlive(heap)
	if got := growth(); got != 150 {
		t.Errorf("it became %d %%", got)
	}
}
