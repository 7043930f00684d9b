package lock

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"stackgen/guest"
)

// Observed is what one read of the cluster and the states found out about a stack.
// What it lacks was not seen, which changes nothing in a lock.
type Observed struct {
	Stack   string
	Cluster *Cluster
	Units   []ObservedUnit
	VMs     []ObservedVM
}

// An ObservedUnit is what was observed of the state of a unit.
type ObservedUnit struct {
	Name     string
	Lineage  string
	Serial   int   // of the state of the VMs
	Replaces bool  // a person said that this state replaces the recorded one
	Applied  *bool // of the pool unit: whether the state has its pool
	Gone     bool  // retired, and its state has no resources
}

// An ObservedVM is what was observed of the VM that has a key and a VMID.
type ObservedVM struct {
	Key         string
	VMID        int
	Fingerprint *Fingerprint
	Confirmed   bool     // it is the right VM, whatever is recorded: a person said so, or it was created again
	MACs        []string // by NIC; nil if they should not be decided
	Addresses   []string
	Node        string    // where it is
	MadeFrom    *Template // by the state of its creation; nil if that does not say it
	MadeWith    Values    // the same of properties that act at creation only
	Detached    []string  // as in VM; nil if that is not known
	Disks       []string  // the order of its disks by the state, if the lock has another one
	Left        []Address // former addresses that the state does not have
	Gone        bool      // retired or forgotten, in no state and not in the cluster
	Image       bool      // of a template: the state has its file
}

// What an observation is about.
const (
	SawCluster     = "cluster"
	SawLineage     = "lineage"
	SawSerial      = "serial"
	SawApplied     = "applied"
	SawFingerprint = "fingerprint"
	SawMACs        = "macs"
	SawAddresses   = "addresses"
	SawFormer      = "former"
	SawDetached    = "detached"
	SawDisks       = "disks"
	SawNode        = "node"
	SawTemplate    = "template"
	SawCreation    = "creation"
	SawGone        = "gone"
	SawImage       = "image"
)

// A Recording is what an observation changed in the entry of a VM or unit, or of the
// stack if it has no Key.
type Recording struct {
	Stack string   `json:"stack"`
	Unit  bool     `json:"unit,omitempty"`
	Key   string   `json:"key,omitempty"`
	What  []string `json:"what"`

	Container bool `json:"container,omitempty"`
}

// Observe returns a lock with what was observed, and what is new in it. It does not
// change l. Another command may have written l since the cluster was read: what was observed of
// an entry that is not the same any more is dropped.
func (l *Lock) Observe(seen []Observed) (*Lock, []Recording) {
	out := l.clone()
	holders := out.macHolders()
	var all []Recording
	for _, o := range seen {
		o = o.readable()
		s := out.Stacks.Get(o.Stack)
		if s == nil {
			continue
		}
		if o.Cluster != nil && !reflect.DeepEqual(o.Cluster, s.Cluster) {
			s.Cluster = o.Cluster
			all = append(all, Recording{Stack: o.Stack, What: []string{SawCluster}})
		}
		units := s.Units.ByKey()
		for _, u := range o.Units {
			if e := units[u.Name]; e != nil {
				all = append(all, Recording{Stack: o.Stack, Unit: true, Key: u.Name, What: e.observe(u)})
			}
		}
		vms := s.VMs.ByKey()
		for _, v := range o.VMs {
			if e := vms[v.Key]; e != nil && e.VMID == v.VMID {
				v.MACs = holders.usable(v.MACs, e)
				all = append(all, Recording{Stack: o.Stack, Key: v.Key, What: e.observe(v, s.Status), Container: e.IsContainer()})
			}
		}
	}
	return out, slices.DeleteFunc(all, func(r Recording) bool { return len(r.What) == 0 })
}

