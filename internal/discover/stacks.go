package discover

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// A stack is one spec that gets VMs.
type stack struct {
	name, file, why string
	pool            string
	asked           string        // its name before a number was added; empty with a pool
	existing        *schema.Stack // nil for a new spec
	members         []*member     // by VMID
	noRecords       bool

	base    map[*member][]hardware.Own // lines of each VM without defaults
	level   map[string]int             // how much of a property may be in the defaults
	lowered map[string]bool            // properties whose level became lower in this attempt
	common  []line                     // the defaults
	groups  []group
}

// A line is one property.
type line struct{ key, text string }

// A member is one VM or container of a stack.
type member struct {
	guest   *cluster.Guest
	reading *hardware.Reading
	key     string
	managed bool
	reasons []Reason
	later   []Reason
	name    string // of an adopted VM, if the pattern gives another one
	own     []line
}

// assign puts each VM into a stack: that of its pool, else of its tag, else the one for
// the rest.
func (p *proposer) assign(guests []*cluster.Guest) error {
	var rest []*cluster.Guest
	for _, g := range guests {
		if g.Pool == "" {
			rest = append(rest, g)
			continue
		}
		if err := p.add(g, p.poolStack(g.Pool)); err != nil {
			return err
		}
	}
	tags := p.tagsOf(rest)
	for _, g := range rest {
		s, err := (*stack)(nil), error(nil)
		if tag := tags[g.VMID]; tag != "" {
			s = p.namedStack(cmp.Or(label(tag), "tagged"), "tag "+tag)
		} else {
			s, err = p.restStack()
		}
		if err != nil {
			return err
		}
		if err := p.add(g, s); err != nil {
			return err
		}
	}
	slices.SortFunc(p.stacks, func(a, b *stack) int { return strings.Compare(a.name, b.name) })
	return nil
}

func (p *proposer) add(g *cluster.Guest, s *stack) error {
	if l := p.Lock.Stacks.Get(s.name); s.existing != nil && l != nil && p.Inventory.Compare(l.Cluster) != cluster.SameCluster {
		return fmt.Errorf("stack %s would get %s %d, but %s may not be the cluster that the lock records for it; see `stackgen preflight`",
			s.name, g.Kind.Name(), g.VMID, p.Inventory.Endpoint)
	}
	m := &member{guest: g, reading: hardware.Read(g).WithoutMACs().WithDriveOptions(p.storageType), managed: true}
	if g.Lock != "" {
		m.adopt(locked(g))
	}
	s.members = append(s.members, m)
	return nil
}

// storageType is the type of a storage, or "" if it is not known.
func (p *proposer) storageType(id string) string {
	for _, s := range p.Inventory.Storages {
		if s.ID == id {
			return s.Type
		}
	}
	return ""
}

func (m *member) isContainer() bool { return m.guest.Kind == guest.Container }

// adopt leaves the VM as it is, for a reason.
func (m *member) adopt(r Reason) { m.managed, m.reasons = false, append(m.reasons, r) }

// poolStack is the stack whose VMs join a pool.
func (p *proposer) poolStack(pool string) *stack {
	for _, s := range p.stacks {
		if s.pool == pool {
			return s
		}
	}
	var found *schema.Stack
	for _, s := range p.Project.Stacks {
		if s.Kind == schema.KindStack && s.Pool != nil && s.Pool.ID == pool && (found == nil || s.Name == label(pool)) {
			found = s
		}
	}
	if found != nil {
		return p.open(&stack{name: found.Name, file: found.File, existing: found, pool: pool, why: "pool " + pool})
	}
	return p.open(p.create(cmp.Or(label(pool), "pool"), &stack{pool: pool, why: "pool " + pool}))
}

