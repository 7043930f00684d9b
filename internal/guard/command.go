package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// A Command is a command line of OpenTofu, with what changes its meaning from the
// outside.
type Command struct {
	Unit      tf.Unit
	Args      []string                 // apply or destroy first
	Typed     []string                 // the command line of Terragrunt, which runs `apply -destroy` as destroy
	Env       func(name string) string // its environment
	Variables []string                 // of the unit, that the environment of Terragrunt sets
	Workspace string                   // as `tofu workspace select` recorded it, or empty
	Backend   string                   // in what its backend differs from the unit's, or empty
	Environ   []string                 // of Terragrunt, for its own variables
	Own       bool                     // stackgen started the run of Terragrunt
	Whole     bool                     // its result is reported as the state of whole stacks
}

// UnitVariables are the variables of the modules of units. The hooks name those that the
// environment sets.
var UnitVariables = []string{"addresses", "containers", "dns", "pools", "proxmox", "records", "vms"}

// A refusedFlag is a flag that makes a run do something else than the specs say.
// Every run has the flags of TF_CLI_ARGS variables, which nobody sees.
type refusedFlag struct {
	names  []string
	typed  typed
	reason string // what it does, after its name
	what   string // what else to do than to remove it
}

// typed says for which units a flag is refused even if a person typed it.
type typed int

const (
	permitted typed = iota // in variables only: a person who types it asks for it, and the plan is judged
	onRecords              // in units of records, whose plan is not judged
	always
)

var refusedFlags = []refusedFlag{
	{[]string{"destroy"}, always, "turns every apply into a destroy", ", and use `terragrunt destroy` to destroy"},
	{[]string{"state", "state-out"}, always, "names another state than the unit's", ""},
	{[]string{"backend-config"}, always, "names another backend than the unit's", ""},
	{[]string{"var", "var-file"}, always, "sets variables of the unit, which only the spec sets", ""},
	{[]string{"refresh-only"}, permitted, "makes every apply change nothing but the state", ""},
	{[]string{"replace"}, onRecords, "makes every apply replace a VM or record", ""},
	{[]string{"target", "target-file", "exclude", "exclude-file"}, onRecords, "makes every apply skip a part of the unit", ""},
}

// Misled says why the environment or an argument makes a run do something else
// than its command says, or use another state than the unit's. It returns nil if
// nothing does.
func (c Command) Misled() (*finding.Finding, error) {
	if f := c.misledByVariable(); f != nil {
		return f, nil
	}
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_init", "TF_CLI_ARGS_output", "TF_CLI_ARGS_" + c.Args[0]} {
		if f, err := c.misledByArguments(name); f != nil || err != nil {
			return f, err
		}
	}
	if row, flag := c.refused(c.Args[1:], c.typed()); row != nil {
		reason := strings.Replace(row.reason, "every apply", "this "+c.Args[0], 1)
		return c.misled("-"+flag+" "+reason, "run the command without it"+row.what), nil
	}
	if c.Args[0] == "destroy" && slices.Contains(c.Typed, "apply") && hasFlag(c.Typed, "destroy") {
		return c.misled("-destroy turns this apply into a destroy", "run the command without it"+refusedFlags[0].what), nil
	}
	for _, name := range c.Variables {
		return c.misled("TF_VAR_"+name+" sets a variable of the unit, which only the spec sets", "remove it", "unset TF_VAR_"+name), nil
	}
	const other = ", which has another state than the one that was read"
	switch named := c.Env("TF_WORKSPACE"); {
	case named != "" && named != "default":
		return c.misled("TF_WORKSPACE names workspace "+named+other, "remove it", "unset TF_WORKSPACE"), nil
	case named == "" && c.Workspace != "" && c.Workspace != "default":
		return c.misled("workspace "+c.Workspace+" is selected"+other, "select the default workspace",
			lock.InUnit(c.Unit.Stack, c.Unit.Unit, "terragrunt run -- workspace select default")), nil
	case c.Backend != "":
		f := c.misled("the unit was initialized with another backend than the one that was read", "initialize the units again", c.initialize())
		return f.Because("%s", c.Backend), nil
	}
	return nil, nil
}

// misledByVariable is the finding about a variable, or a flag of Terragrunt, with which the
// units are others than the rendered ones, or which only stackgen sets. It is nil if there
// is none.
func (c Command) misledByVariable() *finding.Finding {
	for _, name := range named(c.Environ, other, ours) {
		does, row := influences(name)
		switch {
		case does == other:
			return c.misled(name+" "+row.does, "remove it", "unset "+name)
		case !c.Own || name == StartingVariable:
			return c.misled(name+" is a variable of stackgen, which only `stackgen apply`, `destroy` and `rebuild` set, for runs that they start",
				"remove it", "unset "+name)
		}
	}
	for _, name := range typedFlags(c.Typed, other) {
		_, row := influences("TG_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
		return c.misled("--"+name+" "+row.does, "run the command without it")
	}
	return nil
}

// misledByArguments is the finding about a variable that gives every run arguments, or nil
// if they mislead no run.
func (c Command) misledByArguments(variable string) (*finding.Finding, error) {
	words, err := shellwords.Parse(c.Env(variable))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be split into words: %w", variable, err)
	}
	unset := "unset " + variable
	if row, flag := c.refused(words, permitted); row != nil {
		if flag == "backend-config" { // init has run before this check
			return c.misled(variable+" "+row.reason, "remove it, then initialize the units again", unset, c.initialize()), nil
		}
		return c.misled(variable+" "+row.reason, "remove it"+row.what, unset), nil
	}
	if c.Whole && slices.ContainsFunc(words, disablesRefresh) {
		return c.misled(variable+" keeps OpenTofu from looking at the cluster", "remove it", unset), nil
	}
	if len(positional(words)) > 0 {
		return c.misled(variable+" gives every run a plan file", "remove it", unset), nil
	}
	return nil, nil
}

