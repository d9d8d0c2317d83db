package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// gibibyte is the memory of the smallest container, as compose.yaml has it.
const gibibyte = 1 << 30

// confined returns a program that runs another in a memory cgroup of a gibibyte, as
// a container does: beyond it the kernel kills. Where none can be made it is the other
// one itself, whose memory is measured then, as it is anyway.
func confined(tb testing.TB, program string) string {
	tb.Helper()
	group, err := newGroup()
	if err != nil {
		tb.Logf("measured only, without a cgroup: %v", err)
		return program
	}
	script := filepath.Join(tb.TempDir(), "confined")
	text := fmt.Sprintf("#!/bin/sh\necho $$ >%s/cgroup.procs && exec %s \"$@\"\n", group, program)
	tb.Cleanup(func() { _ = os.Remove(group) }) // the program has ended
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		tb.Fatal(err)
	}
	return script
}

// newGroup makes a cgroup of version 2 or 1 that has a gibibyte and no swap.
func newGroup() (dir string, err error) {
	for root, limits := range map[string][]string{
		"/sys/fs/cgroup":        {"memory.max", "memory.swap.max"},
		"/sys/fs/cgroup/memory": {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
	} {
		if _, missing := os.Stat(filepath.Join(root, "cgroup.procs")); missing != nil {
			err = errors.Join(err, missing)
			continue
		}
		made, failed := os.MkdirTemp(root, "almanac-test-*")
		if failed == nil {
			if failed = os.WriteFile(filepath.Join(made, limits[0]), []byte(strconv.Itoa(gibibyte)), 0); failed == nil {
				swap := map[bool]string{true: "0", false: strconv.Itoa(gibibyte)}[limits[1] == "memory.swap.max"]
				_ = os.WriteFile(filepath.Join(made, limits[1]), []byte(swap), 0) // where there is no swap there is no file
				return made, nil
			}
			_ = os.Remove(made)
		}
		err = errors.Join(err, failed)
	}
	return "", err
}

// children is the most memory, in MB, that a program which the server has started
// and which runs has had.
func (s *server) children() (most int) {
	processes, _ := filepath.Glob("/proc/[0-9]*/status")
	parent := fmt.Sprintf("\nPPid:\t%d\n", s.cmd.Process.Pid)
	for _, name := range processes {
		status, _ := os.ReadFile(name) // it may have ended
		if strings.Contains(string(status), parent) {
			most = max(most, megabytes(string(status), "VmHWM"))
		}
	}
	return most
}

// indexed waits until what the catalog holds is indexed: as long as it takes.
func (s *server) indexed(tb testing.TB) {
	tb.Helper()
	for {
		select {
		case <-s.exited:
			tb.Fatalf("the program ended with %d while it indexed", s.exitCode)
		case <-time.After(100 * time.Millisecond):
		}
		if status, _, _ := s.get(tb, "/ready"); status != http.StatusOK {
			continue
		}
		var now struct{ Index struct{ Lag int } }
		if _, _, body := s.get(tb, "/status"); json.Unmarshal([]byte(body), &now) == nil && now.Index.Lag == 0 {
			return
		}
	}
}
