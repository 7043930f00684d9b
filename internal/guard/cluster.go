package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// otherCluster is a stack that the lock records in another cluster. In that one, a
// VMID means another guest, and a VM that is missing is not lost.
func (j *judge) otherCluster(at *place) bool {
	recorded := at.lock.Cluster
	same := j.Inventory.Compare(recorded)
	if same == cluster.SameCluster || slices.Contains(j.NewClusters, at.Name) {
		return false
	}
	f := j.add(at, "", finding.Stack, "")
	f.Is(finding.OtherCluster, finding.Why("other-cluster"))
	f.Because("%s is %s", j.Inventory.Endpoint, describeInventory(j.Inventory))
	f.Because("the lock records %s for stack %s", cluster.DescribeCluster(recorded), at.Name)
	switch same {
	case cluster.UnclearCluster:
		f.Kind = finding.Unknown
		f.Reason = finding.Why("cluster-unclear")
		j.readAddresses(f)
		return true
	case cluster.CopiedCluster:
		f.Because(
			"both have the certificate authority %s, and no node has a recorded address: it is a restored copy, or all nodes have new addresses",
			recorded.CA)
	case cluster.OtherCluster:
		if recorded.CA != "" && j.Inventory.CA != "" {
			f.Because("its certificate authority is %s, and the recorded one is %s", j.Inventory.CA, recorded.CA)
		}
	}
	j.useRecorded(f, at)
	f.Next("or, if the stack is in this cluster now, or all nodes have new addresses, record this cluster",
		"stackgen resolve --new-cluster "+shell.Word(at.Name))
	return true
}

// lockLost is a stack whose decisions were lost: those that were made now are others, so
// they say nothing about its state.
func (j *judge) lockLost(at *place) bool {
	if !slices.Contains(j.LostLocks, at.Name) {
		return false
	}
	f := j.add(at, "", finding.Stack, "")
	f.Is(finding.Unrendered, finding.Why("lock-lost", lock.File))
	vms := j.State.Guests(at.Name)
	f.Because("guests in its state: %d", len(vms))
	f.Next("restore the lock", lock.Restore)
	render := []string{"stackgen render"}
	if projectOf(j.State, at.Name) != "" { // the new lock has another id
		render = append(render, newState(at.Name))
	}
	if lines := identities(at, vms); len(lines) > 0 {
		f.Next("or, if it was never committed, write into "+at.Spec+" what the state has, then render", append(lines, render...)...)
	} else {
		f.Next("or, if it was never committed, render: it says what the specs must have", render...)
	}
	return true
}

// elsewhere is a stack whose units work with another state, cluster or DNS server than the spec
// says, where what was read does not hold: a VMID is another guest there.
func (j *judge) elsewhere(at *place) bool {
	if !slices.Contains(j.Elsewhere, at.Name) {
		return false
	}
	f := j.add(at, "", finding.Stack, "")
	f.Is(finding.Unrendered, finding.Why("elsewhere"))
	f.Next("render first", "stackgen render")
	return true
}

// identities are the lines for the spec that say which VMs a state has, as far as the
// spec does not: a render decides the same then. There are none if the spec cannot say
// that of all of them: members of a group have no entries of their own.
func identities(at *place, vms []tf.Resource) []string {
	var out []string
	for _, r := range vms {
		i := slices.IndexFunc(at.VMs, func(v *schema.VM) bool { return v.Key == r.Key })
		if i < 0 || at.VMs[i].Path != at.VMs[i].Kind.List()+"."+r.Key || at.VMs[i].Node == "" {
			return nil
		}
		v := at.VMs[i]
		if v.Adopt {
			continue
		}
		if v.VMID == 0 {
			out = append(out, specLine(v, fmt.Sprintf("vmid: %d", r.VMID)))
		}
		for n := range min(len(v.MACs), len(r.MACs)) {
			if v.MACs[n] == "" {
				out = append(out, macLine(v, n, r.MACs[n]))
			}
		}
	}
	return out
}

// NotJudged reports whether findings of Judge say that nothing of a stack could be
// judged.
func NotJudged(found []finding.Finding, stack string) bool {
	return slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Stack == stack && f.Type == finding.Stack && f.Stops() })
}

// describeInventory names the cluster that was read.
func describeInventory(inv *cluster.Inventory) string {
	if now := inv.Identity(); now != nil {
		return cluster.DescribeCluster(now)
	}
	return "a cluster without visible nodes"
}

// readAddresses are the steps that make the addresses of the nodes readable.
func (j *judge) readAddresses(f *finding.Finding) {
	for _, g := range j.Inventory.Gaps {
		if g.Privilege == cluster.SysAudit && g.Fix != "" {
			f.Because("%s: %s", g.Path, g.Reason)
			f.Next(grant, g.Fix)
		}
	}
	if len(f.Steps) == 0 {
		f.Next("an older stackgen wrote this snapshot: write a new one", "stackgen snapshot --out cluster.json")
	}
}

// useRecorded is the step back to the recorded cluster, by the address of a node.
func (j *judge) useRecorded(f *finding.Finding, at *place) {
	i := slices.IndexFunc(at.lock.Cluster.Nodes, func(n lock.ClusterNode) bool { return n.Address != "" })
	if i < 0 {
		f.Next("use the endpoint of the recorded cluster")
		return
	}
	host := at.lock.Cluster.Nodes[i].Address
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	endpoint := "https://" + host + ":8006/"
	if at.Proxmox.Endpoint != "" {
		f.Next("use an endpoint of the recorded cluster in "+at.Spec+", then render",
			fmt.Sprintf("endpoint: %q  # proxmox", endpoint), "stackgen render")
		return
	}
	f.Next("use an endpoint of the recorded cluster", "export PROXMOX_VE_ENDPOINT="+shell.Word(endpoint))
}

// ClusterNotes say what is new in the cluster of some stacks since it was recorded.
func ClusterNotes(in Input) []string {
	var out []string
	for _, s := range in.Project.Stacks {
		l := in.Lock.Stacks.Get(s.Name)
		if l == nil || !in.Selected(s.Name) || in.Inventory == nil || in.Inventory.Compare(l.Cluster) != cluster.SameCluster {
			continue
		}
		if news := in.Inventory.Differences(l.Cluster); len(news) > 0 {
			out = append(out, "the cluster has changed since it was recorded: "+strings.Join(news, "; ")+". `stackgen resolve` records it")
		}
	}
	return unique(out)
}
