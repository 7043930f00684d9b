package deploy

import (
	"context"
	"slices"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/health"
	"stackgen/internal/lock"
	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/report"
)

// unhealthy are the VMs of a stack, by their keys, that do not become healthy in the time of a rule. A
// session says where the guests are; without one, the lock does.
func (r *run) unhealthy(s *check.Session, st *stack, keys []string, rule health.Rule) ([]health.Unhealthy, error) {
	vms := r.toCheck(s, st.name, keys)
	if len(vms) == 0 {
		return nil, nil
	}
	config, err := check.ClusterConfig(r.p)
	if err != nil {
		return nil, err
	}
	api, err := proxmox.OpenPower(r.ctx, config)
	if err != nil {
		return nil, err
	}
	defer api.Close()
	look := func(ctx context.Context, vm *health.VM) (health.Reading, error) { return readHealth(ctx, api, vm) }
	c := health.Checker{Rule: rule, Clock: health.System(), Dial: health.Dial, Read: look}
	unhealthy, err := c.Wait(r.ctx, vms)
	if err != nil {
		return nil, errInterrupted
	}
	return unhealthy, nil
}

// awaitHealthy is the same for VMs that this run has made. The lock then says which are not healthy.
func (r *run) awaitHealthy(st *stack, keys []string, rule health.Rule) ([]health.Unhealthy, error) {
	unhealthy, err := r.unhealthy(nil, st, keys, rule)
	if err != nil {
		return nil, err
	}
	keys = of(st.name, unhealthyNames(read(unhealthy)))
	return unhealthy, r.p.Healthy(r.background(), st.name, nil, keys, func(text string) { r.say("%s", text) })
}

// markHealthy removes from the lock that VMs are not healthy which an earlier run has rebuilt, and
// which are not rebuilt again.
func (r *run) markHealthy(all []*rebuilding) error {
	for _, b := range all {
		if err := r.p.Healthy(r.background(), b.stack.name, b.Done, nil, func(text string) { r.say("%s", text) }); err != nil {
			return err
		}
	}
	return nil
}

// read are those that are certainly not healthy.
func read(unhealthy []health.Unhealthy) []health.Unhealthy {
	return slices.DeleteFunc(slices.Clone(unhealthy), func(v health.Unhealthy) bool { return v.Unread })
}

// unhealthyNames are VMs that are not healthy, each as STACK/KEY.
func unhealthyNames(unhealthy []health.Unhealthy) []string {
	var out []string
	for _, v := range unhealthy {
		out = append(out, v.Name)
	}
	return out
}

// readHealth reads what the cluster says of a VM now.
func readHealth(ctx context.Context, api *proxmox.Power, vm *health.VM) (out health.Reading, err error) {
	now, err := api.Now(ctx, vm.Guest)
	if out.Running = now.State == power.Running; err != nil || !out.Running || !vm.Agent {
		return out, err
	}
	out.Agent, out.Addresses, err = api.Agent(ctx, vm.Guest)
	return out, err
}

// toCheck are VMs of a stack, by their keys, as a check of their health needs them. One that is not
// started when it is made is not checked.
func (r *run) toCheck(s *check.Session, stack string, keys []string) (out []health.VM) {
	l := r.p.Lock.Stacks.Get(stack)
	for _, spec := range r.p.SelectedStacks() {
		if spec.Name != stack || l == nil {
			continue
		}
		for _, v := range spec.VMs {
			e := l.VMs.Get(v.Key)
			if e == nil || !slices.Contains(keys, v.Key) || !v.Values.Get(guest.Started).Bool() {
				continue
			}
			vm := health.VM{Name: stack + "/" + v.Key, Agent: v.AgentOn, Recorded: e.Addresses, Guest: placeOf(s, e)}
			if v.Address.IsValid() {
				vm.Address = v.Address.Addr().String()
			}
			out = append(out, vm)
		}
	}
	return out
}

// placeOf is the guest of a VM as it was read, or where a creation makes it.
func placeOf(s *check.Session, e *lock.VM) *cluster.Guest {
	if s != nil && s.Inventory != nil {
		if g := s.Inventory.Guest(e.VMID); g != nil {
			return g
		}
	}
	return &cluster.Guest{Kind: guest.VM, VMID: e.VMID, Node: e.Node, Config: &cluster.Config{MACs: e.DecidedMACs()}}
}

// sayUnhealthy names VMs that are not healthy, and why.
func (r *run) sayUnhealthy(unhealthy []health.Unhealthy) error {
	for _, v := range unhealthy {
		if err := report.Printf(r.Out, "not healthy: %s\n", v); err != nil {
			return err
		}
	}
	return nil
}
