package mail_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/mail"
	"almanac/testing/connectortest"
)

func TestThreadsAndMessages(t *testing.T) {
	a := harbour(t)
	s := connectortest.NewSource(t, a.config)
	r := s.Sync()
	want := []string{
		"mail_message cip-discuss-11", "mail_message cip-discuss-12", "mail_message cip-discuss-14",
		"mail_message cip-discuss-15", "mail_message cip-vote-3", "mail_message cip-vote-4", "mail_message cip-vote-5",
		"mail_message cip-vote-6", "mail_thread cip-discuss-11", "mail_thread cip-discuss-12", "mail_thread cip-vote-3",
	}
	if diff := cmp.Diff(want, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindMailThread, "cip-discuss-11")
	wantThread := catalog.Record{
		Title: "CIP-12 and 13: buoys", URL: a.server.URL + "/g/cip-discuss/message/11", Container: "cip-discuss",
		Author: "Ada Quay", CreatedAt: day.Add(11 * time.Hour), LastActivityAt: day.Add(14 * time.Hour), Replies: 1,
		Body: "Let us talk about CWP-12.",
	}
	got := catalog.Record{
		Title: rec.Title, URL: rec.URL, Container: rec.Container, Author: rec.Author, CreatedAt: rec.CreatedAt,
		LastActivityAt: rec.LastActivityAt, Replies: rec.Replies, Body: rec.Body, Category: rec.Category,
	}
	if diff := cmp.Diff(wantThread, got); diff != "" {
		t.Errorf("thread (-want +got)\n%s", diff)
	}
	data := connectortest.Data[catalog.MailThread](t, rec)
	if data.Messages != 2 || len(data.Participants) != 2 || data.Participants[0] != "Ada Quay" ||
		!strings.HasPrefix(data.Participants[1], "member-") {
		t.Errorf("thread data %+v", data)
	}
	if diff := cmp.Diff([]string{"CWP-0012"}, data.Proposals); diff != "" { // the subject names another network's
		t.Errorf("proposals (-want +got)\n%s", diff)
	}
	answer := r.Get(t, catalog.KindMailMessage, "cip-discuss-14")
	m := connectortest.Data[catalog.MailMessage](t, answer)
	first := connectortest.Data[catalog.MailMessage](t, r.Get(t, catalog.KindMailMessage, "cip-discuss-11"))
	if answer.Parent != rec.ID || answer.Title != "Re: CIP-12 and 13: buoys" || answer.Body != "Why?" ||
		answer.Author != data.Participants[1] || answer.Author != m.Sender {
		t.Errorf("answer: %+v", answer)
	}
	if m.Number != 2 || m.InReplyTo != first.MessageID || m.InReplyTo == "" ||
		strings.Contains(string(answer.Data), "example") {
		t.Errorf("answer's data: %s", answer.Data)
	}
	connectortest.Unchanged(t, s, r)
}

func TestVotesHangOnTheirThread(t *testing.T) {
	a := harbour(t)
	s := connectortest.NewSource(t, a.config)
	ballot := s.Sync().Get(t, catalog.KindMailThread, "cip-vote-3")
	if ballot.Category != "vote" || !slices.Contains(connectortest.Data[catalog.MailThread](t, ballot).Proposals,
		"CWP-0012") {
		t.Errorf("ballot: %+v", ballot)
	}
	votes := func() (all []string) {
		list, err := s.Store.VotesOn(t.Context(), ballot.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			all = append(all, strings.TrimPrefix(v.URL, a.server.URL)+" "+v.Voter+" "+v.Choice+" "+v.Reason)
		}
		return all
	}
	member := votes()[0]
	member = member[strings.Index(member, "member-"):][:len("member-123456789012")]
	want := []string{
		"/g/cip-vote/message/5 " + member + " abstain We share a building; write to [email hidden]",
		"/g/cip-vote/message/6 Kelpworks against ",
	}
	if diff := cmp.Diff(want, votes()); diff != "" {
		t.Errorf("votes (-want +got)\n%s", diff)
	}
	a.change(func() {
		a.groups["cip-vote"] = append(a.groups["cip-vote"], sentMail{number: 9, subject: "Re: Vote on CWP-12",
			answers: 3, from: "cy@gannet.example", text: "We vote in favour."})
	})
	if r := s.Sync(); r.Created != 1 || r.Updated != 1 || len(votes()) != 2 ||
		!strings.HasPrefix(votes()[1], "/g/cip-vote/message/9 "+member+" in_favour") {
		t.Errorf("after a revote: %d created, %d updated, %q", r.Created, r.Updated, votes())
	}
}