// namedStack is the stack with a name, of VMs without a pool. Where another kind of stack
// has the name, it gets a number.
func (p *proposer) namedStack(name, why string) *stack {
	for _, s := range p.stacks {
		if s.asked == name {
			if !strings.Contains(s.why, why) {
				s.why += "; " + why
			}
			return s
		}
	}
	for n := 2; ; n++ {
		at := name
		if n > 2 {
			at = fmt.Sprintf("%s-%d", name, n-1)
		}
		i := slices.IndexFunc(p.Project.Stacks, func(s *schema.Stack) bool { return s.Name == at })
		if i < 0 {
			return p.open(p.create(name, &stack{why: why, asked: name}))
		}
		if s := p.Project.Stacks[i]; s.Kind == schema.KindStack && s.Pool == nil {
			return p.open(&stack{name: at, file: s.File, existing: s, why: why, asked: name})
		}
	}
}

// restStack is the stack of VMs without a pool and a tag that others have, too.
func (p *proposer) restStack() (*stack, error) {
	const why = "no pool, and no tag that others have"
	if name := p.Stack; name != "" {
		if fits, want := schema.Matches("label", name); !fits {
			return nil, fmt.Errorf("--stack %s: the name of a stack is %s", name, want)
		}
		for _, s := range p.Project.Stacks {
			if s.Name == name && (s.Kind != schema.KindStack || s.Pool != nil) {
				return nil, fmt.Errorf("--stack %s: that stack is a class, or has a pool that the guests would join; choose another name", name)
			}
		}
		return p.namedStack(name, why), nil
	}
	name := label(p.Inventory.Cluster)
	if len(p.Inventory.Nodes) == 1 {
		name = cmp.Or(name, label(p.Inventory.Nodes[0].Name))
	}
	return p.namedStack(cmp.Or(name, "vms"), why+"; --stack names it"), nil
}

func (p *proposer) open(s *stack) *stack {
	s.base, s.level = map[*member][]hardware.Own{}, map[string]int{}
	p.stacks = append(p.stacks, s)
	return s
}

// create gives a new spec a name and a file that nothing else has.
func (p *proposer) create(name string, s *stack) *stack {
	taken := func(name, file string) bool {
		return p.Lock.Stacks.Get(name) != nil || slices.ContainsFunc(p.Project.Stacks, func(o *schema.Stack) bool { return o.Name == name }) ||
			slices.ContainsFunc(p.stacks, func(o *stack) bool { return o.name == name || o.file == file }) || p.Sources[file] != nil
	}
	s.name = name
	for n := 2; ; n++ {
		s.file = path.Join(p.Folder, s.name+".yaml")
		if path.Base(s.file) == schema.SettingsFile { // the settings of all specs
			s.file = path.Join(p.Folder, s.name+"-vms.yaml")
		}
		if !taken(s.name, s.file) {
			return s
		}
		s.name = fmt.Sprintf("%s-%d", name, n)
	}
}

// tagsOf chooses a tag for each VM, by VMID: one that was asked for, else the one that most
// VMs have. A tag that one VM has groups nothing.
func (p *proposer) tagsOf(guests []*cluster.Guest) map[int]string {
	out := map[int]string{}
	open := slices.Clone(guests)
	take := func(tag string) {
		open = slices.DeleteFunc(open, func(g *cluster.Guest) bool {
			has := hasTag(g, tag)
			if has {
				out[g.VMID] = tag
			}
			return has
		})
	}
	for _, tag := range p.Tags {
		take(strings.ToLower(tag))
	}
	for {
		var tags []string
		for _, g := range open {
			for _, t := range g.Tags {
				tags = append(tags, strings.ToLower(t))
			}
		}
		slices.SortFunc(tags, natural.Compare)
		best, n := mostOf(tags)
		if n < 2 {
			return out
		}
		take(best)
	}
}

// label is text as the name of a stack, or as a key: lower-case letters, digits and single
// hyphens in it, at most as many as a key has. It is empty if nothing is left.
func label(text string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	words := strings.FieldsFunc(out, func(r rune) bool { return r == '-' })
	out = strings.Join(words, "-")
	return strings.Trim(out[:min(longest, len(out))], "-")
}

// longest is the length of a key.
const longest = 40
