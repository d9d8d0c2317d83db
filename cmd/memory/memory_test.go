package memory

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"almanac/testing/wait"
)

// The mounts of a host and of containers with cgroups of version 1 and 2, as the
// kernel writes them.
const (
	mountsV1 = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
`
	mountsV1Container = `35 31 0:32 /docker/4f2a /sys/fs/cgroup/memory ro,nosuid master:15 - cgroup cgroup rw,memory
`
	mountsV2 = `23 1 0:21 / / rw,relatime - overlay overlay rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
`
	mountsV2Container = `30 23 0:26 /../../4f2a /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw
`
	mountsV2Spaces = `30 23 0:26 / /the\040cgroups rw - cgroup2 cgroup2 rw
`
)

func TestMemoryLimit(t *testing.T) {
	const v2, v1, none = "sys/fs/cgroup", "sys/fs/cgroup/memory", "9223372036854771712\n"
	for name, tt := range map[string]struct {
		groups, mounts string
		files          map[string]string
		want           int64
	}{
		"no cgroups":        {"", "", nil, 0},
		"version 2":         {"0::/\n", mountsV2, map[string]string{v2 + "/memory.max": "1073741824\n"}, 1 << 30},
		"version 2, max":    {"0::/\n", mountsV2, map[string]string{v2 + "/memory.max": "max\n"}, 0},
		"version 2, a root": {"0::/\n", mountsV2, nil, 0}, // which has no such file
		"version 2, nested, the outer one is less": {"0::/almanac.slice/serve.service\n", mountsV2, map[string]string{
			v2 + "/almanac.slice/memory.max":               "500000000\n",
			v2 + "/almanac.slice/serve.service/memory.max": "800000000\n",
		}, 500_000_000},
		"version 2, nested, the inner one is less": {"0::/almanac.slice/serve.service\n", mountsV2, map[string]string{
			v2 + "/almanac.slice/memory.max":               "max\n",
			v2 + "/almanac.slice/serve.service/memory.max": "800000000\n",
			v2 + "/almanac.slice/other.service/memory.max": "1000\n",
		}, 800_000_000},
		"version 2, outside of its namespace": {"0::/../4f2b\n", mountsV2Container, map[string]string{
			v2 + "/memory.max": "600000000\n"}, 600_000_000},
		"version 2, an odd place": {"0::/a\n", mountsV2Spaces, map[string]string{
			"the cgroups/a/memory.max": "700000000"}, 700_000_000},
		"version 1": {"5:cpu:/a\n4:memory:/docker/4f2a\n", mountsV1, map[string]string{
			v1 + "/docker/4f2a/memory.limit_in_bytes":        "1073741824\n",
			"sys/fs/cgroup/cpu/a/memory.limit_in_bytes":      "1000\n",
			v1 + "/docker/4f2a/b/memory.limit_in_bytes":      "1000\n",
			v1 + "/docker/memory.limit_in_bytes":             none,
			v1 + "/memory.limit_in_bytes":                    none,
			"sys/fs/cgroup/memory/docker/4f2a/memory.max":    "1000\n",
			"sys/fs/cgroup/cpu/docker/memory.limit_in_bytes": "1000\n",
		}, 1 << 30},
		"version 1, none": {"4:cpu,memory:/docker/4f2a\n", mountsV1, map[string]string{
			v1 + "/docker/4f2a/memory.limit_in_bytes": none, v1 + "/memory.limit_in_bytes": none}, 0},
		"version 1, pages of 64 KiB": {"4:memory:/\n", mountsV1, map[string]string{
			v1 + "/memory.limit_in_bytes": "9223372036854710272\n"}, 0},
		"version 1, nested": {"4:memory:/docker/4f2a\n", mountsV1, map[string]string{
			v1 + "/docker/4f2a/memory.limit_in_bytes": "2000000000\n",
			v1 + "/docker/memory.limit_in_bytes":      "900000000\n",
			v1 + "/memory.limit_in_bytes":             none}, 900_000_000},
		"version 1, in a container": {"4:memory:/docker/4f2a\n", mountsV1Container, map[string]string{
			v1 + "/memory.limit_in_bytes": "1073741824\n"}, 1 << 30},
		"version 1, a container within": {"4:memory:/docker/4f2a/inner\n", mountsV1Container, map[string]string{
			v1 + "/memory.limit_in_bytes":       "1073741824\n",
			v1 + "/inner/memory.limit_in_bytes": "1000000\n"}, 1_000_000},
		"version 1, a name that begins alike": {"4:memory:/docker/4f2ab\n", mountsV1Container, map[string]string{
			v1 + "/memory.limit_in_bytes": "1073741824\n", v1 + "/b/memory.limit_in_bytes": "1000\n"}, 1 << 30},
		"both versions": {"4:memory:/\n0::/\n", mountsV1 + "41 31 0:38 / /unified rw - cgroup2 cgroup2 rw\n",
			map[string]string{v1 + "/memory.limit_in_bytes": "1073741824\n"}, 1 << 30},
		"rubbish": {"4:memory\n\n::\n0::/\n", "- - -\n" + mountsV2, map[string]string{
			v2 + "/memory.max": "a lot\n"}, 0},
	} {
		if got := limitOf(tree(tt.groups, tt.mounts, tt.files)); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func tree(groups, mounts string, files map[string]string) fstest.MapFS {
	root := fstest.MapFS{"proc/self/cgroup": {Data: []byte(groups)}, "proc/self/mountinfo": {Data: []byte(mounts)}}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

func FuzzMemoryLimit(f *testing.F) {
	f.Add("4:memory:/docker/4f2a\n", mountsV1Container)
	f.Add("0::/../4f2b\n", mountsV2Container)
	f.Add("0::/\n", `1 1 1 \ \134040 - cgroup2 c c`)
	f.Fuzz(func(t *testing.T, groups, mounts string) {
		if limit := limitOf(tree(groups, mounts, nil)); limit < 0 || limit == math.MaxInt64 {
			t.Errorf("limit %d", limit)
		}
	})
}

func TestALargeHeapGainsLess(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 100}, {1 << 20, 100}, {garbage, 100}, {2 * garbage, 50}, {1600 << 20, 48}, {100 << 30, 20}} {
		if got := percentOf(c.live); got != c.want {
			t.Errorf("of %d MB: %d %%, want %d", c.live>>20, got, c.want)
		}
	}
}

// TestCollectionsAreFollowed holds that each collection is noticed, not the first alone.
func TestCollectionsAreFollowed(t *testing.T) {
	var n atomic.Int64
	afterCollections(func() { n.Add(1) })
	for want := range int64(3) {
		wait.Until(t, "another collection is noticed", func() bool {
			runtime.GC()
			return n.Load() > want
		})
	}
}
