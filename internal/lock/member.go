package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/finding"
	"stackgen/schema"
)

func (v VM) member() schema.Member { return schema.Member{Name: v.Member, Email: v.Email} }

// joined are the members of the spec whose VMs the lock does not have.
func (d *stackDecider) joined() (out []schema.Member) {
	rekeyed := map[string]bool{}
	for _, r := range d.rekeyed() {
		rekeyed[r.To] = true
	}
	for _, v := range d.stack.VMs {
		if v.Member != "" && d.old[v.Key] == nil && !rekeyed[v.Key] {
			out = append(out, schema.Member{Name: v.Member, Email: v.Email})
		}
	}
	return out
}

// A rekeying gives a student's VM another key, also because the student gets another number.
type rekeying struct {
	schema.Rename
	numbered bool
}

// rekeyed are the students' VMs that have another key in the spec, by their keys in the lock. The spec gives students
// the seats that the lock has, unless two have one there.
func (d *stackDecider) rekeyed() map[string]rekeying {
	if d.keys != nil {
		return d.keys
	}
	d.keys = map[string]rekeying{}
	left, members := map[int]string{}, map[schema.Member]string{}
	for _, e := range d.lock.VMs {
		if e.Value.Status != Live || d.inSpec[e.Key] != nil {
			continue
		}
		left[e.Value.Seat] = e.Key
		if e.Value.Member != "" {
			members[e.Value.member()] = e.Key
		}
	}
	for _, v := range d.stack.VMs {
		if v.Seat == 0 || d.old[v.Key] != nil {
			continue
		}
		for _, from := range []string{left[v.Seat], members[schema.Member{Name: v.Member, Email: v.Email}]} {
			was := d.old[from]
			if was != nil && (strings.EqualFold(v.Member, was.Member) || was.Member != "" && v.Formerly == was.member()) {
				d.keys[from] = rekeying{schema.Rename{From: from, To: v.Key}, was.Seat != v.Seat}
				break
			}
		}
	}
	return d.keys
}

// keepRekeyed is how a student's VM gets its other key.
func (d *stackDecider) keepRekeyed(r rekeying) []finding.Step {
	keep := "keep the VM: " + d.into("renamed", d.stack.Renamed != nil) + ", then render"
	steps := []finding.Step{finding.DoAll(keep, d.renaming(r.Rename), "stackgen render")}
	if !r.numbered {
		steps = append(steps, finding.Do("or restore students.key in "+d.lock.Spec))
	}
	return steps
}

// renaming is a line of the spec such as `renamed: {bo: bob}`, with the pairs that the spec has there
// already.
func (d *stackDecider) renaming(add schema.Rename) finding.Line {
	out := finding.Line{Text: "renamed: {{}}", Sep: ", "}
	others := slices.DeleteFunc(slices.Clone(d.stack.Renamed), func(r schema.Rename) bool { return r.From == add.From })
	for _, r := range append(others, add) {
		out.Items = append(out.Items, finding.Key(r.From)+": "+finding.Key(r.To))
	}
	return out
}

// nameOf names a member: with the e-mail address if another one, here or in the lock, has the name.
func (d *stackDecider) nameOf(m schema.Member) string {
	all := d.joined()
	for _, e := range d.lock.VMs {
		all = append(all, e.Value.member())
	}
	if slices.ContainsFunc(all, func(o schema.Member) bool { return strings.EqualFold(o.Name, m.Name) && o != m }) {
		return m.String()
	}
	return m.Name
}

// candidates are the members of the roster that this one may be: those that joined, as long as the lock does not have
// the address of this one.
func (d *stackDecider) candidates(m schema.Member) []schema.Member {
	if m.Email != "" {
		return nil
	}
	return slices.DeleteFunc(d.joined(), func(o schema.Member) bool { return !strings.EqualFold(o.Name, m.Name) })
}

// correction is a line of the spec such as `corrected: {"Bo": "Bob"}`, with the pairs that the spec
// has there already, except for one of the same name.
func (d *stackDecider) correction(from, to string) finding.Line {
	out := finding.Line{Text: "corrected: {{}}", Sep: ", "}
	for _, c := range d.stack.Corrected {
		if c.From != from {
			out.Items = append(out.Items, strconv.Quote(c.From)+": "+strconv.Quote(c.To))
		}
	}
	out.Items = append(out.Items, strconv.Quote(from)+": "+to)
	return out
}

// corrected pairs the members of VMs that the spec no longer has with new members whose names are
// similar.
func (d *stackDecider) corrected(removed Ordered[VM]) map[schema.Member]schema.Member {
	var left []schema.Member
	for _, e := range removed {
		if e.Value.Member != "" {
			left = append(left, e.Value.member())
		}
	}
	return schema.Resembling(left, d.joined())
}

// memberLeft is why a member's VM is refused, and what to do: retire and forget, which
// are given, or keep it.
func (d *stackDecider) memberLeft(
	m schema.Member, corrected map[schema.Member]schema.Member, reason finding.Reason, steps []finding.Step,
) (finding.Reason, []finding.Step) {
	keep := func(what, to string) finding.Step {
		what += ", keep the VM: " + d.into("corrected", d.stack.Corrected != nil) + ", then render"
		return finding.DoAll(what, d.correction(d.nameOf(m), to), "stackgen render")
	}
	var first []finding.Step
	to, found := corrected[m]
	switch candidates := d.candidates(m); {
	case len(candidates) > 0:
		reason = finding.Why("member-unclear", len(candidates), m.Name)
		for i, c := range candidates {
			what := map[bool]string{true: "if it is that of ", false: "or, if it is that of "}[i == 0]
			first = append(first, keep(what+c.String(), strconv.Quote(c.String())))
		}
	case found:
		reason = finding.Why("member-with-similar-name")
		first = append(first, keep("if the name was corrected", strconv.Quote(d.nameOf(to))))
		switch {
		case to.Email != "" && to.Email == m.Email:
			reason = finding.Why("member-with-same-address")
		case to.Name == m.Name:
			reason = finding.Why("member-with-other-address")
			first[0].What = strings.Replace(first[0].What, "name", "address", 1)
		}
	default:
		return reason, append(steps, keep("or, if the name was corrected", "NAME-IN-THE-ROSTER"))
	}
	steps[0].What = "or, if the member left, " + steps[0].What
	return reason, append(first, steps...)
}

// respelling says which other name a member has now.
func respelling(v *schema.VM, was *VM) string {
	from, to := was.member(), schema.Member{Name: v.Member, Email: v.Email}
	if from.Email == to.Email || to.Email == "" || from.Email == "" {
		return fmt.Sprintf("%q is %q now (%s)", from.Name, to.Name, v.Key)
	}
	return fmt.Sprintf("%q is %q now (%s)", from, to, v.Key)
}
