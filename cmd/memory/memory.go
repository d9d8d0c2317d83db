// Package memory keeps the process within the memory that it may use.
package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
)

// Respect makes the garbage collector work harder once nine tenths of the container's
// memory are used, unless the environment sets GOMEMLIMIT, and bounds the garbage of a
// large heap, unless it sets GOGC. It is called once.
func Respect() {
	if os.Getenv("GOMEMLIMIT") == "" {
		if limit := limitOf(os.DirFS("/")); limit > 0 {
			debug.SetMemoryLimit(limit / 10 * 9)
		}
	}
	if os.Getenv("GOGC") == "" {
		afterCollections(boundGarbage())
	}
}

// garbage is how much a large heap may grow before it is collected, in bytes. Go's
// default is by as much as is live, which is a gigabyte and a half for the index of a
// million passages. Collecting that costs little: it has few pointers to follow.
const garbage = 768 << 20

// leastPercent of the live heap may always be gained, so that a heap of many gigabytes
// is not collected all the time.
const leastPercent = 20

// percentOf is how much a heap may grow, in percent of what is live.
func percentOf(live uint64) int {
	return int(max(leastPercent, min(100, garbage*100/max(live, 1))))
}

// boundGarbage returns a function that sets how much the heap may grow from now on.
func boundGarbage() func() {
	percent := 100
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	return func() {
		metrics.Read(sample)
		if next := percentOf(sample[0].Value.Uint64()); next != percent {
			percent = next
			debug.SetGCPercent(percent)
		}
	}
}

// afterCollections calls a function after each collection, which takes the object
// that it waits for.
func afterCollections(do func()) {
	object := new([64]byte)
	runtime.AddCleanup(object, func(do func()) {
		do()
		afterCollections(do)
	}, do)
}

// noLimit is what version 1 of cgroups says instead of "max", rounded down to a
// page of whatever size.
const noLimit = math.MaxInt64 &^ (1<<20 - 1)

// limitOf returns the least limit of the process's memory cgroup and those
// around it, in bytes; 0 if there is none. It reads the files below the root
// directory that man 7 cgroups and man 5 proc describe.
func limitOf(root fs.FS) int64 {
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // where there is none, there is no limit
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	least := int64(noLimit)
	for line := range strings.Lines(string(groups)) {
		// 4:cpu,memory:/path in version 1, 0::/path in version 2.
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		kind, option, file := "cgroup", "memory", "memory.limit_in_bytes"
		if f[0] == "0" {
			kind, option, file = "cgroup2", "", "memory.max"
		} else if !slices.Contains(strings.Split(f[1], ","), option) {
			continue
		}
		for _, m := range mountsOf(string(mounts), kind, option) {
			for _, dir := range m.upwards(f[2]) {
				text, err := fs.ReadFile(root, path.Join(dir, file)[1:])
				if limit, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil {
					least = min(least, limit)
				}
			}
		}
	}
	if least >= noLimit {
		return 0
	}
	return max(least, 0)
}

// mount is a part of a file system and where it is seen.
type mount struct{ part, at string }

// mountsOf returns the mounts of a kind of file system that have an option; ""
// is any.
func mountsOf(mountinfo, kind, option string) (out []mount) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(mountinfo) {
		// 35 31 0:32 /part /at rw,relatime shared:9 - cgroup cgroup rw,memory
		here, there, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(here), strings.Fields(there)
		if !ok || len(f) < 5 || len(g) < 3 || g[0] != kind || !path.IsAbs(f[4]) ||
			option != "" && !slices.Contains(strings.Split(g[2], ","), option) {
			continue
		}
		out = append(out, mount{unescape.Replace(f[3]), unescape.Replace(f[4])})
	}
	return out
}

// upwards returns the directories of a group and of those around it, as far as
// they are mounted. In a namespace of its own a group may be outside of the
// mount, and is then the mount itself.
func (m mount) upwards(group string) []string {
	rest, inside := strings.CutPrefix(path.Clean(group), strings.TrimSuffix(m.part, "/"))
	if !inside || rest != "" && rest[0] != '/' {
		rest = ""
	}
	dirs := []string{m.at}
	for name := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '/' }) {
		dirs = append(dirs, path.Join(dirs[len(dirs)-1], name))
	}
	return dirs
}