// readable is an observation without what no lock can have: a guest agent, for example,
// reports any text as an address, and that must not keep the rest from being recorded.
func (o Observed) readable() Observed {
	none := func(format string) func(string) bool {
		return func(s string) bool { fits, _ := matches(format, s); return !fits || s == "" }
	}
	unreadable := func(s string) bool { return s != "" && none("line")(s) }
	if c := o.Cluster; c != nil && slices.ContainsFunc(append([]string{c.CA, c.Name}, c.addresses()...), unreadable) {
		o.Cluster = nil
	}
	o.Units, o.VMs = slices.Clone(o.Units), slices.Clone(o.VMs)
	for i := range o.Units {
		if none("line")(o.Units[i].Lineage) {
			o.Units[i].Lineage = ""
		}
	}
	for i := range o.VMs {
		v := &o.VMs[i]
		v.Addresses = slices.DeleteFunc(slices.Clone(v.Addresses), none("line"))
		v.Detached = slices.DeleteFunc(slices.Clone(v.Detached), none("detached"))
		if slices.ContainsFunc(v.MACs, func(mac string) bool { fits, _ := matches("chosen mac", mac); return !fits }) {
			v.MACs = nil
		}
		if f := v.Fingerprint; f != nil {
			v.Fingerprint = &Fingerprint{UUID: f.UUID, MACs: slices.DeleteFunc(slices.Clone(f.MACs), none("seen mac"))}
			if none("line")(f.UUID) {
				v.Fingerprint.UUID = ""
			}
			if v.Fingerprint.UUID == "" && len(v.Fingerprint.MACs) == 0 {
				v.Fingerprint = nil
			}
		}
	}
	return o
}

func (c *Cluster) addresses() []string {
	var out []string
	for _, n := range c.Nodes {
		out = append(out, n.Address)
	}
	return out
}

// observe records what was observed of the state of a unit. A lineage that is
// recorded stays, unless a person says otherwise: another one is another state.
func (u *Unit) observe(o ObservedUnit) (what []string) {
	if o.Lineage != u.Lineage && (u.Lineage == "" || o.Replaces) {
		u.Lineage, what = o.Lineage, append(what, SawLineage)
	}
	if o.Serial > 0 && o.Serial != u.Serial && o.Lineage == u.Lineage {
		if u.Serial = o.Serial; len(what) == 0 {
			what = append(what, SawSerial)
		}
	}
	if o.Applied != nil && *o.Applied != u.Applied {
		u.Applied, what = *o.Applied, append(what, SawApplied)
	}
	if o.Gone && !u.Gone && u.Status == Retired {
		u.Gone, what = true, append(what, SawGone)
	}
	return what
}

// observe records what was observed of a VM of a stack with a status.
func (v *VM) observe(o ObservedVM, stack string) (what []string) {
	if o.Gone {
		if v.Gone || v.Status == Live && stack != Forgotten {
			return nil
		}
		v.Gone, v.Fingerprint, v.Addresses, v.Former, v.FormerNodes, v.MadeFrom, v.MadeWith, v.Detached = true, nil, nil, nil, nil, nil, nil, nil
		v.Rebuild, v.Exchanged, v.ImageSeen = nil, "", false
		return []string{SawGone}
	}
	if o.Fingerprint != nil && !v.Fingerprint.same(o.Fingerprint) && (o.Confirmed || v.Fingerprint.Agrees(o.Fingerprint)) {
		v.Fingerprint, what = o.Fingerprint, append(what, SawFingerprint)
	}
	if o.MACs != nil && v.MACs == nil {
		v.MACs, what = o.MACs, append(what, SawMACs)
	}
	if len(o.Addresses) > 0 && !slices.Equal(o.Addresses, v.Addresses) {
		v.Addresses, what = o.Addresses, append(what, SawAddresses)
	}
	if o.Detached != nil && !slices.Equal(o.Detached, v.Detached) {
		v.Detached, what = o.Detached, append(what, SawDetached)
	}
	if o.Disks != nil && !slices.Equal(o.Disks, v.Disks) {
		v.Disks, what = o.Disks, append(what, SawDisks)
	}
	kept := slices.DeleteFunc(slices.Clone(v.Former), func(a Address) bool { return slices.Contains(o.Left, a) })
	if len(kept) < len(v.Former) {
		v.Former, what = kept, append(what, SawFormer)
	}
	what = append(what, v.observeCreation(o)...)
	if o.Node != "" && o.Node == v.Node && len(v.FormerNodes) > 0 { // the migration is done: what moves it now is a hand
		v.FormerNodes, what = nil, append(what, SawNode)
	}
	return what
}

