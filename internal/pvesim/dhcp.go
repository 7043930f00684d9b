package pvesim

// dhcpHosts is how many addresses the DHCP server gives to VMs.
const dhcpHosts = 250

// dhcpLease is the address that a DHCP server gives to a VM. It knows its clients by the id that an
// installed system makes of its machine-id, and not by the MAC address: a VM with new disks is
// another client, and gets another address than the one before it, whose lease is not over.
// Source: systemd-networkd, whose default is `ClientIdentifier=duid`; netplan uses it for cloud images.
func (w *cluster) dhcpLease(g *Guest) string {
	if g.host == 0 {
		g.host = w.freeHost(g)
		w.hosts[g.host] = g
	}
	return "192.0.2." + itoa(g.host) + "/24"
}

// firstHost is the last number of the address that the first VM with a VMID gets.
func firstHost(vmid int) int { return 2 + vmid%dhcpHosts }

// freeHost is the last number of the address for a new client.
func (w *cluster) freeHost(g *Guest) int {
	first := firstHost(g.VMID)
	if had := w.hosts[first]; had == nil || had.VMID != g.VMID && had.host == firstHost(had.VMID) {
		return first
	}
	for i := range dhcpHosts {
		if at := firstHost(g.VMID + dhcpHosts/2 + i); w.hosts[at] == nil {
			return at
		}
	}
	return first
}
