package adopt

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/discover"
	"stackgen/internal/edit"
	"stackgen/internal/hardware"
	"stackgen/internal/project"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// identify writes the MAC addresses of the containers that are adopted into their networks: a container has no
// UUID, and is known by them.
func (p *planner) identify() error {
	var errs []error
	var bare []VM // that had no networks in their own entries
	for _, vm := range slices.SortedFunc(maps.Keys(p.vmids), compareVMs) {
		if p.kinds[vm] != guest.Container {
			continue
		}
		at := fmt.Sprintf("%s=%d: ", vm, p.vmids[vm])
		g := p.inventory.Guest(p.vmids[vm])
		if err := p.obstacle(vm, g); err != nil {
			errs = append(errs, fmt.Errorf("%scontainer %d on %s: %w", at, g.VMID, g.Node, err))
			continue
		}
		src := source(p.project, p.edited, p.files[vm])
		own := ownNetworks(src, p.entry(vm))
		line, err := hardware.IdentifiedNetworks(own, g.Config.MACs)
		if err == nil {
			err = sameDevices(own, g)
		}
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s%w", at, err))
			continue
		case own == nil:
			bare = append(bare, vm)
		}
		if line == "" {
			continue
		}
		body, err := edit.Set(src, p.entry(vm), []edit.Setting{{Key: guest.Networks, Line: line}})
		errs = append(errs, p.keep(p.files[vm], body, err))
	}
	return errors.Join(append(errs, p.keepsNetworks(bare))...)
}

// obstacle is why a container cannot be in a spec: discover leaves it out, too.
func (p *planner) obstacle(vm VM, g *cluster.Guest) error {
	if g.Config == nil || len(g.Config.Raw) == 0 {
		return errors.New("its configuration was not read, and a spec knows a container by its MAC addresses; `stackgen preflight` says more")
	}
	in := discover.Input{Inventory: p.inventory, Lock: p.project.Lock, Project: p.stacks}
	if _, why := in.Obstacle(g, vm.String()); why.Why != "" {
		return errors.New(why.Why)
	}
	return nil
}

// keepsNetworks refuses containers with a profile that changes them, and networks that only the MAC addresses are
// said of: a plan would make the rest as it is in a new container.
func (p *planner) keepsNetworks(bare []VM) error {
	if len(bare) == 0 {
		return nil
	}
	after, err := project.LoadEdited(p.Paths, "", p.complete(p.edited))
	if err != nil || after.Stacks == nil {
		return err // check says what is wrong with the specs
	}
	var errs []error
	for _, s := range after.Stacks.Stacks {
		for _, v := range s.VMs {
			if vm := (VM{s.Name, v.Key}); slices.Contains(bare, vm) && v.Profile != schema.AdoptedProfile {
				errs = append(errs, fmt.Errorf("%s=%d: its profile is %s, and its entry does not say its networks, so a plan would change them: "+
					"remove `profile`, or the one that it inherits", vm, p.vmids[vm], v.Profile))
			}
		}
	}
	return errors.Join(errs...)
}

// sameDevices refuses networks of an entry that are those of the container in another order, or others: each would
// get the MAC address of another one.
func sameDevices(own *schema.Node, g *cluster.Guest) error {
	fields := schema.FieldOf(guest.Container, guest.Networks).Elem.Fields
	for i, n := range own.List() {
		device := fmt.Sprintf("net%d", i)
		has := pve.Parse(g.Config.Raw[device])
		for _, f := range fields {
			is, was := n.Get(f.Key).Str(), has.Option(f.PVE)
			if (f.Key == guest.Interface || f.Key == guest.Bridge) && is != "" && is != was {
				return fmt.Errorf("its entry has %s %s in networks[%d], and %s of the container has %s: "+
					"write them in the order of the container, or remove `networks`", f.Key, is, i, device, was)
			}
		}
	}
	return nil
}

// ownNetworks are the networks in the entry of a container, or nil. Its spec may have errors.
func ownNetworks(src []byte, at []string) *schema.Node {
	n, _ := schema.ParseYAML("", src)
	for _, key := range append(slices.Clone(at), guest.Networks) {
		n = n.Get(key)
	}
	return n
}