// observeCreation records what a VM was made from and made with.
func (v *VM) observeCreation(o ObservedVM) (what []string) {
	if o.Image && !v.ImageSeen {
		v.ImageSeen, what = true, append(what, SawImage)
	}
	what = append(what, v.observeExchange()...)
	if v.DisksExchanged() {
		o.MadeFrom, o.MadeWith = nil, maps.Clone(o.MadeWith)
		delete(o.MadeWith, guest.Clone)
	}
	another := o.Confirmed && !v.DisksExchanged() && v.MadeWith != nil // it is of the VM before this one
	if another {
		v.MadeWith = nil
	}
	if v.madeFrom(o.MadeFrom) {
		what = append(what, SawTemplate)
	}
	if v.madeWith(o.MadeWith) || another {
		what = append(what, SawCreation)
	}
	return what
}

// madeFrom records what a VM was made from, and reports whether that is new.
func (v *VM) madeFrom(from *Template) bool {
	if from == nil || v.Template == nil {
		return false
	}
	was := cmp.Or(v.MadeFrom, v.Template).VMID
	if from.VMID == was {
		return false
	}
	if v.MadeFrom = from; from.VMID == v.Template.VMID {
		v.MadeFrom = nil
	}
	return true
}

// madeWith records what a VM was made with, and reports whether that is new. seen are values
// that differ from those that a creation would use now, or are the same.
func (v *VM) madeWith(seen Values) bool {
	if v.Clone == "" { // adopted: nothing is created
		return false
	}
	out := maps.Clone(v.MadeWith)
	if out == nil {
		out = Values{}
	}
	for property, made := range seen {
		if out[property] = made; property == guest.Clone && made == v.Clone {
			delete(out, property)
		}
	}
	if maps.Equal(out, v.MadeWith) {
		return false
	}
	v.MadeWith = out
	return true
}

// A macHolders is the VMs that have each MAC address in a lock.
type macHolders map[string][]*VM

func (l *Lock) macHolders() macHolders {
	out := macHolders{}
	for i := range l.Stacks {
		vms := l.Stacks[i].Value.VMs
		for k := range vms {
			for _, mac := range vms[k].Value.RecordedMACs() {
				out[mac] = append(out[mac], &vms[k].Value)
			}
		}
	}
	return out
}

// usable are the addresses of a VM, or nil if another VM has one of them: a render would
// refuse them.
func (h macHolders) usable(macs []string, v *VM) []string {
	for _, mac := range macs {
		if slices.ContainsFunc(h[mac], func(other *VM) bool { return other != v }) {
			return nil
		}
	}
	return macs
}

// same reports whether two fingerprints say the same.
func (f *Fingerprint) same(o *Fingerprint) bool {
	return f != nil && f.UUID == o.UUID && slices.Equal(f.MACs, o.MACs)
}

// Agrees reports whether two fingerprints may be of one VM: they have the UUID or a
// MAC address in common. A fingerprint that is missing or empty agrees with all.
func (f *Fingerprint) Agrees(o *Fingerprint) bool {
	if f == nil || o == nil || cmp.Or(f.UUID, strings.Join(f.MACs, "")) == "" {
		return true
	}
	uuid := f.UUID != "" && strings.EqualFold(f.UUID, o.UUID)
	return uuid || slices.ContainsFunc(f.MACs, func(mac string) bool {
		return slices.ContainsFunc(o.MACs, func(m string) bool { return strings.EqualFold(m, mac) })
	})
}
