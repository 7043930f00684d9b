package lock

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// StateDir is where the local backend keeps state, in the project.
const StateDir = ".state"

// StateFile is the file in which the local backend keeps the state of a unit.
const StateFile = "tofu.tfstate"

// stateMove refuses to change where the state of a live stack is, until it was moved.
func (d *decider) stateMove(s *schema.Stack, was *Stack) {
	now := Stack{}
	remember(&now, s)
	if was.sameState(&now) || len(was.Units) == 0 {
		return
	}
	m := d.moveOf(was, &now)
	f := finding.Finding{
		Address:  finding.Address{Stack: s.Name, Type: finding.Stack},
		Kind:     finding.StateMoved,
		Severity: finding.Blocked,
		Reason:   finding.Why("state-elsewhere", was.place(), now.place()),
	}
	if slices.Contains(d.options.StateMoved, s.Name) && !m.contradicts(&f) {
		return
	}
	if former := d.renamed[s.Name]; former != "" {
		d.namesChange(&f, former, s)
	} else {
		f.Next("undo the change in " + d.options.Specs[s.Name])
	}
	m.explain(&f)
	f.Next("or "+m.what(), m.commands(s.Name))
	d.result.Refusals = append(d.result.Refusals, f)
}

// A move is what is known about the move of a stack's state to another place. What is in a bucket
// is not known.
type move struct {
	was, now *Stack
	left     []string // units that have a state at the former place
	taken    []string // those of them that have one at the new place, too
	absent   []string // units that had a state, and have none at the new place
}

// moveOf compares both places of a stack's state.
func (d *decider) moveOf(was, now *Stack) move {
	m := move{was: was, now: now}
	stored := func(s *Stack, unit string) bool {
		return s.Backend.Type != "s3" && d.options.Stored != nil && d.options.Stored(s.StateKey, unit)
	}
	for _, e := range was.Units {
		there := stored(now, e.Key)
		if stored(was, e.Key) {
			m.left = append(m.left, e.Key)
			if there {
				m.taken = append(m.taken, e.Key)
			}
		}
		if now.Backend.Type != "s3" && !there && e.Value.Lineage != "" && !e.Value.Gone {
			m.absent = append(m.absent, e.Key)
		}
	}
	return m
}

// contradicts reports whether the state was not moved, and says why. What was copied to a bucket
// may be left.
func (m *move) contradicts(f *finding.Finding) bool {
	switch {
	case len(m.left) > 0 && m.now.Backend.Type != "s3":
		f.Reason = finding.Why("state-left", m.was.place(), m.now.place())
		f.Because("there: the state of %s", some(m.left))
	case len(m.absent) > 0:
		f.Reason = finding.Why("state-absent", m.now.place())
		f.Because("it had a state of %s", some(m.absent))
	default:
		return false
	}
	return true
}

// explain says what a move meets.
func (m *move) explain(f *finding.Finding) {
	if len(m.taken) > 0 {
		f.Because("%s already has a state of %s, which is not overwritten: find out whose it is, and move it away first",
			m.now.place(), some(m.taken))
	}
}

// units are those whose state is moved.
func (m *move) units() []string {
	if len(m.left) > 0 {
		return m.left
	}
	return m.absent // elsewhere, if not lost
}

// moves reports whether there is something to move, as far as that is known.
func (m *move) moves() bool { return m.was.Backend.Type == "s3" || len(m.units()) > 0 }

// what is the step that a move takes.
func (m *move) what() string {
	switch {
	case m.moves() && m.was.Backend.Type != "s3" && len(m.left) == 0:
		return "move the state, in the checkout that has it, then confirm it"
	case m.moves():
		return "move the state, then confirm it"
	}
	return "confirm that no state is left there"
}

// sameState reports whether two stacks have their state in one place.
func (s *Stack) sameState(o *Stack) bool {
	return s.StateKey == o.StateKey && s.Backend.Type == o.Backend.Type &&
		s.Backend.Bucket == o.Backend.Bucket && s.Backend.Endpoint == o.Backend.Endpoint
}

// place names where the state of a stack is.
func (s *Stack) place() string {
	if s.Backend.Type != "s3" {
		return StateDir + "/" + s.StateKey + "/"
	}
	out := "s3://" + s.Backend.Bucket + "/" + s.StateKey + "/"
	if s.Backend.Endpoint != "" {
		out += " at " + s.Backend.Endpoint
	}
	return out
}

// commands is the line that moves the state, and then confirms it. It names what is the stack's: a
// folder below that of its state may be another stack's.
func (m *move) commands(stack string) string {
	return strings.Join(append(m.transfer(), "stackgen render --state-moved "+stack), " && ")
}

// transfer are the commands that move the state.
func (m *move) transfer() []string {
	was, now := m.was, m.now
	url := func(s *Stack) string { return shell.Word("s3://" + s.Backend.Bucket + "/" + s.StateKey) }
	dir := func(s *Stack) string { return shell.Word(StateDir + "/" + s.StateKey) }
	switch {
	case !m.moves():
		return nil
	case was.Backend.Type == "local" && now.Backend.Type == "local":
		// mv overwrites no folder that has files.
		words := []string{"mv"}
		for _, unit := range m.units() {
			words = append(words, shell.Word(StateDir+"/"+was.StateKey+"/"+unit))
		}
		return []string{"mkdir -p " + dir(now), strings.Join(append(words, shell.Word(StateDir+"/"+now.StateKey+"/")), " ")}
	case was.Backend.Type == "local":
		return []string{inBucket(now, "cp", dir(was), url(now))}
	case now.Backend.Type == "local":
		return []string{inBucket(was, "cp", url(was), dir(now))}
	case was.Backend.Endpoint == now.Backend.Endpoint:
		return []string{inBucket(now, "mv", url(was), url(now))}
	default:
		copied := shell.Word("state-" + path.Base(was.StateKey))
		return []string{inBucket(was, "cp", url(was), copied), inBucket(now, "cp", copied, url(now))}
	}
}

// inBucket is a command of the AWS CLI for the server of a stack's bucket, from a folder to another
// one. A unit has its files in a folder of its own; those of a stack below are deeper.
func inBucket(s *Stack, command, from, to string) string {
	out := "aws s3"
	if s.Backend.Endpoint != "" {
		out += " --endpoint-url " + shell.Word(s.Backend.Endpoint)
	}
	return out + " " + command + " --recursive --exclude '*/*/*' " + from + " " + to
}

// InUnit is the line that runs a command in the generated folder of a unit.
func InUnit(stack, unit, command string) string {
	return fmt.Sprintf("(cd stacks/%s && terragrunt stack generate && cd .terragrunt-stack/%s && %s)", stack, unit, command)
}

// ApplyStack is the line that applies all units of a stack.
func ApplyStack(stack string) string {
	return "(cd stacks/" + stack + " && terragrunt stack run apply)"
}

// applies is the line that applies the stack of a decider. stackgen shows what would be done before it asks, and records
// what it has seen; Terragrunt asks without that.
func (d *stackDecider) applies() string { return "stackgen apply " + shell.Path(d.lock.Spec) }

// StateRemove is the line that removes an address from a unit's state.
func StateRemove(stack, unit, address string) finding.Line {
	return finding.Line{Text: InUnit(stack, unit, "terragrunt state rm {}"), Items: []string{shell.Quote(address)}, Sep: " "}
}
