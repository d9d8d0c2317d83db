// Package postgrestest starts a PostgreSQL server of its own for the tests of a package.
package postgrestest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"almanac/testing/wait"
)

// M runs the tests of a package, and stops the server that they have started.
type M struct{ *testing.M }

// Run returns the exit code.
func (m M) Run() int {
	code := m.M.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// server is the one server of the process.
var server struct {
	sync.Mutex
	dir     string
	process *exec.Cmd
	count   atomic.Int64 // of databases
}

// Database returns the address of a new, empty database, which is gone with the server.
// Without PostgreSQL on the machine the test is skipped.
func Database(tb testing.TB) string {
	tb.Helper()
	bin := programs(tb)
	server.Lock()
	defer server.Unlock()
	if server.process == nil {
		start(tb, bin)
	}
	name := fmt.Sprintf("almanac%d", server.count.Add(1))
	Run(tb, Address("postgres"), `CREATE DATABASE `+name+` ENCODING 'UTF8' TEMPLATE template0`)
	return Address(name)
}

// Empty removes all rows of a catalog, as if its tables had just been made.
func Empty(tb testing.TB, address string) {
	tb.Helper()
	// TRUNCATE would make new files for every table and index.
	Run(tb, address, `SET session_replication_role = replica; DO $$ DECLARE t text; BEGIN
FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('goose_db_version', 'writers')
LOOP EXECUTE 'DELETE FROM ' || t; END LOOP;
FOR t IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND sequencename NOT LIKE 'goose%'
LOOP EXECUTE 'ALTER SEQUENCE ' || t || ' RESTART'; END LOOP; END $$`)
}

// Address is that of a database of the server.
func Address(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("almanac"), Path: "/" + database,
		RawQuery: url.Values{"host": {server.dir}}.Encode()}).String()
}

// programs is the directory of the newest version's programs.
func programs(tb testing.TB) string {
	tb.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	slices.SortFunc(found, func(a, b string) int { return versionOf(b) - versionOf(a) })
	if len(found) == 0 {
		if path, err := exec.LookPath("postgres"); err == nil {
			found = []string{path}
		} else {
			tb.Skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
		}
	}
	return filepath.Dir(found[0])
}

// versionOf is the version in /usr/lib/postgresql/15/bin/postgres.
func versionOf(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// start makes a cluster and starts its server, which listens on a socket in the
// cluster's directory alone and keeps nothing through a power failure.
func start(tb testing.TB, bin string) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "pg") // a socket's path has 107 bytes at most
	if err != nil {
		tb.Fatal(err)
	}
	server.dir = dir
	as := account(tb, dir)
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "almanac", "-A", "trust", "-N", "-E", "UTF8",
		"--locale=C.UTF-8")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, out)
	}
	server.process = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-h", "", "-F",
		"-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=300")
	server.process.SysProcAttr, server.process.Dir = as, dir
	if err := server.process.Start(); err != nil {
		tb.Fatal(err)
	}
	wait.Until(tb, "PostgreSQL answers", func() bool {
		c, err := pgx.Connect(context.Background(), Address("postgres"))
		if err != nil {
			return false
		}
		return c.Close(context.Background()) == nil
	})
}

// account is who runs the server, which refuses to be root.
func account(tb testing.TB, dir string) *syscall.SysProcAttr {
	tb.Helper()
	as := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		return as
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		tb.Skip("root runs the tests, and there is no user postgres to run PostgreSQL")
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		tb.Fatal(err)
	}
	as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return as
}

// Run executes a statement in a database.
func Run(tb testing.TB, address, statement string) {
	tb.Helper()
	c := connect(tb, address)
	defer c.Close(context.Background())
	if _, err := c.Exec(tb.Context(), statement); err != nil {
		tb.Fatal(err)
	}
}

// Link leads to a database until it is cut.
type Link struct {
	Address string

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
}

// Through returns a link to a database.
func Through(tb testing.TB, address string) *Link {
	tb.Helper()
	to, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	to.Host, to.RawQuery = l.Addr().String(), "sslmode=disable"
	link := &Link{Address: to.String(), open: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go link.lead(c)
		}
	}()
	return link
}

// lead copies what both sides of a connection say.
func (l *Link) lead(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("unix", filepath.Join(server.dir, ".s.PGSQL.5432"))
	if err != nil {
		return
	}
	defer s.Close()
	l.mu.Lock()
	cut := l.cut
	l.open[c] = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.open, c)
		l.mu.Unlock()
	}()
	if cut {
		return
	}
	go func() { _, _ = io.Copy(s, c); s.Close() }()
	_, _ = io.Copy(c, s)
}

// Cut ends all connections, and lets none through until Heal.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for c := range l.open {
		c.Close()
	}
}

// Heal lets connections through again.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Hold executes a statement in a transaction that stays open until it is released.
func Hold(tb testing.TB, address, statement string) (release func()) {
	tb.Helper()
	c := connect(tb, address)
	tx, err := c.Begin(tb.Context())
	if err == nil {
		_, err = tx.Exec(tb.Context(), statement)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return func() { _ = c.Close(context.Background()) }
}

func connect(tb testing.TB, address string) *pgx.Conn {
	tb.Helper()
	c, err := pgx.Connect(tb.Context(), address)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func stop() error {
	server.Lock()
	defer server.Unlock()
	if server.process == nil {
		return nil
	}
	_ = server.process.Process.Signal(syscall.SIGQUIT) // stops without tidying up
	_ = server.process.Wait()
	return os.RemoveAll(server.dir)
}
