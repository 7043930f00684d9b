package guard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// A VM that keeps disks is not replaced: a destroy would take these disks with it. It gets the disks of another
// VM, which is cloned from the template for this, and that VM is destroyed. The disks that stay are never touched.

// halfExchanged is the reason of a VM whose exchange of disks has not ended.
const halfExchanged finding.Code = "rebuild-halfway"

// An Exchange says which disks a VM gets that keeps others.
type Exchange struct {
	Disks   []string // their interfaces
	Volumes []string // that it loses
	Keeps   []string // the interfaces of those that stay
	Storage string   // of a full clone; empty for a linked one
	Holder  int      // the VM of a run that did not end; 0 without one
	Half    bool     // such a run has exchanged some of them
}

// Same reports whether two exchanges are about the same disks.
func (x *Exchange) Same(y *Exchange) bool {
	if x == nil || y == nil {
		return x == y
	}
	return slices.Equal(x.Disks, y.Disks) && slices.Equal(x.Keeps, y.Keeps) && x.Storage == y.Storage
}

// exchange is what a VM that keeps disks gets, or nil for one that keeps none. Otherwise the finding says why
// that cannot be done.
func (r *rebuilder) exchange(g *cluster.Guest) (*Exchange, bool) {
	x := &Exchange{Keeps: r.vm.KeptDisks(), Half: r.Inventory.HalfExchanged(r.entry, g)}
	switch {
	case len(x.Keeps) == 0 && r.entry.Exchanges(g.Config.UUID):
		r.refuse("rebuild-keep-removed").Next("write into "+r.spec+" for the disk that it kept, and end that first", "keep: true")
		return nil, false
	case len(x.Keeps) == 0:
		return nil, true
	}
	template := r.Inventory.Guest(r.entry.Template.VMID)
	if !r.mayClone(g, template) || !r.disks(x, g.SystemDisks(), template.SystemDisks()) {
		return nil, false
	}
	if r.entry.Exchanges(g.Config.UUID) {
		x.Holder = r.entry.Rebuild.Holder
		for _, before := range r.entry.Rebuild.Volumes { // what it has by now is lost, too
			if !slices.Contains(x.Volumes, before) {
				x.Volumes = append(x.Volumes, before)
			}
		}
	}
	return x, true
}

// startsAgain reports whether nothing is known to keep a VM that is to run from its start with other disks: it keeps the rest of
// its hardware. One that is off already, because an exchange was begun, gets them all the same. Otherwise the finding says what.
func (r *rebuilder) startsAgain(g *cluster.Guest, x *Exchange) bool {
	if x.Half || g.Status == "stopped" && !r.vm.Values.Get(guest.Started).Bool() {
		return true
	}
	obstacles := feasible.Restart(r.Inventory, r.vm, r.entry, g, &schema.Profile{IgnoreAll: true})
	if len(obstacles) == 0 {
		return true
	}
	addObstacles(r.f, obstacles, r.spec, func(text string) string { return specLine(r.vm, text) })
	r.f.Reason = finding.Why("rebuild-start-fails").Of(r.f.Reason)
	return false
}

// mayClone reports whether a template can be cloned to the node of a VM, and its disks be given to that. Otherwise the
// finding says why not.
func (r *rebuilder) mayClone(g, template *cluster.Guest) bool {
	switch {
	case template == nil || template.Config == nil:
		r.refuse("rebuild-template-unread", strconv.Itoa(r.entry.Template.VMID))
		return false
	case template.Node != g.Node && !r.shared(template):
		r.refuse("rebuild-template-elsewhere", template.Node)
		return false
	}
	missing := r.exchangeRights(g, template)
	if len(missing) == 0 {
		return true
	}
	f := r.refuse("rebuild-exchange-rights", missing[0].Privilege, missing[0].Path)
	for _, line := range r.Inventory.Access.Grants(missing) {
		f.Next("grant that", line)
	}
	return false
}

// disks says which disks of those that a VM has are exchanged for those that it gets. If that cannot be done, the
// finding says why.
func (r *rebuilder) disks(x *Exchange, has, gets []pve.Drive) bool {
	linked, storages := r.entry.Clone == "linked", map[string]bool{}
	for _, d := range gets {
		at := slices.IndexFunc(has, func(h pve.Drive) bool { return h.Key == d.Key })
		switch {
		case slices.Contains(x.Keeps, d.Key):
			r.refuse("rebuild-keeps-template-disk", d.Key)
			return false
		case at < 0:
			r.refuse("rebuild-disk-missing", d.Key)
			return false
		case d.Options.Option("efitype") != has[at].Options.Option("efitype") || d.Options.Option("version") != has[at].Options.Option("version"):
			r.refuse("rebuild-disk-type", d.Key)
			return false
		}
		x.Disks, x.Volumes, x.Storage = append(x.Disks, d.Key), append(x.Volumes, has[at].String()), has[at].Storage
		if storages[has[at].Storage] = true; linked {
			storages[d.Storage] = true
		}
	}
	for _, d := range has {
		if pve.IsDrive(d.Key) && !slices.Contains(x.Keeps, d.Key) && !slices.Contains(x.Disks, d.Key) {
			r.refuse("rebuild-disk-not-kept", d.Key).Next("write into "+r.spec+" for that disk", "keep: true")
			return false
		}
	}
	if len(storages) != 1 {
		r.refuse("rebuild-disk-storages", strings.Join(x.Disks, ", "))
		return false
	}
	if linked {
		x.Storage = ""
	}
	return true
}

// shared reports whether all disks of a template are on storages that all nodes have.
func (r *rebuilder) shared(template *cluster.Guest) bool {
	return !slices.ContainsFunc(template.SystemDisks(), func(d pve.Drive) bool {
		s := r.Inventory.Storage(d.Storage, template.Node)
		return s == nil || !s.Shared
	})
}

// exchangeRights are what the token lacks on a VM and its template, as far as was read. What it may do with the clone
// depends on where that is.
func (r *rebuilder) exchangeRights(g, template *cluster.Guest) (missing []cluster.Missing) {
	a := r.Inventory.Access
	if a == nil || a.IsRoot() {
		return nil
	}
	need := func(vmid int, privilege string) {
		if at := fmt.Sprintf("/vms/%d", vmid); !a.Rights.Has(at, privilege) {
			missing = append(missing, cluster.Missing{Path: at, Privilege: privilege})
		}
	}
	need(template.VMID, cluster.VMClone)
	for _, privilege := range []string{schema.ConfigDisk, schema.ConfigHardware, cluster.VMSnapshot} {
		need(g.VMID, privilege)
	}
	return missing
}

// halfExchanged reports whether a rebuild has exchanged disks of the VM and has not ended.
func (s *subject) halfExchanged() bool {
	return !s.Destroy && s.Inventory.HalfExchanged(s.entry, s.guest)
}

func (s *subject) harmExchange() {
	if h := s.Inventory.Holder(s.entry); cluster.MadeFor(h, s.entry) {
		s.Because("%s was made for its new disks", Describe(h))
	}
	s.Is(finding.WouldHarm, finding.Why(halfExchanged)).Next("go on", "stackgen rebuild "+s.Stack+"/"+s.Key)
}
