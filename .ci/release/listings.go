package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes the modules that are linked into the program, as its own build information lists them, in CycloneDX.
func (r *release) bill() error {
	t := r.targets[0]
	info, err := buildinfo.ReadFile(r.path(t, t.binary()))
	if err != nil {
		return err
	}
	self := cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "almanac", Name: "almanac", Version: r.Version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}}
	parts := []cdx.Component{{Type: cdx.ComponentTypeLibrary, BOMRef: "std", Name: "std",
		Version:    strings.TrimPrefix(info.GoVersion, "go"),
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil {
			return fmt.Errorf("checksum of %s: %w", m.Path, err)
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		parts = append(parts, cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: m.Path,
			Version: m.Version, PackageURL: url,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}})
	}
	refs := []string{}
	for _, c := range parts {
		refs = append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.Date.Format(time.RFC3339), Component: &self}
	bom.Components, bom.Dependencies = &parts, &[]cdx.Dependency{{Ref: "almanac", Dependencies: &refs}}
	return r.create("almanac_"+r.Version+".cdx.json", func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

var formula = template.Must(template.New("").Parse(`class Almanac < Formula
  desc "{{.Purpose}}"
  homepage "https://{{.Home}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  on_{{.System}} do
{{- range .Files}}
    on_{{.CPU}} do
      url "https://{{$.Home}}/releases/download/v{{$.Version}}/{{.Name}}"
      sha256 "{{printf "%x" .Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "almanac"
    man1.install "almanac.1"
    bash_completion.install "completions/almanac.bash" => "almanac"
    zsh_completion.install "completions/_almanac"
    fish_completion.install "completions/almanac.fish"
  end

  service do
    run [opt_bin/"almanac", "serve"]
    keep_alive true
    log_path var/"log/almanac.log"
    error_log_path var/"log/almanac.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/almanac version")
  end
end
`))

// formula writes what Homebrew installs from.
func (r *release) formula() error {
	type archive struct {
		CPU, Name string
		Sum       [32]byte
	}
	type system struct {
		System string
		Files  []archive
	}
	var systems []system
	for _, s := range []struct{ os, name string }{{"darwin", "macos"}, {"linux", "linux"}} {
		one := system{System: s.name}
		for _, t := range r.targets {
			if t.os != s.os {
				continue
			}
			name := r.nameOf(t) + ".tar.gz"
			sum, err := sumOf(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			one.Files = append(one.Files, archive{map[string]string{"amd64": "intel", "arm64": "arm"}[t.arch], name, sum})
		}
		if len(one.Files) > 0 {
			systems = append(systems, one)
		}
	}
	return r.create("almanac.rb", func(w io.Writer) error {
		return formula.Execute(w, map[string]any{"Purpose": purpose, "Home": r.home, "Version": r.Version, "Systems": systems})
	})
}

// server is the description of the tool server that MCP registries take (server.json, schema of 2025-12-11).
var server = template.Must(template.New("").Parse(`{
  "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  "name": "{{.Name}}",
  "title": "almanac",
  "description": "{{.Purpose}}",
  "version": "{{.Version}}",
  "websiteUrl": "https://{{.Home}}",
  "packages": [
    {
      "registryType": "oci",
      "identifier": "{{.Image}}:{{.Version}}",
      "packageArguments": [
        {
          "type": "positional",
          "value": "mcp"
        }
      ],
      "transport": {
        "type": "stdio"
      }
    }
  ]
}
`))

// registry writes what MCP registries take.
func (r *release) registry() error {
	return r.create("server.json", func(w io.Writer) error {
		return server.Execute(w, map[string]string{"Name": r.serverName(), "Purpose": purpose, "Version": r.Version,
			"Home": r.home, "Image": r.imageName()})
	})
}

// serverName is the name in registries: the home with its host backwards, io.github.OWNER/almanac.
func (r *release) serverName() string {
	parts := strings.Split(r.home, "/")
	labels := strings.Split(parts[0], ".")
	slices.Reverse(labels)
	if parts[0] == "github.com" && len(parts) > 2 {
		labels = []string{"io", "github", parts[1]}
	}
	return strings.Join(labels, ".") + "/" + parts[len(parts)-1]
}

// imageName is where the image is published: beside the code on GitHub, else under the home's own name.
func (r *release) imageName() string {
	if owner, ok := strings.CutPrefix(r.home, "github.com/"); ok {
		return "ghcr.io/" + strings.ToLower(owner)
	}
	return r.home
}

// host is the host of an address without a scheme.
func host(home string) string { name, _, _ := strings.Cut(home, "/"); return name }
