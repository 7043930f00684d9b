package cmd

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"
)

// completions are the scripts that shells load. They call stackgen with a hidden
// flag of the flag package, which prints the possible next words: flags only after a
// word that begins with a hyphen, and nothing after two hyphens alone. After an earlier
// word `--` that flag would be an argument of the command, which would run: the scripts do
// not call stackgen then.
var completions = map[string]string{
	"bash": `_stackgen() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words word
  local -a line=("${COMP_WORDS[@]:0:COMP_CWORD}")
  for word in "${line[@]}"; do if [[ "$word" == -- ]]; then return; fi; done
  if [[ "$cur" == -- ]]; then line+=(-); elif [[ "$cur" == -* ]]; then line+=("$cur"); fi
  words=$("${line[@]}" --generate-bash-completion 2>/dev/null)
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _stackgen stackgen
`,
	"zsh": `#compdef stackgen
_stackgen() {
  local -a opts line
  line=("${words[@]:0:#words[@]-1}")
  if (( ${line[(Ie)--]} )); then _files; return; fi
  if [[ "${words[-1]}" == -- ]]; then line+=(-); elif [[ "${words[-1]}" == -* ]]; then line+=("${words[-1]}"); fi
  opts=("${(@f)$("${line[@]}" --generate-bash-completion 2>/dev/null)}")
  if [[ "${opts[1]}" != "" ]]; then
    _describe 'values' opts
  fi
  _files
}
compdef _stackgen stackgen
`,
}

func (e *env) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a shell completion script",
		ArgsUsage: "bash|zsh|fish",
		Description: "Load it in your shell's startup file:\n" +
			"  bash: source <(stackgen completion bash)\n" +
			"  zsh:  source <(stackgen completion zsh)\n" +
			"  fish: stackgen completion fish | source",
		OnUsageError: usageError,
		BashComplete: func(c *cli.Context) { fmt.Fprintln(c.App.Writer, "bash\nzsh\nfish") },
		Action: func(c *cli.Context) error {
			shells := []string{"bash", "zsh", "fish"}
			shell := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(shells, shell) {
				return fmt.Errorf("completion takes one of bash, zsh and fish")
			}
			script := completions[shell]
			if shell == "fish" {
				var err error
				if script, err = c.App.ToFishCompletion(); err != nil {
					return err
				}
			}
			_, err := io.WriteString(e.out, script)
			return err
		},
	}
}
