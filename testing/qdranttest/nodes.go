package qdranttest

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"almanac/testing/port"
	"almanac/testing/wait"
)

// Program is a Qdrant program that tests start; "" if the environment names none.
func Program() string { return os.Getenv("ALMANAC_TEST_QDRANT") }

// Node is a real server, alone or in a cluster.
type Node struct {
	Addr string // of its gRPC interface

	http, peers string // its other addresses
	others      []*Node
	dir         string
	process     *exec.Cmd
	log         bytes.Buffer
}

// Nodes starts a server, or a cluster of several, which the test's end kills. Without a
// program the test is skipped.
func Nodes(tb testing.TB, n int) []*Node {
	tb.Helper()
	if Program() == "" {
		tb.Skip("ALMANAC_TEST_QDRANT does not name a Qdrant program")
	}
	nodes := make([]*Node, n)
	for i := range nodes {
		nodes[i] = &Node{Addr: port.Keep(tb), http: port.Keep(tb), peers: port.Keep(tb), others: nodes, dir: tb.TempDir()}
	}
	for i, node := range nodes {
		tb.Cleanup(func() {
			node.Kill()
			if tb.Failed() {
				tb.Logf("the end of node %d's log:\n%s", i+1, node.log.Bytes()[max(0, node.log.Len()-4000):])
			}
		})
		node.Start(tb)
		node.Await(tb)
	}
	return nodes
}

// Addrs are the addresses of nodes as an index gets them.
func Addrs(nodes []*Node) string {
	var addrs []string
	for _, node := range nodes {
		addrs = append(addrs, node.Addr)
	}
	return strings.Join(addrs, ",")
}

// Start starts a node that does not run. The first of a cluster is the one that others join.
func (n *Node) Start(tb testing.TB) {
	tb.Helper()
	n.process = exec.Command(Program())
	n.process.Env = []string{"PATH=" + os.Getenv("PATH"), "QDRANT__TELEMETRY_DISABLED=true",
		"QDRANT__SERVICE__HOST=127.0.0.1", "QDRANT__SERVICE__HTTP_PORT=" + number(n.http),
		"QDRANT__SERVICE__GRPC_PORT=" + number(n.Addr), "QDRANT__STORAGE__STORAGE_PATH=" + n.storage(),
		"QDRANT__STORAGE__SNAPSHOTS_PATH=" + filepath.Join(n.dir, "snapshots")}
	if len(n.others) > 1 {
		n.process.Env = append(n.process.Env, "QDRANT__CLUSTER__ENABLED=true",
			"QDRANT__CLUSTER__P2P__PORT="+number(n.peers))
		n.process.Args = append(n.process.Args, "--uri", "http://"+n.peers)
		if first := n.others[0]; first != n {
			n.process.Args = append(n.process.Args, "--bootstrap", "http://"+first.peers)
		}
	}
	n.process.Dir, n.process.Stdout, n.process.Stderr = n.dir, &n.log, &n.log
	n.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := n.process.Start(); err != nil {
		tb.Fatal(err)
	}
}

// Await waits until a node says that it is ready.
func (n *Node) Await(tb testing.TB) {
	tb.Helper()
	wait.Until(tb, "Qdrant is ready", func() bool {
		res, err := http.Get("http://" + n.http + "/readyz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		conn, err := net.Dial("tcp", n.Addr) // listens later
		if err == nil {
			_ = conn.Close()
		}
		return err == nil && res.StatusCode == http.StatusOK
	})
}

// Recovered waits until each node has all replicas of all shards in use.
func Recovered(tb testing.TB, nodes []*Node) {
	tb.Helper()
	type shard struct{ State string }
	for _, node := range nodes {
		wait.Until(tb, "all replicas are in use", func() bool {
			var list struct{ Collections []struct{ Name string } }
			if !node.get("/collections", &list) || len(list.Collections) == 0 {
				return false
			}
			for _, c := range list.Collections {
				var of struct {
					Local    []shard `json:"local_shards"`
					Remote   []shard `json:"remote_shards"`
					Transfer []any   `json:"shard_transfers"`
				}
				if !node.get("/collections/"+c.Name+"/cluster", &of) || len(of.Transfer) > 0 ||
					slices.ContainsFunc(slices.Concat(of.Local, of.Remote), func(s shard) bool { return s.State != "Active" }) {
					return false
				}
			}
			return true
		})
	}
}

// get decodes the result of a request.
func (n *Node) get(path string, into any) bool {
	res, err := http.Get("http://" + n.http + path)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	answer := struct{ Result any }{into}
	return json.NewDecoder(res.Body).Decode(&answer) == nil && res.StatusCode == http.StatusOK
}

// Kill kills a node; what it has stored stays.
func (n *Node) Kill() {
	if n.process != nil {
		_ = n.process.Process.Kill()
		_ = n.process.Wait()
		n.process = nil
	}
}

// Lose removes what a killed node has stored.
func (n *Node) Lose(tb testing.TB) {
	tb.Helper()
	if err := os.RemoveAll(n.storage()); err != nil {
		tb.Fatal(err)
	}
}

func (n *Node) storage() string { return filepath.Join(n.dir, "storage") }

// number is the port of an address.
func number(addr string) string {
	_, n, _ := net.SplitHostPort(addr)
	return n
}
