// Package memory keeps the process within the memory that it is given.
package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Respect has the collector work harder from nine tenths of the container's
// memory on, unless the environment sets GOMEMLIMIT.
func Respect() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := limitOf(os.DirFS("/")); limit > 0 {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
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
