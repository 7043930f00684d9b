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
	return app.ToManWithSection(1)
}
