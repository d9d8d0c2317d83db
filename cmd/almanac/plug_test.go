package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"almanac/testing/race"
	"almanac/testing/soak"

	"github.com/google/go-cmp/cmp"
)

// The tests below pull the plug while the sources of the sample network, which
// has one of almost every kind, are read. The next sync must complete, and what
// the catalog holds must be what an undisturbed one holds: nothing twice,
// nothing lost, no half record.

// plug is what they share.
type plug struct {
	env   []string
	whole time.Duration // an undisturbed sync
	size  int64         // bytes it writes
	want  []string      // what it leaves, a line each
}

// undisturbed is made once for all of them.
var undisturbed struct {
	sync.Once
	plug
}

// home is a temporary directory, in memory if there is such a file
// system: what a kill leaves does not depend on the disk, but its time does.
func home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "almanac-plug-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newPlug(t *testing.T) plug {
	t.Helper()
	race.Skip(t)
	undisturbed.Do(func() {
		p := plug{env: environ(os.TempDir(), "ALMANAC_SAMPLE_ANCHOR="+today(), "ALMANAC_LOG_LEVEL=error")}
		at := p.at(filepath.Join(home(t), "data"))
		began := time.Now()
		at.run(t, "sync")
		p.whole = time.Since(began)
		p.want = holds(t, at)
		if len(p.want) < 500 {
			t.Fatalf("the sample has only %d lines", len(p.want))
		}
		err := filepath.WalkDir(at.data, func(_ string, d fs.DirEntry, err error) error {
			if info, infoErr := d.Info(); err == nil && infoErr == nil && !d.IsDir() {
				p.size += info.Size()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		undisturbed.plug = p
	})
	if undisturbed.whole == 0 {
		t.Fatal("there was no undisturbed sync")
	}
	return undisturbed.plug
}

func (p plug) at(data string) site { return site{fixture{network: "sample"}, data, p.env} }

// holds returns what a catalog holds, in order, without ids, times of reading and
// what parents are called by id.
func holds(t *testing.T, at site) (lines []string) {
	t.Helper()
	dir := filepath.Join(home(t), "export")
	at.run(t, "export", dir)
	keys := map[float64]any{} // id → key
	var objects []map[string]any
	for _, folder := range []string{"records", "additions", "events"} {
		names, _ := filepath.Glob(filepath.Join(dir, folder, "*.jsonl"))
		for _, name := range names {
			for line := range bytes.Lines(read(t, name)) {
				var o map[string]any
				if err := json.Unmarshal(line, &o); err != nil {
					t.Fatal(err)
				}
				o["file"] = strings.TrimPrefix(name, dir)
				if id, ok := o["id"].(float64); ok {
					keys[id] = o["key"]
				}
				objects = append(objects, o)
			}
		}
	}
	for _, o := range objects {
		if parent, ok := o["parent"].(float64); ok {
			o["parent"] = keys[parent]
		}
		for _, name := range []string{"id", "hash", "first_seen_at"} {
			delete(o, name)
		}
		if data, ok := o["data"].(map[string]any); ok {
			for _, name := range []string{"tldr_at", "sender", "message_id", "in_reply_to"} { // salted by the data directory
				delete(data, name)
			}
		}
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	slices.Sort(lines)
	return lines
}

// completes syncs again after the n-th disturbance and compares. A further sync finds nothing to do.
func (p plug) completes(t *testing.T, n int, data, how string) {
	t.Helper()
	at := p.at(data)
	at.run(t, "sync")
	if diff := cmp.Diff(p.want, holds(t, at)); diff != "" {
		t.Errorf("%s: (-undisturbed +disturbed)\n%.4000s", how, diff)
	}
	if !soak.Turn(n) {
		return
	}
	for line := range strings.Lines(at.run(t, "sync")) {
		if f := strings.Fields(line); len(f) > 4 && f[0] != "SOURCE" && (f[1] != "0" || f[2] != "0" || f[4] != "0") {
			t.Errorf("%s: a further sync writes: %s", how, line)
		}
	}
}

func TestSyncKilledAtAnyMomentTheNextCompletes(t *testing.T) {
	t.Parallel()
	p := newPlug(t)
	r := rand.New(rand.NewPCG(30, 1))
	for i := range soak.Rounds(15) {
		at := p.at(filepath.Join(home(t), "data"))
		after := time.Duration(r.Int64N(int64(p.whole)))
		at.end(t, syscall.SIGKILL, "sync", after)
		p.completes(t, i, at.data, fmt.Sprintf("%d: killed after %v of %v", i, after, p.whole))
	}
}

// fullDisk syncs onto a disk of $1 KiB mounted at $2, then makes room.
const fullDisk = `mount -t tmpfs -o size="$1"k none "$2" || exit 77
"$3" sync --network sample --data "$2/data" >/dev/null 2>"$2/../first"
echo "$?" >"$2/../code"
mount -o remount,size=200m none "$2" && cp -R "$2/data" "$2/../left"`

func TestSyncOntoAFullDiskTheNextCompletes(t *testing.T) {
	t.Parallel()
	p := newPlug(t)
	r := rand.New(rand.NewPCG(30, 2))
	for i := range soak.Rounds(15) {
		dir := home(t)
		disk := filepath.Join(dir, "disk")
		if err := os.Mkdir(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		size := 64 + r.Int64N(p.size>>10)
		// A mount of one's own needs no privilege in a user namespace of one's own.
		cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", fullDisk, "sh",
			fmt.Sprint(size), disk, program(t))
		cmd.Env = p.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("no file system of a size of its own can be mounted here: %v\n%s", err, out)
		}
		code, said := read(t, filepath.Join(dir, "code")), string(read(t, filepath.Join(dir, "first")))
		how := fmt.Sprintf("%d: %d KiB of %d", i, size, p.size>>10)
		if string(code) == "1\n" && !strings.Contains(said, "full") && !strings.Contains(said, "no space left") {
			t.Errorf("%s: what failed is not said: %.600s", how, said)
		}
		p.completes(t, i, filepath.Join(dir, "left"), how)
	}
}
