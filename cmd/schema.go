package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"stackgen/schema"
)

func (e *env) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Usage: "print the JSON Schema of the spec, for editors",
		Description: "Prints a JSON Schema (draft 2020-12) of the spec, made from the definitions\n" +
			"that the parser uses. --format markdown prints the reference instead.",
		Flags:        []cli.Flag{formatFlag("json", "markdown")},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("schema takes no path; see `stackgen schema --help`")
			}
			if c.String("format") == "markdown" {
				_, err := e.out.Write(schema.Reference())
				return err
			}
			body, err := schema.JSONSchema()
			if err != nil {
				return err
			}
			_, err = e.out.Write(body)
			return err
		},
	}
}
