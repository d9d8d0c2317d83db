package manual

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// cases writes the shell's case of the words that follow each level. What has no
// match is completed as a file, which is the shell's default.
func cases(app *kong.Application, indent string) (follow, values string) {
	all := levels(app)
	var f, v strings.Builder
	for _, l := range all {
		fmt.Fprintf(&f, "%s%q) words=%q asked=%s ;;\n", indent, l.path, strings.Join(l.words(app.Flags), " "), l.asked())
	}
	by := choices(all)
	for _, name := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(&v, "%s%s) words=%q asked=%s ;;\n", indent, name, strings.Join(by[name].words, " "), by[name].asked)
	}
	return f.String(), v.String()
}

// commands lists the paths of all commands as a pattern of case.
func commands(app *kong.Application) string {
	var out []string
	for _, l := range levels(app)[1:] {
		out = append(out, fmt.Sprintf("%q", l.path))
	}
	return strings.Join(out, "|")
}

func bash(app *kong.Application) string {
	follow, values := cases(app, "    ")
	return fmt.Sprintf(`# Completions of %[1]s for bash: source <(%[1]s completion bash)
_%[1]s() {
  local current=${COMP_WORDS[COMP_CWORD]} path= words= asked= try i
  for ((i = 1; i < COMP_CWORD; i++)); do
    try="${path:+$path }${COMP_WORDS[i]}"
    case "$try" in
      %[2]s) path=$try ;;
    esac
  done
  case "$path" in
%[3]s  esac
  case "${COMP_WORDS[COMP_CWORD-1]}" in
%[4]s  esac
  if [ -n "$asked" ]; then
    words="$words $("${COMP_WORDS[0]}" complete "$asked" "$current" -- "${COMP_WORDS[@]}" 2>/dev/null)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _%[1]s %[1]s
`, app.Name, commands(app), follow, values)
}

func zsh(app *kong.Application) string {
	follow, values := cases(app, "    ")
	return fmt.Sprintf(`#compdef %[1]s
# Completions of %[1]s for zsh: source <(%[1]s completion zsh)
_%[1]s() {
  local path_= words_= asked= try i
  for ((i = 2; i < CURRENT; i++)); do
    try="${path_:+$path_ }${words[i]}"
    case "$try" in
      %[2]s) path_=$try ;;
    esac
  done
  case "$path_" in
%[3]s  esac
  case "${words[CURRENT-1]}" in
%[4]s  esac
  if [ -n "$asked" ]; then
    words_="$words_ $("${words[1]}" complete "$asked" "${words[CURRENT]}" -- "${words[@]}" 2>/dev/null)"
  fi
  compadd -- ${=words_} || _files
}
if [ "$funcstack[1]" = _%[1]s ]; then _%[1]s "$@"; else compdef _%[1]s %[1]s; fi
`, app.Name, commands(app), strings.ReplaceAll(follow, " words=", " words_="),
		strings.ReplaceAll(values, " words=", " words_="))
}

func fish(app *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Completions of %[1]s for fish: %[1]s completion fish | source\n", app.Name)
	line := func(condition, format string, args ...any) {
		fmt.Fprintf(&b, "complete -c %s -n %s %s\n", app.Name, single(condition), fmt.Sprintf(format, args...))
	}
	for _, f := range app.Flags {
		line("true", "-l %s%s -d %s", f.Name, taken(app, f), single(sentence(f.Help)))
	}
	for _, l := range levels(app) {
		condition := "__fish_use_subcommand"
		if l.path != "" {
			condition = "__fish_seen_subcommand_from " + l.node.Name
			if outer, _, nested := strings.Cut(l.path, " "); nested {
				condition = "__fish_seen_subcommand_from " + outer + "; and " + condition
			}
			for _, f := range l.flags {
				line(condition, "-l %s%s -d %s", f.Name, taken(app, f), single(sentence(f.Help)))
			}
		}
		for _, c := range l.commands {
			line(condition, "-f -a %s -d %s", c.Name, single(sentence(c.Help)))
		}
		for _, p := range l.node.Positional {
			if values := p.EnumSlice(); len(values) > 0 && values[0] != "" {
				line(condition, "-f -a %s", single(strings.Join(values, " ")))
			}
			if what := p.Tag.Get(asks); what != "" {
				line(condition, "-f -a %s", single(fishAsks(app, what)))
			}
		}
	}
	return b.String()
}

// taken says which values a flag takes.
func taken(app *kong.Application, f *kong.Flag) string {
	switch {
	case f.Tag.Get(asks) != "":
		return " -r -a " + single(fishAsks(app, f.Tag.Get(asks)))
	case f.Enum != "":
		return " -x -a " + single(strings.Join(f.EnumSlice(), " "))
	case f.IsBool():
		return ""
	}
	return " -r"
}

// fishAsks is fish's substitution of what the program is asked for.
func fishAsks(app *kong.Application, what string) string {
	return fmt.Sprintf("(%s complete %s (commandline -ct) -- (commandline -opc) 2>/dev/null)", app.Name, what)
}

// single quotes a text for fish.
func single(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
