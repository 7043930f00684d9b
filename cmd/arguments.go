package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// permute moves a command's flags before its paths: the flag package stops at the
// first path.
func permute(app *cli.App, args []string) ([]string, error) {
	at := slices.IndexFunc(args[min(1, len(args)):], func(a string) bool { return !strings.HasPrefix(a, "-") }) + 1
	if at == 0 || at >= len(args) || args[len(args)-1] == "--generate-bash-completion" {
		return args, nil
	}
	command := app.Command(args[at])
	if command == nil {
		return args, nil
	}
	var flags, paths []string
	rest := args[at+1:]
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			paths = append(paths, rest[i+1:]...)
			i = len(rest)
		case a == "-" || !strings.HasPrefix(a, "-"):
			paths = append(paths, a)
		default:
			flags = append(flags, a)
			if takesValue(command, a) {
				if i++; i >= len(rest) {
					return nil, fmt.Errorf("flag %s needs a value; see `stackgen %s --help`", a, command.Name)
				}
				flags = append(flags, rest[i])
			}
		}
	}
	if len(paths) > 0 {
		paths = append([]string{"--"}, paths...)
	}
	return slices.Concat(args[:at+1], flags, paths), nil
}

// takesValue reports whether the next argument belongs to a flag.
func takesValue(command *cli.Command, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	for _, f := range command.Flags {
		if _, isBool := f.(*cli.BoolFlag); slices.Contains(f.Names(), name) {
			return !isBool
		}
	}
	return false
}
