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
	for _, v := range d.stack.VMs {
		if v.Member != "" && d.old[v.Key] == nil {
			out = append(out, schema.Member{Name: v.Member, Email: v.Email})
		}
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

// candidates are the members that joined of whom the lock cannot tell whether they are this one,
// whose address it does not have.
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
		return finding.DoAll(what+", keep the VM: add to "+d.lock.Spec+", then render", d.correction(d.nameOf(m), to), "stackgen render")
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
