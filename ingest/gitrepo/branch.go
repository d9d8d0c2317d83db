package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxNamed is how many branches an error names.
const maxNamed = 12

// usual are the usual names of main branches in order of preference, for a
// remote that does not name its own.
var usual = []string{"main", "master", "trunk", "develop"}

// headBranch returns the branch of a remote's HEAD. A bundle and a clone with a
// detached HEAD do not name one: then it is the branch at the same commit as
// HEAD, or otherwise one with a usual name.
func headBranch(ctx context.Context, to route) (string, error) {
	heads, err := list(ctx, to, "HEAD")
	if err != nil {
		return "", err
	}
	if heads.head != "" {
		if !IsBranch(heads.head) {
			return "", fmt.Errorf("the repository's HEAD names the branch %q, which cannot be fetched; "+
				"name another in option branch", heads.head)
		}
		return heads.head, nil
	}
	all, err := list(ctx, to, "HEAD", "refs/heads/*")
	if err != nil {
		return "", err
	}
	names := all.names()
	if len(names) == 0 {
		return "", errors.New("the repository has no branch")
	}
	for _, name := range append(slices.Clone(usual), names...) {
		if hash, ok := all.branches[name]; ok && hash == all.at {
			return name, nil
		}
	}
	for _, name := range usual {
		if _, ok := all.branches[name]; ok {
			return name, nil
		}
	}
	if len(names) == 1 {
		return names[0], nil
	}
	return "", fmt.Errorf("the repository does not name its main branch; name one of %s in option branch",
		some(names))
}

// noBranch is the error for a branch that the remote does not have.
func noBranch(ctx context.Context, to route, name string) error {
	all, err := list(ctx, to, "refs/heads/*")
	names := all.names()
	if err != nil || len(names) == 0 {
		return fmt.Errorf("the repository has no branch %s", name)
	}
	return fmt.Errorf("the repository has no branch %s; name one of %s in option branch, or omit the option",
		name, some(names))
}

// references are the branches of a remote.
type references struct {
	head     string            // the branch of HEAD
	at       string            // the commit of HEAD
	branches map[string]string // name → commit
}

// names lists the branches that can be fetched.
func (r references) names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.branches)), func(name string) bool { return !IsBranch(name) })
}

func list(ctx context.Context, to route, patterns ...string) (references, error) {
	args := slices.Concat(to.settings, []string{"ls-remote", "--symref"}, to.options, []string{"--", to.address}, patterns)
	out, err := output(ctx, to, args...)
	if err != nil {
		return references{}, err
	}
	return parseReferences(out), nil
}

var listed = regexp.MustCompile(`^([0-9a-f]{40,64})\t(\S+)$`)

// parseReferences parses the output of git ls-remote --symref.
func parseReferences(out string) references {
	r := references{branches: map[string]string{}}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if target, ok := strings.CutSuffix(line, "\tHEAD"); ok {
			if name, ok := strings.CutPrefix(target, "ref: refs/heads/"); ok {
				r.head = name
				continue
			}
		}
		m := listed.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if name, ok := strings.CutPrefix(m[2], "refs/heads/"); ok {
			r.branches[name] = m[1]
		} else if m[2] == "HEAD" {
			r.at = m[1]
		}
	}
	return r
}

// some joins the first of many names.
func some(names []string) string {
	if len(names) > maxNamed {
		return strings.Join(names[:maxNamed], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
