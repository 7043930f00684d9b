//go:build unix

package real

import (
	"os"
	"path/filepath"
	"testing"

	"stackgen/test/page"
)

// guideVMs are the VMs of the cluster in docs/guides/existing-cluster.md, from VMID 500 on.
var guideVMs = []handmadeVM{
	{node: "pve1", config: "name=web1\npool=web\nagent=1\ncores=2\ncpu=x86-64-v2-AES\nmemory=2048\nballoon=2048\nostype=l26\nscsihw=virtio-scsi-single\nscsi0=shared:16,discard=on\nide2=shared:cloudinit\nciuser=ops\nipconfig0=ip=192.0.2.11/24,gw=192.0.2.1\nserial0=socket\nnet0=virtio=BC:24:11:0C:00:01,bridge=vmbr0\ntags=prod\nonboot=1\nboot=order=scsi0"},
	{node: "pve2", config: "name=web2\npool=web\nagent=1\ncores=2\ncpu=x86-64-v2-AES\nmemory=2048\nballoon=2048\nostype=l26\nscsihw=virtio-scsi-single\nscsi0=shared:16,discard=on\nide2=shared:cloudinit\nciuser=ops\nipconfig0=ip=192.0.2.12/24,gw=192.0.2.1\nserial0=socket\nnet0=virtio=BC:24:11:0C:00:02,bridge=vmbr0\ntags=prod\nonboot=1\nboot=order=scsi0"},
	{node: "pve3", config: "name=web-db\npool=web\nagent=1\ncores=4\ncpu=host\nmemory=8192\nballoon=0\nostype=l26\nscsihw=virtio-scsi-single\nscsi0=local-lvm:20\nscsi1=local-lvm:100,iothread=1\nscsi2=local-lvm:100,iothread=1\nnet0=virtio=BC:24:11:0C:00:03,bridge=vmbr0\ntags=prod\nonboot=1\nboot=order=scsi0"},
	{node: "pve1", run: true, config: "name=nas\ncores=2\ncpu=x86-64-v2-AES\nmemory=4096\nnuma=0\nsockets=1\nostype=l26\nscsihw=virtio-scsi-single\nscsi0=local-lvm:32,iothread=1\nide2=shared:iso/debian-12-netinst.iso,media=cdrom\nnet0=virtio=BC:24:11:0C:00:04,bridge=vmbr0,firewall=1\nboot=order=scsi0;ide2;net0"},
	{node: "pve2", config: "name=accounting\nbios=ovmf\nmachine=pc-q35-9.0\ncores=4\ncpu=host\nmemory=8192\nballoon=4096\nostype=win11\nscsihw=virtio-scsi-single\nefidisk0=local-lvm:1,efitype=4m,pre-enrolled-keys=1\ntpmstate0=local-lvm:1,version=v2.0\nscsi0=local-lvm:64,cache=writeback,discard=on\nnet0=virtio=BC:24:11:0C:00:05,bridge=vmbr0,tag=30\nboot=order=scsi0"},
	{node: "pve1", config: "name=forgotten\nscsi0=local-lvm:8\nnet0=virtio=BC:24:11:0C:00:06,bridge=vmbr0"},
	{node: "pve1", config: "name=firewall\ncores=1\ncpu=host\nmemory=1024\nballoon=0\nostype=other\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:4\nnet0=virtio=BC:24:11:0C:00:07,bridge=vmbr0\nnet2=virtio=BC:24:11:0C:00:08,bridge=vmbr0\nboot=order=scsi0"},
}

// pvesh sends a request of pvesh to the simulated cluster.
const pvesh = `#!/bin/sh
[ "$1" = set ] || { echo "pvesh $1 is not simulated" >&2; exit 2; }
path=$2; shift 2
args=""
while [ $# -gt 0 ]; do args="$args --data-urlencode ${1#--}=$2"; shift 2; done
exec curl -fsSk -o /dev/null -X PUT -H "Authorization: PVEAPIToken=$PROXMOX_VE_API_TOKEN" $args "${PROXMOX_VE_ENDPOINT%/}/api2/json$path"
`

// TestExistingCluster runs docs/guides/existing-cluster.md in an empty folder, on a cluster
// with VMs that were made by hand.
func TestExistingCluster(t *testing.T) {
	blocks, err := page.Read(filepath.Join(repository, "docs", "guides", "existing-cluster.md"))
	check(t, err)
	p := newProject(t, nil)
	sim := p.simulateApart()
	p.remove("stackgen.yaml")
	for _, vmid := range []int{123, 124, 125} {
		sim.Remove(vmid)
	}
	callAPI(t, sim, "POST", "/pools", map[string][]string{"poolid": {"web"}})
	createHandmade(t, sim, guideVMs)
	before := digests(t, sim)
	p.write("bin/pvesh", pvesh)
	bin := filepath.Join(p.dir, "bin")
	check(t, os.Chmod(filepath.Join(bin, "pvesh"), 0o755))
	env := p.tools.With("PATH=" + bin + string(filepath.ListSeparator) + p.pathOf()).Env
	wrong, err := page.Run(t.Context(), p.dir, env, blocks, "TestExistingCluster")
	check(t, err)
	for _, w := range wrong {
		t.Errorf("docs/guides/existing-cluster.md: %s", w)
	}
	for vmid, digest := range digests(t, sim) { // the page makes two explicit, and changes one
		if changed := vmid == 500 || vmid == 503 || vmid == 505; changed == (digest == before[vmid]) {
			t.Errorf("VM %d: the page changes its configuration: %t", vmid, !changed)
		}
	}
}
