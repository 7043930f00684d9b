package cmd

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/cluster"
	"stackgen/internal/disk"
	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/schema"
)

func (e *env) adoptCommand() *cli.Command {
	return &cli.Command{
		Name:      "adopt",
		Usage:     "write into a spec which VMs of the cluster its VMs are",
		ArgsUsage: "[PATH] [KEY=VMID...] [KEY...]",
		Description: "Writes `adopt: {vmid: N}` into the VMs that are named, comments kept, and shows\n" +
			"the change as a diff. KEY is a VM's key, or STACK/KEY. --by-name chooses where\n" +
			"exactly one VM carries the name, and lists all others. --match also writes the\n" +
			"hardware that they have, and that of the VMs named by KEY alone, and takes them\n" +
			"from profile adopted to default: the next plan changes nothing. The result is\n" +
			"checked before it is written. Exit codes: 0 done, 1 not possible, 3 something\n" +
			"was left for you to decide.",
		Flags: append(e.judgeFlags(),
			&cli.BoolFlag{Name: "by-name", Usage: "adopt every VM whose name exactly one VM of the cluster carries"},
			&cli.BoolFlag{Name: "match", Usage: "write the hardware that the VMs have; what is no file or folder is a KEY"}),
		OnUsageError: usageError,
		Action:       e.adopt,
	}
}

// An adopting is one run of adopt.
type adopting struct {
	*env
	paths   []string
	project *project.Project
	chosen  map[guard.UnitID]int    // VMIDs by stack and key
	files   map[guard.UnitID]string // where they are written
	left    []finding.Finding
	match   *matching // with --match
}

func (e *env) adopt(c *cli.Context) error {
	a := &adopting{env: e, chosen: map[guard.UnitID]int{}, files: map[guard.UnitID]string{}}
	decisions, err := a.arguments(c)
	if err != nil {
		return err
	}
	if !c.Bool("by-name") && a.match == nil && c.IsSet("state") {
		return errors.New("--state is of use with --by-name and --match only")
	}
	// A spec may have errors that the decision mends, such as a VM without a
	// template. What counts is what comes out.
	if a.project, err = project.Load(a.paths, ""); err != nil {
		return err
	}
	for _, d := range decisions {
		if err := a.decision(d); err != nil {
			return err
		}
	}
	if c.Bool("by-name") {
		if err := a.byName(c); err != nil {
			return err
		}
	} else if c.IsSet("inventory") {
		inv, err := readInventory(c.String("inventory"))
		if err != nil {
			return err
		}
		if err := a.there(inv); err != nil {
			return err
		}
	}
	return a.write(c)
}

// arguments tells paths, decisions and keys apart.
func (a *adopting) arguments(c *cli.Context) (decisions []string, err error) {
	if c.Bool("match") {
		a.match = &matching{adopting: a}
	}
	for _, arg := range c.Args().Slice() {
		switch {
		case strings.Contains(arg, "="):
			decisions = append(decisions, arg)
		case a.match != nil && !isPath(arg):
			a.match.names = append(a.match.names, arg)
		default:
			a.paths = append(a.paths, arg)
		}
	}
	switch {
	case len(decisions) > 0 || c.Bool("by-name") || a.match != nil && len(a.match.names) > 0:
		return decisions, nil
	case a.match != nil:
		return nil, errors.New("say whose hardware to write: KEY, KEY=VMID, or --by-name")
	}
	return nil, errors.New("say what to adopt: KEY=VMID, or --by-name; `stackgen preflight` shows what there is")
}

// decision reads KEY=VMID or STACK/KEY=VMID.
func (a *adopting) decision(text string) error {
	name, number, _ := strings.Cut(text, "=")
	vmid, err := strconv.Atoi(number)
	if err != nil || vmid < 100 || vmid > 999999999 {
		return fmt.Errorf("%s: %q is no VMID; VMIDs are numbers from 100", text, number)
	}
	found := a.find(name)
	switch {
	case len(found) == 0:
		return fmt.Errorf("%s: no spec here has %q under vms; VMs of groups and classes have no entry of their own to write into", text, name)
	case len(found) > 1:
		return fmt.Errorf("%s: several stacks have such a VM: write %s=%d or %s=%d", text, found[0], vmid, found[1], vmid)
	}
	if was, twice := a.chosen[found[0]]; twice && was != vmid {
		return fmt.Errorf("%s: it is to be %d already", text, was)
	}
	a.chosen[found[0]] = vmid
	return nil
}

// find finds a VM in the specs as they are written.
func (a *adopting) find(name string) []guard.UnitID {
	stack, key, qualified := strings.Cut(name, "/")
	if !qualified {
		stack, key = "", name
	}
	var out []guard.UnitID
	for _, file := range slices.Sorted(maps.Keys(a.project.Sources)) {
		if base := filepath.Base(file); base == project.SettingsFile || base == lock.File {
			continue
		}
		in, keys := edit.VMs(a.project.Sources[file])
		if slices.Contains(keys, key) && (qualified && in == stack || !qualified && a.project.Selected(in)) {
			u := guard.UnitID{Stack: in, Unit: key}
			a.files[u] = file
			out = append(out, u)
		}
	}
	return out
}

