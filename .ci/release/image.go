package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// image writes an image for the Linux targets as an OCI layout in a tar file: what compose/Dockerfile makes, of the
// binaries of the release and without a Docker engine. `docker load`, `podman load` and `skopeo copy oci-archive:` read it.
func (r *release) image() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		img, err := r.imageFor(t)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
			Platform:    &v1.Platform{OS: t.os, Architecture: t.arch},
			Annotations: map[string]string{"org.opencontainers.image.ref.name": r.imageName() + ":" + r.Version}}})
	}
	dir := filepath.Join(r.work, "oci")
	if _, err := layout.Write(dir, index); err != nil {
		return err
	}
	return r.create("almanac_"+r.Version+"_image.tar", func(w io.Writer) error { return tree(w, dir, r.Date) })
}

func (r *release) imageFor(t target) (v1.Image, error) {
	content, err := r.content(t)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, &v1.ConfigFile{Architecture: t.arch, OS: t.os, Created: v1.Time{Time: r.Date},
		RootFS: rootOf(img), History: []v1.History{{Created: v1.Time{Time: r.Date}, CreatedBy: "almanac " + r.Version}},
		Config: v1.Config{User: "10001:10001", WorkingDir: "/data", Entrypoint: []string{"/almanac"},
			Cmd: []string{"serve"}, Env: []string{"ALMANAC_DATA_DIR=/data", "ALMANAC_SERVER_LISTEN=:8080"},
			Volumes: map[string]struct{}{"/data": {}}, ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Labels: map[string]string{"org.opencontainers.image.title": "almanac",
				"org.opencontainers.image.description": purpose, "org.opencontainers.image.licenses": "Apache-2.0",
				"org.opencontainers.image.version": r.Version, "org.opencontainers.image.revision": r.Commit,
				"org.opencontainers.image.source":     "https://" + r.home,
				"io.modelcontextprotocol.server.name": r.serverName()}}})
}

func rootOf(img v1.Image) v1.RootFS {
	config, err := img.ConfigFile()
	if err != nil {
		return v1.RootFS{}
	}
	return config.RootFS
}

// content is the image's one layer: the program, the certificates of public authorities, a line of passwd, licenses.
func (r *release) content(t target) ([]byte, error) {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	program, err := os.ReadFile(r.path(t, t.binary()))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	put := func(h tar.Header, data []byte) {
		h.Size, h.ModTime, h.Format = int64(len(data)), r.Date, tar.FormatPAX
		if err == nil {
			err = w.WriteHeader(&h)
		}
		if err == nil {
			_, err = w.Write(data)
		}
	}
	for _, dir := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "licenses/"} {
		put(tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	put(tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil)
	put(tar.Header{Name: "data/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: 10001, Gid: 10001}, nil)
	put(tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte("almanac:x:10001:10001::/data:\n"))
	put(tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, roots.Bytes())
	for _, f := range r.papers() {
		text, readErr := os.ReadFile(f.from)
		if readErr != nil {
			return nil, readErr
		}
		put(tar.Header{Name: "licenses/" + f.to, Mode: 0o644}, text)
	}
	put(tar.Header{Name: "almanac", Mode: 0o755}, program)
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// tree writes all files below a directory in the order of their names.
func tree(w io.Writer, dir string, at time.Time) error {
	out := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(data)), ModTime: at,
			Format: tar.FormatPAX}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}
