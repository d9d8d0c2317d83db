package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	p := plug{env: environ(t.TempDir(), "ALMANAC_SAMPLE_ANCHOR="+today(), "ALMANAC_LOG_LEVEL=error")}
	data := filepath.Join(home(t), "data")
	began := time.Now()
	p.sync(t, data)
	p.whole = time.Since(began)
	p.want = p.holds(t, data)
	if len(p.want) < 500 {
		t.Fatalf("the sample has only %d lines", len(p.want))
	}
	err := filepath.WalkDir(data, func(_ string, d fs.DirEntry, err error) error {
		if info, infoErr := d.Info(); err == nil && infoErr == nil && !d.IsDir() {
			p.size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// command is a command over the sample, which is killed when ctx ends.
func (p plug) command(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	args = append(args[:1:1], append([]string{"--network", "sample"}, args[1:]...)...)
	cmd := exec.CommandContext(ctx, program(t), args...)
	cmd.Env = p.env
	return cmd
}

// sync syncs to the end.
func (p plug) sync(t *testing.T, data string) {
	t.Helper()
	if out, err := p.command(t.Context(), t, "sync", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("sync: %v\n%s", err, out)
	}
}

// holds is what a catalog holds, in order, without ids, times of reading and
// what parents are called by id.
func (p plug) holds(t *testing.T, data string) []string {
	t.Helper()
	dir := filepath.Join(home(t), "export")
	if out, err := p.command(t.Context(), t, "export", "--data", data, dir).CombinedOutput(); err != nil {
		t.Fatalf("export: %v\n%s", err, out)
	}
	return lines(t, dir)
}

// lines are those of an export.
func lines(t *testing.T, dir string) []string {
	t.Helper()
	keys := map[float64]any{} // id → key
	var objects []map[string]any
	for _, pattern := range []string{"records/*.jsonl", "additions/*.jsonl", "events/*.jsonl"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(text) {
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
	var all []string
	for _, o := range objects {
		if parent, ok := o["parent"].(float64); ok {
			o["parent"] = keys[parent]
		}
		for _, name := range []string{"id", "hash", "first_seen_at"} {
			delete(o, name)
		}
		if data, ok := o["data"].(map[string]any); ok {
			delete(data, "tldr_at")
			for _, hashed := range []string{"sender", "message_id", "in_reply_to"} { // salted by the data directory
				delete(data, hashed)
			}
		}
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
	}
	slices.Sort(all)
	return all
}

// complete syncs again and compares. A further sync finds nothing to do.
func (p plug) complete(t *testing.T, data, how string) {
	t.Helper()
	p.sync(t, data)
	if diff := cmp.Diff(p.want, p.holds(t, data)); diff != "" {
		t.Errorf("%s: (-undisturbed +disturbed)\n%.4000s", how, diff)
	}
	out, err := p.command(t.Context(), t, "sync", "--data", data).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 4 && f[0] != "SOURCE" && (f[1] != "0" || f[2] != "0" || f[4] != "0") {
			t.Errorf("%s: a further sync writes: %s", how, line)
		}
	}
}

func TestSyncKilledAtAnyMomentTheNextCompletes(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	p := newPlug(t)
	r := rand.New(rand.NewPCG(30, 1))
	for i := range soak.Rounds(15) {
		data := filepath.Join(home(t), "data")
		after := time.Duration(r.Int64N(int64(p.whole)))
		moment, cancel := context.WithTimeout(t.Context(), after)
		_ = p.command(moment, t, "sync", "--data", data).Run() // killed, if it is not done
		cancel()
		p.complete(t, data, fmt.Sprintf("%d: killed after %v of %v", i, after, p.whole))
	}
}

// fullDisk syncs onto a disk of $1 KiB mounted at $2, then makes room.
const fullDisk = `mount -t tmpfs -o size="$1"k none "$2" || exit 77
"$3" sync --network sample --data "$2/data" >/dev/null 2>"$2/../first"
echo "$?" >"$2/../code"
mount -o remount,size=200m none "$2" && cp -R "$2/data" "$2/../left"`

func TestSyncOntoAFullDiskTheNextCompletes(t *testing.T) {
	race.Skip(t)
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
		code, _ := os.ReadFile(filepath.Join(dir, "code"))
		said, _ := os.ReadFile(filepath.Join(dir, "first"))
		how := fmt.Sprintf("%d: %d KiB of %d", i, size, p.size>>10)
		if strings.TrimSpace(string(code)) == "1" && !strings.Contains(string(said), "full") &&
			!strings.Contains(string(said), "no space left") {
			t.Errorf("%s: what failed is not said: %.600s", how, said)
		}
		p.complete(t, filepath.Join(dir, "left"), how)
	}
}
