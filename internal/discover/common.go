package discover

import (
	"net/netip"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/hardware"
	"stackgen/schema"
)

// How much of a property may be in the defaults: what most VMs that have it share, what all
// of them have, or nothing.
const (
	most = iota
	all
	none
)

// chooseCommon chooses the defaults of a new spec: what most of its managed VMs have.
func (s *stack) chooseCommon() {
	s.common = nil
	if s.existing != nil {
		return
	}
	if node := s.commonNode(); node != "" {
		s.common = append(s.common, line{guest.Node, hardware.Assignment(guest.VM, guest.Node, text(node))})
	}
	s.commonOf(guest.VM)
	if s.noRecords && len(s.of(guest.VM)) > 0 {
		s.common = append(s.common, line{guest.DNS, "dns: false"})
	}
	s.commonOf(guest.Container)
}

// ofContainers is before the properties of the defaults that only containers have.
const ofContainers = "containers."

// commonOf chooses the defaults of the guests of a kind.
func (s *stack) commonOf(kind guest.Kind) {
	managed := slices.DeleteFunc(s.of(kind), func(m *member) bool { return !m.managed })
	fields, prefix := schema.Fields(kind), ""
	if kind == guest.Container {
		prefix = ofContainers
	}
	for i := range fields {
		f := &fields[i]
		if len(managed) < 2 || f.Key == guest.Name || f.Key == guest.Pool || s.level[prefix+f.Key] >= none {
			continue
		}
		if l := s.commonLine(f, managed, s.level[prefix+f.Key]); l != "" {
			s.common = append(s.common, line{prefix + f.Key, l})
		}
	}
}

// commonNode is the node of most VMs.
func (s *stack) commonNode() string {
	var nodes []string
	for _, m := range s.members {
		nodes = append(nodes, m.guest.Node)
	}
	best, _ := mostOf(nodes)
	return best
}

// mostOf is the text that occurs most often, the first of several, and how often. An
// empty text counts for nothing.
func mostOf(texts []string) (best string, n int) {
	count := map[string]int{}
	for _, t := range texts {
		count[t]++
	}
	for _, t := range texts {
		if t != "" && count[t] > n {
			best, n = t, count[t]
		}
	}
	return best, n
}

// commonLine is the line of the defaults for a property, or empty.
func (s *stack) commonLine(f *schema.Field, managed []*member, level int) string {
	var lines []string
	var values []*schema.Node
	for _, m := range managed {
		l, v := "", (*schema.Node)(nil)
		for _, o := range s.base[m] {
			if o.Field == f.Key && o.Reason == "" {
				l, v = o.Line, o.Value
			}
		}
		lines, values = append(lines, l), append(values, v)
	}
	if f.Sum {
		return sum(f, values)
	}
	maps := slices.DeleteFunc(slices.Clone(values), func(n *schema.Node) bool { return n == nil || n.Shape != schema.ShapeMap })
	if f.Type == schema.Object && !f.Whole && len(maps) > len(managed)-len(maps) {
		return commonMap(f, maps, level)
	}
	best, n := mostOf(lines)
	without := len(lines) - len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "" }))
	if n < 2 || n <= without {
		return ""
	}
	return best
}

// commonMap is the line with the keys of a map that most of the maps share.
func commonMap(f *schema.Field, maps []*schema.Node, level int) string {
	var parts []string
	for i := range f.Fields {
		key := f.Fields[i].Key
		var texts []string
		for _, n := range maps {
			if v := n.Get(key); v != nil {
				texts = append(texts, hardware.Flow(v))
			}
		}
		best, n := mostOf(texts)
		if n < 2 || 2*n <= len(texts) || level == all && len(texts) < len(maps) || ownAddress(best) {
			continue
		}
		parts = append(parts, key+": "+best)
	}
	if len(parts) == 0 {
		return ""
	}
	return f.Key + ": {" + strings.Join(parts, ", ") + "}"
}

// ownAddress reports whether a value is the address of one machine.
func ownAddress(flow string) bool {
	_, err := netip.ParsePrefix(strings.Trim(flow, `"`))
	return err == nil
}

// sum is the line with the items that all lists have: those of defaults and VM add up.
func sum(f *schema.Field, values []*schema.Node) string {
	var texts []string
	for _, item := range values[0].Strings() {
		if !slices.ContainsFunc(values, func(n *schema.Node) bool { return !slices.Contains(n.Strings(), item) }) {
			texts = append(texts, hardware.Text(item))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return f.Key + ": [" + strings.Join(texts, ", ") + "]"
}

// without is the line of a guest without the keys of a map that the defaults have with the same
// value. What is in effect may differ from that: a gateway in the defaults counts only for
// VMs with an address.
func (s *stack) without(m *member, key, own string) string {
	from := key
	if m.isContainer() {
		from = ofContainers + key
	}
	i := slices.IndexFunc(s.common, func(l line) bool { return l.key == from })
	if i < 0 {
		return own
	}
	had, _ := schema.ParseYAML("", []byte(s.common[i].text))
	has, _ := schema.ParseYAML("", []byte(own))
	inherited, n := had.Get(key), has.Get(key)
	if inherited == nil || n == nil || inherited.Shape != schema.ShapeMap || n.Shape != schema.ShapeMap {
		return own
	}
	var parts []string
	for i, k := range n.Keys {
		if text := hardware.Flow(n.Items[i]); text != hardware.Flow(inherited.Get(k.Text)) {
			parts = append(parts, k.Text+": "+text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return key + ": {" + strings.Join(parts, ", ") + "}"
}
