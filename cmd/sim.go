package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"stackgen/internal/files"
	"stackgen/internal/pvesim"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

// maxSeed bounds a seed or a saved state.
const maxSeed = 256 << 20

func (e *env) simCommand() *cli.Command {
	return &cli.Command{
		Name:  "sim",
		Usage: "serve a simulated Proxmox VE cluster",
		Description: "Serves the Proxmox VE API of a cluster that exists only in memory, prints\n" +
			"the variables that make any client use it, and runs until it is interrupted:\n" +
			"  stackgen sim > sim.env &\n" +
			"  until [ -s sim.env ]; do sleep 0.1; done; . ./sim.env\n" +
			"Without --seed it has nodes pve1 to pve3, the storages and templates that the\n" +
			"example specs use, and one token; with --seed handmade, seven VMs that people\n" +
			"made by hand. docs/sim.md describes seeds and faults.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "serve on `ADDR`; port 0 takes a free one"},
			&cli.StringFlag{Name: "seed", Usage: "start with the state in `FILE` (YAML): a seed, or a file of --save; or handmade"},
			&cli.StringFlag{Name: "save", Usage: "write the state to `FILE` at the end; it holds the seed's secrets"},
			&cli.StringFlag{Name: "log", Usage: "append every request to `FILE` as JSON lines, without secrets"},
			&cli.DurationFlag{Name: "latency", Usage: "add `TIME` to every answer, such as 50ms"},
			&cli.StringFlag{Name: "bandwidth",
				Usage: "copy `SIZE` a second on each storage, such as 100M: a full clone takes its time, and its log shows it"},
			oneOf(&cli.StringFlag{Name: "api", Usage: "version of the API: 8.4 or 9 (default: the seed's)"}, []string{"8.4", "9"}),
			&cli.Uint64Flag{Name: "number", Usage: "seed of all random numbers"},
		},
		OnUsageError: usageError,
		Action:       e.sim,
	}
}

func (e *env) sim(c *cli.Context) (err error) {
	if c.Args().Present() {
		return fmt.Errorf("sim takes no path; see `stackgen sim --help`")
	}
	o := pvesim.Options{Version: c.String("api"), Number: c.Uint64("number"), Latency: c.Duration("latency")}
	if size := c.String("bandwidth"); size != "" {
		var err error
		if o.Bandwidth, err = pvesim.ParseSize(size); err != nil || o.Bandwidth == 0 {
			return fmt.Errorf("--bandwidth takes bytes a second, such as 100M; this is %q", size)
		}
	}
	if asked := c.String("seed"); asked != "" {
		if o.Seed, err = readSeed(asked); err != nil {
			return err
		}
	}
	if file := c.String("log"); file != "" {
		f, failed := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if failed != nil {
			return fmt.Errorf("cannot write %s: %w", file, files.Cause(failed))
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		o.Log = f
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := pvesim.New(o)
	if err != nil {
		return err
	}
	if err := server.Start(c.String("listen")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close(), saveState(server, c.String("save"))) }()
	var variables strings.Builder
	for _, variable := range server.Env() {
		name, value, _ := strings.Cut(variable, "=")
		fmt.Fprintf(&variables, "export %s=%s\n", name, shell.Quote(value))
	}
	// In one write, for a script that waits until its file is not empty.
	if _, err := io.WriteString(e.out, variables.String()); err != nil {
		return err
	}
	if err := report.Printf(e.errOut, "A simulated cluster listens on %s. Interrupt it to end it.\n", server.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// readSeed is the seed with a name, or the one in a file.
func readSeed(asked string) (*pvesim.Seed, error) {
	if asked == pvesim.Handmade {
		return pvesim.HandmadeSeed()
	}
	src, err := files.ReadGiven(asked, maxSeed)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w; a seed is a file, or %s", asked, err, pvesim.Handmade)
	}
	seed, err := pvesim.ParseSeed(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", asked, err)
	}
	return seed, nil
}

// saveState writes the simulator's state.
func saveState(server *pvesim.Server, file string) error {
	if file == "" {
		return nil
	}
	return files.WritePrivate(file, server.Save)
}
