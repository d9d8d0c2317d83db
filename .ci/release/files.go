package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// purpose is what the program is for, in the words of package lists.
const purpose = "Search service for the knowledge of a ledger network"

// file is one of an archive or of a package.
type file struct {
	from, to string
	mode     fs.FileMode
}

// papers are the texts that go with each copy of the program.
func (r *release) papers() []file {
	all := []file{}
	for _, name := range []string{"LICENSE", "NOTICE", "THIRD_PARTY_LICENSES", "README.md", "CHANGELOG.md"} {
		all = append(all, file{filepath.Join(r.root, name), name, 0o644})
	}
	return append(all, file{filepath.Join(r.root, "embed/transformer/LICENSE"), "LICENSE.bge-small-en-v1.5", 0o644})
}

// archive packs the program for a target: as zip for Windows, else as tar.gz.
func (r *release) archive(t target) error {
	all := append(r.papers(), file{r.path(t, t.binary()), t.binary(), 0o755})
	for _, name := range []string{"almanac.1", "completions/almanac.bash", "completions/_almanac",
		"completions/almanac.fish"} {
		all = append(all, file{filepath.Join(r.work, name), name, 0o644})
	}
	for _, name := range []string{"almanac.service", "almanac.yaml", "Caddyfile"} {
		all = append(all, file{filepath.Join(r.root, "packaging", name), "packaging/" + name, 0o644})
	}
	name := r.nameOf(t)
	if t.os == "windows" {
		return r.create(name+".zip", func(w io.Writer) error { return zipped(w, name, all, r.Date) })
	}
	return r.create(name+".tar.gz", func(w io.Writer) error { return tarred(w, name, all, r.Date) })
}

func (r *release) nameOf(t target) string {
	return fmt.Sprintf("almanac_%s_%s_%s", r.Version, t.os, t.arch)
}

func (r *release) create(name string, fill func(io.Writer) error) error {
	var out bytes.Buffer
	if err := fill(&out); err != nil {
		return err
	}
	return write(filepath.Join(r.out, name), out.Bytes())
}

// tarred writes files below a directory, all of one time and owner, so that the same files give the same bytes.
func tarred(w io.Writer, dir string, all []file, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(compressed)
	for _, f := range all {
		data, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: dir + "/" + f.to, Mode: int64(f.mode), Size: int64(len(data)), ModTime: at,
			Format: tar.FormatPAX}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := out.Write(data); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func zipped(w io.Writer, dir string, all []file, at time.Time) error {
	out := zip.NewWriter(w)
	for _, f := range all {
		data, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: dir + "/" + f.to, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		into, err := out.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := into.Write(data); err != nil {
			return err
		}
	}
	return out.Close()
}

// pack makes a package of a Linux distribution, as packaging/nfpm.yaml describes it.
func (r *release) pack(t target, format string) error {
	if err := compressed(filepath.Join(r.work, "almanac.1"), filepath.Join(r.work, "almanac.1.gz")); err != nil {
		return err
	}
	values := map[string]string{"ARCH": t.arch, "VERSION": r.Version, "HOST": host(r.home), "HOME": r.home,
		"PURPOSE": purpose, "ROOT": r.root, "WORK": r.work, "PROGRAM": r.path(t, t.binary())}
	config, err := nfpm.ParseFileWithEnvMapping(filepath.Join(r.root, "packaging/nfpm.yaml"),
		func(name string) string { return values[name] })
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&config.Info)
	info.MTime = r.Date
	for _, c := range info.Contents {
		c.FileInfo.MTime = r.Date
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	return r.create(packager.ConventionalFileName(info), func(w io.Writer) error { return packager.Package(info, w) })
}

func compressed(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return write(to, out.Bytes())
}
