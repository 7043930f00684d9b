package lock

import (
	"fmt"
	"path"
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// StateDir is where the local backend keeps state, in the project.
const StateDir = ".state"

// stateMove refuses to change where the state of a live stack is.
func (d *decider) stateMove(s *schema.Stack, was *Stack) {
	now := Stack{}
	remember(&now, s)
	if was.sameState(&now) || len(was.Units) == 0 || slices.Contains(d.options.StateMoved, s.Name) {
		return
	}
	f := finding.Finding{
		Address:  finding.Address{Stack: s.Name, Type: finding.Stack},
		Kind:     finding.StateMoved,
		Severity: finding.Blocked,
		Reason:   finding.Why("state-elsewhere", was.place(), now.place()),
	}
	if former := d.renamed[s.Name]; former != "" {
		d.namesChange(&f, former, s)
		f.Next("move the state, then confirm it", moveState(was, &now, s.Name)...)
	} else {
		f.Next("undo the change in " + d.options.Specs[s.Name])
		f.Next("or move the state, then confirm it", moveState(was, &now, s.Name)...)
	}
	d.result.Refusals = append(d.result.Refusals, f)
}

// sameState reports whether two stacks have their state in one place.
func (s *Stack) sameState(o *Stack) bool {
	return s.StateKey == o.StateKey && s.Backend.Type == o.Backend.Type &&
		s.Backend.Bucket == o.Backend.Bucket && s.Backend.Endpoint == o.Backend.Endpoint
}

// place names where the state of a stack is.
func (s *Stack) place() string {
	if s.Backend.Type != "s3" {
		return ".state/" + s.StateKey + "/"
	}
	out := "s3://" + s.Backend.Bucket + "/" + s.StateKey + "/"
	if s.Backend.Endpoint != "" {
		out += " at " + s.Backend.Endpoint
	}
	return out
}

// moveCommands are the commands that move a stack's state.
func moveCommands(was, now *Stack) []string {
	s3 := func(s *Stack) string {
		out := "aws s3"
		if s.Backend.Endpoint != "" {
			out += " --endpoint-url " + shell.Word(s.Backend.Endpoint)
		}
		return out
	}
	url := func(s *Stack) string { return shell.Word("s3://" + s.Backend.Bucket + "/" + s.StateKey) }
	dir := func(s *Stack) string { return shell.Word(".state/" + s.StateKey) }
	switch {
	case was.Backend.Type == "local" && now.Backend.Type == "local":
		parent := shell.Word(path.Dir(".state/" + now.StateKey))
		return []string{"mkdir -p " + parent + " && mv " + dir(was) + " " + dir(now)}
	case was.Backend.Type == "local":
		return []string{s3(now) + " cp --recursive " + dir(was) + " " + url(now)}
	case now.Backend.Type == "local":
		return []string{s3(was) + " cp --recursive " + url(was) + " " + dir(now)}
	case was.Backend.Endpoint == now.Backend.Endpoint:
		return []string{s3(now) + " mv --recursive " + url(was) + " " + url(now)}
	default:
		copied := shell.Word("state-" + path.Base(was.StateKey))
		return []string{
			s3(was) + " cp --recursive " + url(was) + " " + copied,
			s3(now) + " cp --recursive " + copied + " " + url(now),
		}
	}
}

// InUnit is the line that runs a command in the generated folder of a unit.
func InUnit(stack, unit, command string) string {
	return fmt.Sprintf("(cd stacks/%s && terragrunt stack generate && cd .terragrunt-stack/%s && %s)", stack, unit, command)
}

// ApplyStack is the line that applies all units of a stack.
func ApplyStack(stack string) string {
	return "(cd stacks/" + stack + " && terragrunt stack run apply)"
}

// applies is the line that applies the stack of a decider. Of a Template, stackgen downloads the images in a run of their own.
func (d *stackDecider) applies() string {
	if d.stack.IsTemplate() {
		return "stackgen apply " + d.stack.Name
	}
	return ApplyStack(d.stack.Name)
}

// StateRemove is the line that removes an address from a unit's state.
func StateRemove(stack, unit, address string) finding.Line {
	return finding.Line{Text: InUnit(stack, unit, "terragrunt state rm {}"), Items: []string{shell.Quote(address)}, Sep: " "}
}
