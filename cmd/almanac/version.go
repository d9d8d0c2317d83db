package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print it as JSON, with what it was built by and for."`
}

func (c versionCmd) Run(a *app) error {
	b := built()
	if c.JSON {
		return printJSON(a.out, b)
	}
	_, err := fmt.Fprintln(a.out, b)
	return err
}

// release is the version of the program; the build adds the revision.
const release = "0.2.0"

// build says which program this is.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // empty: unknown
	Date     string `json:"date,omitempty"`     // of the commit, as 2026-01-31T12:00:00Z
	Modified bool   `json:"modified,omitempty"` // files differed from the commit
	Go       string `json:"go"`
	System   string `json:"system"`
}

// built reads what the toolchain wrote into the program.
func built() build {
	b := build{Version: release, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// revision is the commit that it was built from, shortened, "" = unknown.
func (b build) revision() string {
	s := b.Commit[:min(12, len(b.Commit))]
	if b.Modified {
		s += "-modified"
	}
	return s
}

// name is the version with the revision.
func (b build) name() string {
	if r := b.revision(); r != "" {
		return b.Version + "+" + r
	}
	return b.Version
}

// String is a line for people.
func (b build) String() string {
	day, _, known := strings.Cut(b.Date, "T")
	if !known {
		return "almanac " + b.name()
	}
	return "almanac " + b.name() + " (" + day + ")"
}

// version is what the program calls itself on every interface.
func version() string { return built().name() }