// byName decides for the VMs whose name exactly one VM of the cluster carries.
func (a *adopting) byName(c *cli.Context) error {
	j, err := a.prepare(a.paths)
	if err != nil {
		return err
	}
	if err := j.look(c); err != nil {
		return err
	}
	for _, v := range guard.Judge(j.input) {
		u := guard.UnitID{Stack: v.Stack, Unit: v.Key}
		_, decided := a.chosen[u]
		switch {
		case v.Type != finding.VM || !v.Stops() || decided:
		case v.Kind == finding.Ambiguous && len(v.Candidates) == 1 && len(a.find(u.String())) == 1:
			a.chosen[u] = v.Candidates[0]
		default:
			a.left = append(a.left, v)
		}
	}
	if a.match != nil {
		a.match.inv = j.input.Inventory
	}
	return a.there(j.input.Inventory)
}

// there checks that the cluster has what was decided.
func (a *adopting) there(inv *cluster.Inventory) error {
	var errs []error
	for _, u := range a.order() {
		vmid := a.chosen[u]
		switch g := inv.Guest(vmid); {
		case g == nil:
			errs = append(errs, fmt.Errorf("%s=%d: the cluster has no VM %d that can be seen", u, vmid, vmid))
		case g.Template || g.Kind != cluster.KindVM:
			errs = append(errs, fmt.Errorf("%s=%d: %d is no VM but a template or container", u, vmid, vmid))
		}
	}
	return errors.Join(errs...)
}

// order is what was chosen, in a fixed order.
func (a *adopting) order() []guard.UnitID {
	return slices.SortedFunc(maps.Keys(a.chosen), func(x, y guard.UnitID) int {
		return schema.NaturalCompare(x.String(), y.String())
	})
}

// write edits the specs, checks what comes out, shows it and writes it.
func (a *adopting) write(c *cli.Context) error {
	byFile := map[string][]edit.Adoption{}
	for _, u := range a.order() {
		byFile[a.files[u]] = append(byFile[a.files[u]], edit.Adoption{Key: u.Unit, VMID: a.chosen[u]})
	}
	edited := map[string][]byte{}
	var errs []error
	files := slices.Sorted(maps.Keys(byFile))
	for _, file := range files {
		body, err := edit.Adopt(a.project.Sources[file], byFile[file])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file, err))
			continue
		}
		if string(body) != string(a.project.Sources[file]) {
			edited[file] = body
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if a.match != nil {
		if err := a.match.match(c, edited); err != nil {
			return err
		}
	}
	if err := a.check(edited); err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(edited)) {
		change := disk.Change{Path: filepath.Base(file), Kind: disk.Changed, Old: a.project.Sources[file], New: edited[file], Sync: true}
		show := change
		show.Path = filepath.ToSlash(file)
		_ = report.Text(a.out, disk.Diff(show))
		if err := disk.Apply(filepath.Dir(file), []disk.Change{change}); err != nil {
			return err
		}
	}
	return a.report(len(edited))
}

// check proves that the specs still mean what they meant, but for what was
// adopted.
func (a *adopting) check(edited map[string][]byte) error {
	p, err := project.LoadEdited(a.paths, "", edited)
	if err != nil {
		return err
	}
	if err := decide(p); err != nil {
		return err
	}
	for _, s := range p.Stacks.Stacks {
		for _, vm := range s.VMs {
			if vmid, ok := a.chosen[guard.UnitID{Stack: s.Name, Unit: vm.Key}]; ok && (!vm.Adopt || vm.VMID != vmid) {
				return fmt.Errorf("%s/%s would not adopt %d; nothing was written, please write it by hand", s.Name, vm.Key, vmid)
			}
		}
	}
	return nil
}

// report says what was decided, what was left, and what to run now.
func (a *adopting) report(files int) error {
	if len(a.left) > 0 {
		left := report.NewFindings(a.left, nil)
		left.Answer = "left for you to decide:"
		if err := left.Print(a.errOut, report.Options{Color: color(a.errOut), Verbose: a.verbose}); err != nil {
			return err
		}
	}
	for _, u := range a.order() {
		fmt.Fprintf(a.errOut, "%s is %d.\n", u, a.chosen[u])
	}
	if a.match != nil {
		if err := a.match.report(); err != nil {
			return err
		}
	}
	switch {
	case files > 0:
		fmt.Fprintf(a.errOut, "%s written. Next:\n  stackgen render && stackgen preflight\n", report.Count(files, "spec"))
	default:
		fmt.Fprintln(a.errOut, "Nothing to write.")
	}
	if code := finding.Exit(a.left); code != finding.OK {
		return exitCode(code)
	}
	if a.match != nil && len(a.match.refusals) > 0 {
		return exitCode(exitStop)
	}
	return nil
}
