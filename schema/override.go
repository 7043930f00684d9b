package schema

import "slices"

// overrides are the properties of single members of a group, or of single students.
type overrides struct {
	*expander
	of    *Node
	byKey map[string]*Node
	used  map[string]bool
}

// overridesOf reads the overrides of a group or of the students.
func (e *expander) overridesOf(v *Node) *overrides {
	of := v.Get("overrides")
	return &overrides{e, of, entriesOf(of), map[string]bool{}}
}

// apply merges what one member has of its own into what all members have.
func (o *overrides) apply(m member) member {
	over := o.byKey[m.key]
	if over == nil {
		return m
	}
	o.used[m.key] = true
	m.path += ".overrides." + m.key
	if hasOrdinal(over) {
		over = o.numbered(m, over)
	}
	if m.own == nil || over == nil {
		m.own = nil
		return m
	}
	m.own = merge(m.own, over, guestField(m.kind))
	return m
}

// unused reports overrides of keys that no member has, unless the VM leaves the stack.
func (o *overrides) unused(path, format string) {
	if o.of == nil {
		return
	}
	for _, k := range o.of.Keys {
		leaves := slices.ContainsFunc(slices.Concat(o.stack.Retired, o.stack.Forgotten), func(i ListItem) bool { return i.Name == k.Text })
		if !o.used[k.Text] && !leaves {
			o.errorAt(k, path+".overrides."+k.Text, CodeUnknownKey, "", format, k.Text)
		}
	}
}