// disablesRefresh reports whether a plan with an argument does not look at the cluster.
func disablesRefresh(arg string) bool {
	flag, value, _ := parseFlag(arg)
	return flag == "refresh" && value == "false"
}

// initialize is the line that initializes all units of the stack with their own backends:
// what misled one of them was there for the others, too.
func (c Command) initialize() string {
	return "(cd stacks/" + c.Unit.Stack + " && terragrunt stack run init -- -reconfigure)"
}

// misled is the finding about a run that does something else than it should.
func (c Command) misled(reason, what string, lines ...string) *finding.Finding {
	f := &finding.Finding{Address: unitAddress(c.Unit), Kind: finding.Misled, Severity: finding.Blocked, Reason: finding.Why("misled", reason)}
	return f.Next(what, lines...)
}

// refused finds the first flag that is refused from a place on, and its name.
func (c Command) refused(words []string, from typed) (*refusedFlag, string) {
	for i := range refusedFlags {
		row := &refusedFlags[i]
		for _, name := range row.names {
			if row.typed >= from && hasFlag(words, name) && (name != "destroy" || c.Args[0] != "destroy") {
				return row, name
			}
		}
	}
	return nil, ""
}

// typed is from where on flags are refused that a person typed.
func (c Command) typed() typed {
	if c.Unit.HasRecords() {
		return onRecords
	}
	return always
}

// positional are the arguments that are no flags.
func positional(words []string) (out []string) {
	for i := 0; i < len(words); i++ {
		switch {
		case takesNext(words[i]):
			i++
		case !strings.HasPrefix(words[i], "-"):
			out = append(out, words[i])
		}
	}
	return out
}

// Waits is set if OpenTofu asks a person before it changes something, so that time
// passes between the check and the change: what to do to have none.
func (c Command) Waits() *finding.Step {
	words := c.Args[1:]
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_" + c.Args[0]} {
		more, _ := shellwords.Parse(c.Env(name)) // Misled reports the error
		words = append(slices.Clone(more), words...)
	}
	if c.SavedPlan() != "" || hasFlag(words, "auto-approve") ||
		slices.Contains(words, "-input=false") || c.Env("TG_NON_INTERACTIVE") == "true" {
		return nil
	}
	what, plan, run := "read and apply a plan", "terragrunt plan -out=tfplan", "terragrunt apply tfplan"
	if c.Args[0] == "destroy" {
		what, plan, run = "read a plan, and destroy without a prompt", "terragrunt plan -destroy", "terragrunt destroy -auto-approve"
	}
	step := finding.Do("OpenTofu asks you next, and what changes before you answer is not checked. To avoid this, answer no, "+what,
		lock.InUnit(c.Unit.Stack, c.Unit.Unit, plan), lock.InUnit(c.Unit.Stack, c.Unit.Unit, run))
	return &step
}

// Part reports whether the flags of the command may leave out something that the unit is to have.
func (c Command) Part() bool {
	return slices.ContainsFunc([]string{"target", "target-file", "exclude", "exclude-file", "refresh-only"},
		func(name string) bool { return hasFlag(c.Args[1:], name) })
}

// SavedPlan is the plan file that an apply is given, or empty.
func (c Command) SavedPlan() string {
	if c.Args[0] != "apply" || len(c.Args) < 2 {
		return ""
	}
	last, before := c.Args[len(c.Args)-1], c.Args[len(c.Args)-2]
	if strings.HasPrefix(last, "-") || takesNext(before) {
		return ""
	}
	return last
}

// PlanArgs are the arguments of a plan that shows what the command would do. They
// include those from the command's environment variable.
func (c Command) PlanArgs() ([]string, error) {
	variable := "TF_CLI_ARGS_" + c.Args[0]
	extra, err := shellwords.Parse(c.Env(variable))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be split into words: %w", variable, err)
	}
	var out []string
	if c.Args[0] == "destroy" {
		out = append(out, "-destroy")
	}
	all := slices.Concat(extra, c.Args[1:])
	for i := 0; i < len(all); i++ {
		name, _, _ := parseFlag(all[i])
		omit := slices.Contains(notOfPlans, name)
		if !omit {
			out = append(out, all[i])
		}
		if takesNext(all[i]) && i+1 < len(all) {
			if i++; !omit {
				out = append(out, all[i])
			}
		}
	}
	return out, nil
}

// notOfPlans are the flags of apply and destroy that plan does not have, or that
// the guard's own plan sets itself.
var notOfPlans = []string{"auto-approve", "backup", "input", "json", "json-into", "lock", "lock-timeout", "no-color", "state-out",
	"detailed-exitcode", "out", "suppress-forget-errors"}

// parseFlag splits an argument of OpenTofu, whose flags have one dash or two. The
// name of an argument that is no flag is empty.
func parseFlag(arg string) (name, value string, hasValue bool) {
	if !strings.HasPrefix(arg, "-") {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
}

// hasFlag reports whether a flag is given and not false.
func hasFlag(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		given, value, _ := parseFlag(arg)
		return given == name && value != "false"
	})
}

// takesNext reports whether the value of an argument is the next argument.
func takesNext(arg string) bool {
	name, _, hasValue := parseFlag(arg)
	return !hasValue && slices.Contains([]string{"backup", "exclude", "exclude-file", "json-into", "lock-timeout", "parallelism", "replace",
		"state", "state-out", "target", "target-file", "var", "var-file"}, name)
}
