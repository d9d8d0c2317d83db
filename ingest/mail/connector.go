package mail

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"almanac/catalog"
	"almanac/ingest"
)

// Kind is the kind of sources that network files call mail.
var Kind = ingest.Kind[settings, archives]{
	Name: "mail",
	Summary: "Reads the archives of mailing lists, group by group, from mbox files or from an archive's " +
		"export in that format.",
	Example: `sources:
  - name: mail
    kind: mail
    every: 1h
    options:
      groups:                     # mailing lists
        - name: cip-vote          # stands for {group} below
          id: "4712"              # stands for {id}: the list's in the export; only needed there
          votes: true             # its messages contain formal votes; default false
        - {name: cip-discuss, id: "4711"}
      files: mail/{group}*.mbox   # with * and ? as in a shell; in the network's folder or absolute
      export: https://lists.example.org/export?group={id}  # instead of files
      token_env: LISTS_TOKEN      # variable with the export's bearer token
      message: https://lists.example.org/g/{group}/message/{number}  # page of a message; default none
`,
	Open: func(s settings, env ingest.Environment) (ingest.Connector[archives], error) {
		c := &connector{opts: s, env: env}
		if s.TokenEnv != "" {
			if c.token = env.Secret(s.TokenEnv); c.token == "" {
				return nil, fmt.Errorf("option token_env: the environment variable %s is not set", s.TokenEnv)
			}
		}
		return c, nil
	},
}

type connector struct {
	opts  settings
	token string // for exports; "" for none
	env   ingest.Environment
}

// archives is what a run remembers for the next one, by group.
type archives map[string]past

// past is what is remembered about a group's archive.
type past struct {
	Print    string   `json:"print"` // digest of its files or its export
	ETag     string   `json:"etag,omitempty"`
	Modified string   `json:"modified,omitempty"`
	Threads  []thread `json:"threads"` // sorted by number
}

// thread is what is remembered about a thread: its key is that of its first
// message.
type thread struct {
	Print    uint64  `json:"print"`
	Messages []int64 `json:"messages"` // numbers, oldest first
}

// Sync implements ingest.Connector.
func (c *connector) Sync(ctx context.Context, known archives, out ingest.Sink) (archives, ingest.Outcome, error) {
	left, _ := filepath.Glob(filepath.Join(c.env.WorkDir, temporary)) // the pattern is valid
	for _, file := range left {
		_ = os.Remove(file) // left by a killed run
	}
	s := &syncRun{connector: c, out: out, known: known, now: archives{}}
	var errs []error
	for _, g := range c.opts.Groups {
		err := s.group(ctx, g)
		if ctx.Err() != nil {
			return nil, ingest.Outcome{}, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("group %s: %w", g.Name, err))
		}
	}
	return s.now, ingest.Outcome{Complete: true}, errors.Join(errs...)
}

// syncRun is one pass over the archives.
type syncRun struct {
	*connector
	out         ingest.Sink
	known, now  archives
	done, total int // messages
}

var errEmptied = errors.New("its archive has no messages anymore")

// group reads the archive of a group.
func (s *syncRun) group(ctx context.Context, g group) error {
	known := s.known[g.Name]
	in, err := s.open(ctx, g, known)
	if errors.Is(err, errUnchanged) {
		for _, t := range known.Threads {
			s.keep(g, t)
		}
		s.now[g.Name] = known
		return nil
	}
	if err != nil {
		return err
	}
	defer in.close()
	files, err := openAll(in.files)
	defer closeAll(files)
	if err != nil {
		return err
	}
	threads, err := readArchive(ctx, g, files, s.env.Now(), s.out)
	if err != nil {
		return err
	}
	if len(threads) == 0 && len(known.Threads) > 0 {
		return errEmptied
	}
	old := map[int64]uint64{}
	for _, t := range known.Threads {
		old[t.Messages[0]] = t.Print
	}
	now := past{Print: in.Print, ETag: in.ETag, Modified: in.Modified, Threads: make([]thread, 0, len(threads))}
	for _, posts := range threads {
		s.total += len(posts)
	}
	buffer := bufio.NewReaderSize(nil, 32<<10)
	for _, posts := range threads {
		t := remembered(posts)
		if old[t.Messages[0]] == t.Print {
			s.keep(g, t)
		} else if err := s.put(ctx, reading{s, g, files, buffer, posts}); err != nil {
			return err
		}
		now.Threads = append(now.Threads, t)
		s.done += len(posts)
		s.out.Progress(s.done, s.total)
	}
	s.now[g.Name] = now
	return nil
}

func openAll(names []string) (files []*os.File, err error) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // opened read-only
	}
}

// remembered returns what is remembered about a thread.
func remembered(posts []post) thread {
	t := thread{Messages: make([]int64, 0, len(posts))}
	h := fnv.New64a()
	for _, p := range posts {
		t.Messages = append(t.Messages, p.number)
		_ = binary.Write(h, binary.BigEndian, []uint64{uint64(p.number), p.print}) // a hash never fails
	}
	t.Print = max(h.Sum64(), 1)
	return t
}

// keep reports a thread and its messages as unchanged.
func (s *syncRun) keep(g group, t thread) {
	s.out.Keep(catalog.Ref{Kind: catalog.KindMailThread, Key: g.key(t.Messages[0])})
	for _, n := range t.Messages {
		s.out.Keep(catalog.Ref{Kind: catalog.KindMailMessage, Key: g.key(n)})
	}
}

// put writes a thread and its messages. It first surveys the thread, so that it
// never holds more than one message.
func (s *syncRun) put(ctx context.Context, r reading) error {
	t, err := r.survey()
	if err != nil {
		return err
	}
	e, err := r.threadEntry(t)
	if err != nil {
		return err
	}
	if err := s.out.Put(ctx, e); err != nil {
		return err
	}
	known := map[string]bool{}
	for i, p := range r.posts {
		l, err := readLetter(r.at(p))
		if err != nil {
			return err
		}
		if l.fault != nil {
			s.out.Warn(r.group.key(p.number), "not all of it could be read: "+l.fault.Error())
		}
		e, err := r.messageEntry(i, p, l, known)
		if err != nil {
			return err
		}
		if err := s.out.Put(ctx, e); err != nil {
			return err
		}
		known[id(l.header)] = true
	}
	return nil
}
