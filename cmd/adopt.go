package cmd

import "github.com/urfave/cli/v2"

func (e *env) adoptCommand() *cli.Command { return &cli.Command{Name: "adopt"} }