// TestHostileExportsAreRefused: none of these may fill the disk, the memory or
// the table of open files.
func TestHostileExportsAreRefused(t *testing.T) {
	members := func(n, length int) func(string) []byte {
		return func(string) []byte {
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			for i := range n {
				_, _ = w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%0*d.mbox", length, i)}) // stored: no compressor each
			}
			_ = w.Close()
			return b.Bytes()
		}
	}
	bomb := func(pack func(string) []byte) func(string) []byte {
		return func(text string) []byte { return pack(text + strings.Repeat("a", 8<<20)) }
	}
	for name, tt := range map[string]struct {
		pack func(string) []byte
		want string
	}{
		"many files":       {members(1001, 8), "more than 1000 files"},
		"a long directory": {members(30_000, 150), "the directory of the zip has more than 4 MiB"},
		"a zip bomb":       {bomb(zipped), "than 200 times its size"},
		"a gzip bomb":      {bomb(gzipped), "than 200 times its size"},
		"many copies of one bomb": {func(string) []byte {
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			for i := range 6 {
				f, _ := w.Create(fmt.Sprintf("%d.mbox", i))
				_, _ = f.Write(bytes.Repeat([]byte("From a@b.example Mon Jun  9 12:00:00 2031\n"), 50_000))
			}
			_ = w.Close()
			return b.Bytes()
		}, "than 200 times its size"},
	} {
		t.Run(name, func(t *testing.T) {
			a := harbour(t)
			packed := tt.pack(mbox(a.groups["cip-vote"]))
			a.pack, a.kind = func(string) []byte { return packed }, "application/zip"
			work := ""
			a.config.Connector = func(src network.Source, env ingest.Environment) (ingest.Connector[[]byte], error) {
				work = env.WorkDir
				return unsalted(src, env)
			}
			r := connectortest.NewSource(t, a.config).Try(t.Context())
			if r.Err == nil || !strings.Contains(r.Err.Error(), tt.want) {
				t.Errorf("%v, want %q", r.Err, tt.want)
			}
			if left, err := filepath.Glob(filepath.Join(work, "*")); err != nil || len(left) != 0 {
				t.Errorf("left are %v (%v)", left, err)
			}
		})
	}
	a := harbour(t)
	var packed bytes.Buffer // before it is asked for: that takes seconds on a busy machine
	w := zip.NewWriter(&packed)
	for i := range 999 { // a thousand are read
		_, _ = w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("empty-%d.mbox", i)})
	}
	f, _ := w.Create("messages.mbox")
	_, _ = f.Write([]byte(mbox(a.groups["cip-vote"])))
	_ = w.Close()
	a.pack, a.kind = func(string) []byte { return packed.Bytes() }, "application/zip"
	if r := connectortest.NewSource(t, a.config).Sync(); len(r.Records) == 0 {
		t.Error("nothing was read of a thousand files")
	}
}

func TestOnlyThreadsThatChangedAreWritten(t *testing.T) {
	a := harbour(t)
	s := connectortest.NewSource(t, a.config)
	s.Sync()
	a.change(func() {
		a.groups["cip-discuss"] = append(a.groups["cip-discuss"], sentMail{number: 16, subject: "Re: Fog signals",
			answers: 12, text: "Still fog."})
	})
	if r := s.Sync(); r.Created != 1 || r.Updated != 1 || r.Unchanged != 2 || r.Changes != 2 {
		t.Errorf("%d created, %d updated, %d unchanged, %d changes", r.Created, r.Updated, r.Unchanged, r.Changes)
	}
	a.change(func() { a.groups["cip-discuss"] = a.groups["cip-discuss"][:4] })
	r := s.Sync()
	if r.Deleted != 1 || len(r.Records) != 11 {
		t.Errorf("%d deleted, %d records", r.Deleted, len(r.Records))
	}
}

