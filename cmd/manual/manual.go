// Package manual describes a command line to shells and to people: completions
// for bash, zsh and fish, and a man page, which is made from the parser's model.
package manual

import "strings"

// Shells are those that have completions.
var Shells = []string{"bash", "zsh", "fish"}

// scripts ask PROGRAM itself what may follow: its hidden command complete takes the line up to the word that is typed, and
// prints a word on each line, with a tab before its description.
var scripts = map[string]string{
	"bash": `# Completions of PROGRAM for bash: source <(PROGRAM completion bash)
_PROGRAM() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
}
complete -o default -F _PROGRAM PROGRAM
`,
	"zsh": `#compdef PROGRAM
# Completions of PROGRAM for zsh: source <(PROGRAM completion zsh)
_PROGRAM() {
  local -a found
  found=(${(f)"$("${words[1]}" complete -- "${(@)words[1,CURRENT]}" 2>/dev/null)"})
  compadd -- ${found%%$'\t'*} || _files
}
if [ "$funcstack[1]" = _PROGRAM ]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
`,
	"fish": `# Completions of PROGRAM for fish: PROGRAM completion fish | source
function __PROGRAM_complete
  set -l found (PROGRAM complete -- (commandline -opc) "$(commandline -ct)" 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
`,
}

// Completions returns the script that lets a shell complete the words of a program.
func Completions(program, shell string) string {
	return strings.ReplaceAll(scripts[shell], "PROGRAM", program)
}
