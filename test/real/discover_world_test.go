//go:build unix

package real

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// A handmadeKind is VMs that people make alike: their number, and what differs between
// them. In the configuration, N is the number of the VM of its kind, and MAC a new address.
type handmadeKind struct {
	names  string // in a name, N counts
	count  int
	nodes  []string
	run    bool
	config string
}

// handmadeKinds are VMs as they are on clusters that grew by hand.
var handmadeKinds = []handmadeKind{
	{"debN", 6, []string{"pve1", "pve2"}, true, "pool=office\ncores=2\ncpu=x86-64-v2-AES\nmemory=2048\nnuma=0\nsockets=1\nostype=l26\nscsihw=virtio-scsi-single\nscsi0=local-lvm:32,iothread=1\nide2=shared:iso/debian-12-netinst.iso,media=cdrom\nnet0=virtio=MAC,bridge=vmbr0,firewall=1\nboot=order=scsi0;ide2;net0"},
	{"win11-N", 4, []string{"pve2"}, false, "pool=office\nagent=1\nbios=ovmf\nmachine=pc-q35-9.0\ncores=4\ncpu=host\nmemory=8192\nballoon=4096\nostype=win11\nscsihw=virtio-scsi-single\nefidisk0=local-lvm:1,efitype=4m,pre-enrolled-keys=1\ntpmstate0=local-lvm:1,version=v2.0\nscsi0=local-lvm:64,cache=writeback,discard=on,iothread=1,ssd=1\nide0=shared:iso/debian-12-netinst.iso,media=cdrom\nnet0=virtio=MAC,bridge=vmbr0,tag=30\ntags=windows\nlocaltime=1\nboot=order=scsi0;net0"},
	{"webN", 6, []string{"pve1", "pve2", "pve3"}, false, "pool=web\nagent=1\ncores=2\ncpu=x86-64-v2-AES\nmemory=2048\nballoon=2048\nostype=l26\nscsihw=virtio-scsi-single\nscsi0=shared:16,discard=on\nide2=shared:cloudinit\nciuser=ops\nipconfig0=ip=192.0.2.1N/24,gw=192.0.2.1\nnameserver=192.0.2.53\nserial0=socket\nvga=serial0\nnet0=virtio=MAC,bridge=vmbr0\ntags=web;prod\nonboot=1\nboot=order=scsi0"},
	{"ciN", 4, []string{"pve3"}, false, "pool=web\ncores=4\ncpu=host\nmemory=4096\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:20\nide2=local-lvm:cloudinit\nipconfig0=ip=dhcp\nserial0=socket\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"routerN", 2, []string{"pve1", "pve2"}, false, "cores=2\ncpu=host,flags=+aes;-pcid\nmemory=1024\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:4\nnet0=virtio=MAC,bridge=vmbr0\nnet1=virtio=MAC,bridge=vmbr0,trunks=10;20;30\nnet2=virtio=MAC,bridge=vmbr0,tag=40\nnet3=e1000=MAC,bridge=vmbr0,link_down=1\nnet4=virtio=MAC,bridge=vmbr0,queues=2,rate=12.5\nonboot=1\nstartup=order=1,up=30\nboot=order=scsi0"},
	{"gpuN", 2, []string{"pve3"}, false, "bios=ovmf\nmachine=q35\ncores=8\ncpu=host,hidden=1\nmemory=16384\nballoon=0\nostype=l26\nscsihw=virtio-scsi-single\nefidisk0=local-lvm:1,efitype=4m\nscsi0=local-lvm:40\nhostpci0=0000:01:00.N,pcie=1,x-vga=1\nvga=none\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"haosN", 2, []string{"pve1"}, false, "agent=1\nbios=ovmf\nmachine=q35\ncores=2\ncpu=host\nmemory=4096\nballoon=4096\nostype=l26\nscsihw=virtio-scsi-pci\nefidisk0=local-lvm:1,efitype=4m\nscsi0=local-lvm:32\nusb0=host=10c4:ea60\nnet0=virtio=MAC,bridge=vmbr0\ntablet=0\nonboot=1\nboot=order=scsi0"},
	{"dbN", 2, []string{"pve3"}, false, "pool=web\nagent=1\ncores=8\nnuma=1\ncpu=host\nmemory=16384\nballoon=0\nostype=l26\nscsihw=virtio-scsi-single\nscsi0=local-lvm:20\nscsi1=local-lvm:50,iothread=1\nscsi2=local-lvm:50,iothread=1\nscsi3=local-lvm:50,iothread=1\nscsi4=shared:80,backup=0,format=raw\nvirtio0=local-lvm:10,aio=threads\nvirtio1=local-lvm:10\nsata0=local-lvm:8\nnet0=virtio=MAC,bridge=vmbr0\ntags=db;prod\nprotection=1\nboot=order=scsi0"},
	{"testN", 3, []string{"pve2"}, false, "cores=1\ncpu=x86-64-v2-AES\nmemory=1024\nballoon=1024\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=shared:8,format=qcow2\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"appN", 3, []string{"pve1"}, true, "pool=web\ncores=2\ncpu=x86-64-v2-AES\nmemory=2048\nballoon=2048\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:16\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"backedupN", 1, []string{"pve2"}, false, "cores=2\ncpu=x86-64-v2-AES\nmemory=2048\nballoon=2048\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:16\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"twin", 2, []string{"pve1", "pve3"}, false, "cores=1\ncpu=kvm64\nmemory=1024\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:8\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"DC0N.Example.ORG", 2, []string{"pve2"}, false, "pool=office\nagent=1\ncores=2\ncpu=host\nmemory=4096\nballoon=4096\nostype=win10\nscsihw=virtio-scsi-single\nscsi0=local-lvm:60\nnet0=e1000=MAC,bridge=vmbr0\ntags=windows\nboot=order=scsi0"},
	{"tagged-N", 2, []string{"pve1"}, false, "cores=1\ncpu=x86-64-v2-AES\nmemory=512\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:4\nnet0=virtio=MAC,bridge=vmbr0\ntags=Prod;Team_A\nboot=order=scsi0"},
	{"nichole", 1, []string{"pve1"}, false, "cores=1\ncpu=x86-64-v2-AES\nmemory=512\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:4\nnet0=virtio=MAC,bridge=vmbr0\nnet2=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"smalldisk", 1, []string{"pve1"}, false, "cores=1\ncpu=x86-64-v2-AES\nmemory=512\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:0.5\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"leastN", 4, []string{"pve1", "pve2"}, false, "scsi0=local-lvm:8\nnet0=virtio=MAC,bridge=vmbr0"},
	{"serialhole", 1, []string{"pve1"}, false, "cores=1\ncpu=x86-64-v2-AES\nmemory=512\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:4\nserial1=socket\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"dogN", 2, []string{"pve3"}, false, "cores=1\ncpu=x86-64-v2-AES\nmemory=1024\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:4\nwatchdog=model=i6300esb,action=reset\nrng0=source=/dev/urandom\nnet0=virtio=MAC,bridge=vmbr0\nboot=order=scsi0"},
	{"oldN", 2, []string{"pve3"}, false, "cores=2\nsockets=2\ncpu=kvm64\nmemory=2048\nballoon=0\nostype=other\nscsihw=lsi\nide0=local-lvm:40\nnet0=rtl8139=MAC,bridge=vmbr0\ndescription=do not touch: \"#1\"\nboot=order=ide0;net0"},
}

// handmadeCluster adds sixty VMs to a simulated cluster: those of the kinds above, linked
// clones, and the three of its seed. Beside them are containers and templates. It returns
// the VMIDs of the kinds and clones.
func handmadeCluster(t *testing.T, sim *pvesim.Server) []int {
	t.Helper()
	for _, pool := range []string{"office", "web"} {
		callAPI(t, sim, "POST", "/pools", url.Values{"poolid": {pool}})
	}
	var vms []handmadeVM
	mac := 0
	for _, k := range handmadeKinds {
		for n := range k.count {
			config := "name=" + strings.ReplaceAll(k.names, "N", fmt.Sprint(n+1)) + "\n"
			for line := range strings.SplitSeq(k.config, "\n") {
				key, value, _ := strings.Cut(line, "=")
				if strings.Contains(value, "MAC") {
					mac++
					value = strings.Replace(value, "MAC", fmt.Sprintf("BC:24:11:60:%02X:%02X", mac/256, mac%256), 1)
				} else if key == "hostpci0" || key == "ipconfig0" {
					value = strings.Replace(value, "N", fmt.Sprint(n), 1)
				}
				config += key + "=" + value + "\n"
			}
			vms = append(vms, handmadeVM{key: fmt.Sprint(len(vms)), node: k.nodes[n%len(k.nodes)], run: k.run, config: strings.TrimSuffix(config, "\n")})
		}
	}
	createHandmade(t, sim, vms)
	out := []int{}
	for i := range vms {
		out = append(out, 500+i)
	}
	for i := range 5 { // linked clones, two of them in a pool of their own
		vmid := 500 + len(vms) + i
		form := url.Values{"newid": {fmt.Sprint(vmid)}, "name": {fmt.Sprintf("clone%d", i+1)}, "full": {"0"}}
		if i < 2 {
			form.Set("pool", "web")
		}
		callAPI(t, sim, "POST", "/nodes/pve1/qemu/9000/clone", form)
		out = append(out, vmid)
	}
	for i := range 3 {
		callAPI(t, sim, "POST", "/nodes/pve1/lxc", url.Values{"vmid": {fmt.Sprint(700 + i)}, "hostname": {fmt.Sprintf("ct%d", i)}, "ostemplate": {"shared:vztmpl/debian-12-standard_amd64.tar.zst"}, "rootfs": {"local-lvm:4"}})
	}
	happen(t, sim)
	return out
}

// happen does what happens to VMs over the years: snapshots, changes that wait for a
// restart, and a backup that was killed.
func happen(t *testing.T, sim *pvesim.Server) {
	t.Helper()
	for _, g := range slices.Clone(guestsOf(sim)) {
		path := fmt.Sprintf("/nodes/%s/qemu/%d/", g.Node, g.VMID)
		switch name := g.Config["name"]; {
		case strings.HasPrefix(name, "test"):
			callAPI(t, sim, "POST", path+"snapshot", url.Values{"snapname": {"before"}})
			callAPI(t, sim, "POST", path+"snapshot", url.Values{"snapname": {"after"}})
		case strings.HasPrefix(name, "app"):
			callAPI(t, sim, "PUT", path+"config", url.Values{"memory": {"3072"}, "balloon": {"3072"}, "cores": {"4"}})
		case strings.HasPrefix(name, "backedup"):
			sim.Change(func(s *pvesim.Seed) {
				for _, own := range s.Guests {
					if own.VMID == g.VMID {
						own.Config["lock"] = "backup"
					}
				}
			})
		}
	}
}