// TestNumbersThatTheArchiveDoesNotGive reads pages of an archive that counts
// nothing, in files of a month each.
func TestNumbersThatTheArchiveDoesNotGive(t *testing.T) {
	months := []string{
		"From ada at foghorn.example  Thu May  1 09:00:00 2031\nFrom: ada at foghorn.example (Ada Quay)\nDate: Thu, " +
			"1 May 2031 09:00:00 +0000\nSubject: [tugs] Buoys\nMessage-ID: <one@foghorn.example>\n\nFrom here it " +
			"began, at 9:00 in 2031:\n\nFrom bram, 9:00 on May 1st 2031\nNote: he was late.\n\n" +
			"From bram at kelp.example  Thu May  1 08:00:00 2031\nFrom: bram at kelp.example (Bram Reed)\nSubject: " +
			"[tugs] Re: Buoys\nMessage-ID: <two@kelp.example>\nIn-Reply-To: <one@foghorn.example>\nArchived-At: " +
			"<https://lists.example.org/two>\n\nFirst by his clock.\n",
		"From ada at foghorn.example  Sun Jun  1 09:00:00 2031\nFrom: ada at foghorn.example (Ada Quay)\nDate: Sun, " +
			"1 Jun 2031 09:00:00 +0000\nSubject: Tides\n\nWithout an id.\n\n" +
			"From ada at foghorn.example  Thu May  1 09:00:00 2031\nFrom: ada at foghorn.example (Ada Quay)\nDate: " +
			"Thu, 1 May 2031 09:00:00 +0000\nSubject: [tugs] Buoys\nMessage-ID: <one@foghorn.example>\n\nTwice.\n",
	}
	dir := t.TempDir()
	for i, text := range months {
		write(t, filepath.Join(dir, "tugs-2031-0"+string(rune('5'+i))+".txt"), text)
	}
	s := connectortest.NewSource(t, connectortest.Config{Kind: mail.Kind, CorpusDir: dir, Options: map[string]any{
		"groups": []any{map[string]any{"name": "tugs"}}, "files": "${corpus}/{group}-*.txt",
		"message": "https://lists.example.org/{number}",
	}})
	r := s.Sync()
	var got []string
	for _, rec := range r.Records {
		if n := strings.TrimPrefix(rec.Key, "tugs-"); len(n) != 15 {
			t.Errorf("key %s", rec.Key)
		}
		got = append(got, string(rec.Kind)+" "+rec.Title+" "+rec.URL)
	}
	slices.Sort(got)
	want := []string{
		"mail_message Buoys ", "mail_message Re: Buoys https://lists.example.org/two", "mail_message Tides ",
		"mail_thread Buoys https://lists.example.org/two", "mail_thread Tides ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	for _, rec := range r.Records {
		if rec.Title == "Buoys" && rec.Kind == catalog.KindMailMessage &&
			rec.Body != "From here it began, at 9:00 in 2031:\n\nFrom bram, 9:00 on May 1st 2031\nNote: he was late." {
			t.Errorf("text %q", rec.Body)
		}
	}
	connectortest.Unchanged(t, s, r)
	write(t, filepath.Join(dir, "tugs-2031-07.txt"),
		"From ada at foghorn.example  Tue Jul  1 09:00:00 2031\nFrom: x\nSubject: Re: tides\nMessage-ID: "+
			"<9@x.example>\n\nLate.\n")
	if again := s.Sync(); again.Created != 1 || again.Updated != 1 {
		t.Errorf("another month: %d created, %d updated", again.Created, again.Updated)
	}
}

