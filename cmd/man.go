package cmd

import (
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func (e *env) manCommand() *cli.Command {
	return &cli.Command{
		Name:         "man",
		Usage:        "print the manual page",
		Description:  "Read it with `stackgen man | man -l -`, or install it as stackgen.1.",
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return errors.New("man takes no arguments; see `stackgen man --help`")
			}
			page, err := e.manPage()
			if err != nil {
				return err
			}
			_, err = io.WriteString(e.out, page)
			return err
		},
	}
}

// manPage is the manual page, in roff. The template of the library shows the usage text
// of a command and not its description, so the text is made of both.
func (e *env) manPage() (string, error) {
	app := e.app()
	for _, command := range app.Commands {
		command.UsageText = strings.TrimRight("stackgen "+command.Name+" [FLAGS] "+command.ArgsUsage, " ")
		if command.Description != "" {
			command.UsageText += "\n\n" + command.Description
		}
	}
	page, err := app.ToManWithSection(1)
	return page + manEnd, err
}

// manEnd is what the template of the library does not have.
const manEnd = `

.SH EXIT STATUS
.TP
0
done, or nothing to say
.TP
1
it could not be done
.TP
2
something differs, and nothing harms; only from commands that look
.TP
3
blocked: something would happen that the specs do not ask for

.SH ENVIRONMENT
PROXMOX_VE_ENDPOINT and PROXMOX_VE_API_TOKEN name the cluster and the token, as for
the provider. DNS_UPDATE_KEYSECRET is the secret of the DNS key. docs/environment.md
in the source of stackgen describes all variables.

.SH FILES
.TP
specs/*.yaml
the specs of a project
.TP
stackgen.yaml
settings of all specs
.TP
stackgen.lock.yaml
recorded decisions and observations; commit it

.SH SEE ALSO
qm(1), pvesh(1)
`
