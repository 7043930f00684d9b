package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/schema"
)

// fewShared are so many VMs that a line for each of them is as easy to write as one for all.
const fewShared = 2

// shareLines makes the lines that steps write into the entries of all VMs of a stack one line
// of its defaults, and those of all VMs of a group one line of the group, where no VM says the
// property for itself. A class has some properties beside its defaults.
func shareLines(project *schema.Project, found []finding.Finding) {
	for _, s := range project.Stacks {
		if len(s.VMs) > fewShared {
			shareLinesOf(s, found)
		}
	}
}

// shareLinesOf makes the lines for the VMs of one stack shared lines.
func shareLinesOf(s *schema.Stack, found []finding.Finding) {
	vms, groups := map[string]*schema.VM{}, map[string]int{} // how many VMs a group has
	for _, v := range s.VMs {
		vms[v.Key] = v
		groups[groupOf(v)]++
	}
	type line struct{ step, of string } // of a VM, a group or, if empty, the stack
	said := map[line]int{}
	own := func(f *finding.Finding, do func(l *finding.Line, text, step string)) {
		if v := vms[f.Key]; f.Stack == s.Name && f.Type == finding.VM && v != nil {
			sharedLines(v, f.Steps, do)
		}
	}
	for i := range found {
		own(&found[i], func(_ *finding.Line, _, step string) {
			key := found[i].Key
			if once := (line{step, "vms." + key}); said[once] == 0 {
				said[once]++
				said[line{step, ""}]++
				said[line{step, groupOf(vms[key])}]++
			}
		})
	}
	for i := range found {
		found[i].Steps = cloneSteps(found[i].Steps)
		own(&found[i], func(l *finding.Line, text, step string) {
			group := groupOf(vms[found[i].Key])
			switch n := groups[group]; {
			case said[line{step, ""}] == len(s.VMs) && sharedPlace(s, text) != "":
				l.Text = text + "  # " + sharedPlace(s, text)
			case group != noGroup && n > fewShared && said[line{step, group}] == n:
				l.Text = text + "  # " + group + ", for all of its " + vms[found[i].Key].Kind.Name() + "s"
			}
		})
	}
}

// noGroup is the place of VMs that are in no group.
const noGroup = "vms"

// groupOf is the place of the group of a VM in its spec.
func groupOf(v *schema.VM) string {
	parts := strings.Split(v.Path, ".")
	if parts[0] != "groups" || len(parts) < 2 {
		return noGroup
	}
	return parts[0] + "." + parts[1]
}

// sharedLines are the lines of steps for the entry of a VM that it could inherit instead.
func sharedLines(v *schema.VM, steps []finding.Step, do func(l *finding.Line, text, id string)) {
	for i := range steps {
		for k := range steps[i].Lines {
			l := &steps[i].Lines[k]
			text, of := strings.CutSuffix(l.Text, specLine(v, ""))
			key, _, property := strings.Cut(text, ":")
			if of && property && key != guest.Name && key != guest.Node && v.Own.Get(key) == nil {
				do(l, text, steps[i].What+"\x00"+text)
			}
		}
	}
}

// sharedPlace is where a spec says a property for all of its guests; "" if it says it for VMs and for containers in
// two places.
func sharedPlace(s *schema.Stack, text string) string {
	key, _, _ := strings.Cut(text, ":")
	if s.Kind == schema.KindClass && (key == guest.Template || key == guest.Clone) {
		return "of the class, for all of its VMs"
	}
	of := guest.Count(s.VMs, func(v *schema.VM) guest.Kind { return v.Kind })
	switch {
	case of[guest.Container] == 0 || schema.InheritedByContainers(key):
		return "defaults, for all " + of.Word() + "s of " + s.Name
	case of[guest.VM] == 0:
		return "defaults.containers, for all containers of " + s.Name
	}
	return ""
}

func cloneSteps(steps []finding.Step) []finding.Step {
	out := slices.Clone(steps)
	for i := range out {
		out[i].Lines = slices.Clone(out[i].Lines)
	}
	return out
}