// TestFilesOfTheFolder reads archives that come with the network and are no
// files of this machine.
func TestFilesOfTheFolder(t *testing.T) {
	files := fstest.MapFS{"mail/tugs-1.mbox": {Data: []byte(
		"From x  Thu May  1 09:00:00 2031\nFrom: x\nSubject: Buoys\nMessage-ID: <1@x.example>\n\nRed.\n")}}
	s := connectortest.NewSource(t, connectortest.Config{Kind: mail.Kind, Files: files, Options: map[string]any{
		"groups": []any{map[string]any{"name": "tugs"}}, "files": "mail/{group}-*.mbox",
	}})
	r := s.Sync()
	if r.Err != nil || len(r.Records) != 2 {
		t.Fatalf("%v, %d records", r.Err, len(r.Records))
	}
	connectortest.Unchanged(t, s, r)
	files["mail/tugs-1.mbox"].Data = bytes.Replace(files["mail/tugs-1.mbox"].Data, []byte("Red."), []byte("Blu."), 1)
	if r = s.Sync(); r.Updated != 2 {
		t.Errorf("another text of the same length: %d updated", r.Updated)
	}
	delete(files, "mail/tugs-1.mbox")
	if bad := s.Try(t.Context()); bad.Err == nil || bad.Changes != 0 {
		t.Errorf("without the file: %v, %d changes", bad.Err, bad.Changes)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersBySubjectHaveTheirTime(t *testing.T) {
	a := newArchive(t)
	a.groups["cip-discuss"] = []sentMail{
		{number: 1, subject: "Minutes"}, {number: 2, subject: "Minutes"}, {number: 3, subject: "Re: minutes"},
		{number: 4, subject: "Re: Minutes", hours: 24 * 200}, {number: 5, subject: "Re:"}, {number: 6, subject: "Re:"},
		{number: 7, subject: "An answer to what is lost", answers: 99}, {number: 8, subject: "Another", answers: 99},
	}
	a.groups["cip-vote"] = []sentMail{{number: 1, subject: "x"}}
	var threads []string
	s := connectortest.NewSource(t, a.config)
	s.Clock = s.Clock.AddDate(1, 0, 0)
	r := s.Sync()
	for _, rec := range r.Records {
		if rec.Kind == catalog.KindMailThread && rec.Container == "cip-discuss" {
			threads = append(threads, rec.Key)
		}
	}
	if diff := cmp.Diff([]string{"cip-discuss-1", "cip-discuss-2", "cip-discuss-4", "cip-discuss-5", "cip-discuss-6",
		"cip-discuss-7"}, threads); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if rec := r.Get(t, catalog.KindMailThread, "cip-discuss-2"); rec.Replies != 1 {
		t.Errorf("%d replies", rec.Replies)
	}
}

func TestToken(t *testing.T) {
	t.Setenv("TUGS_TOKEN", "s3cret")
	a := harbour(t)
	a.config.Options["token_env"] = "TUGS_TOKEN"
	s := connectortest.NewSource(t, a.config)
	s.Sync()
	for _, r := range a.server.Requests() {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("%s: Authorization %q", r.URL, r.Header.Get("Authorization"))
		}
	}
	t.Setenv("TUGS_TOKEN", "")
	if r := s.Try(t.Context()); r.Err == nil || !strings.Contains(r.Err.Error(), "TUGS_TOKEN is not set") {
		t.Errorf("error %v", r.Err)
	}
}

func TestOptions(t *testing.T) {
	groups := []any{map[string]any{"name": "tugs"}}
	tests := map[string]struct {
		options map[string]any
		want    string
	}{
		"none": {nil, "the option groups is missing"},
		"a bad name": {map[string]any{"groups": []any{map[string]any{"name": "../x"}}, "files": "x"},
			`"../x" is not a slug`},
		"twice":   {map[string]any{"groups": []any{groups[0], groups[0]}, "files": "x"}, "appears twice"},
		"neither": {map[string]any{"groups": groups}, "one of the options files and export"},
		"both": {map[string]any{"groups": groups, "files": "x", "export": "https://x.example"},
			"one of the options files and export"},
		"a bad pattern": {map[string]any{"groups": groups, "files": "["}, "not a file name pattern"},
		"no address":    {map[string]any{"groups": groups, "export": "lists/{group}"}, "export: is not a web address"},
		"no id":         {map[string]any{"groups": groups, "export": "https://x.example/{id}"}, "needs the id"},
		"no number": {map[string]any{"groups": groups, "files": "x", "message": "https://x.example/"},
			"message: want an address with {number}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := connectortest.Open(mail.Kind, tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	s := connectortest.NewSource(t, connectortest.Config{Kind: mail.Kind, Options: map[string]any{"groups": groups,
		"files": filepath.Join(t.TempDir(), "*")}})
	if r := s.Try(t.Context()); r.Err == nil || !strings.Contains(r.Err.Error(), "no file matches") {
		t.Errorf("without files: %v", r.Err)
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		a := harbour(t)
		a.pack, a.kind = zipped, "application/zip" // half of a plain archive is an archive
		return connectortest.Upstream{Config: a.config, Server: a.server,
			Change: func() { a.change(func() { a.groups["cip-discuss"][1].text = "Nothing but fog, and no wind." }) },
			Drop: func(s *connectortest.Source) {
				s.Options = maps.Clone(s.Options)
				s.Options["message"] = a.server.URL + "/{group}/{number}"
				a.change(func() { a.groups["cip-vote"] = a.groups["cip-vote"][:3] })
			}}
	})
}

func TestPackedExports(t *testing.T) {
	want := connectortest.NewSource(t, harbour(t).config).Sync()
	for name, pack := range map[string]func(string) []byte{"gzip": gzipped, "zip": zipped} {
		for _, etags := range []bool{false, true} {
			a := harbour(t)
			a.pack, a.kind, a.etags = pack, "application/"+name, etags
			s := connectortest.NewSource(t, a.config)
			r := s.Sync()
			if diff := cmp.Diff(want.Keys(), r.Keys()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
			connectortest.Unchanged(t, s, r)
		}
	}
}
