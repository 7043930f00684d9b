package real

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// A handmadeVM is a VM that was created by hand: lines of a configuration. A size after
// a storage creates a disk.
type handmadeVM struct {
	key, node, config string
	run               bool
}

// handmadeVMs have most of what a spec can say, and what it cannot.
var handmadeVMs = []handmadeVM{
	{key: "plain", node: "pve1", config: `name=plain
memory=1024
cores=1
scsihw=virtio-scsi-pci
ostype=l26
scsi0=local-lvm:4
net0=virtio=BC:24:11:0A:00:01,bridge=vmbr0`},
	{key: "windows", node: "pve2", config: `name=windows
bios=ovmf
machine=pc-q35-9.0
cpu=host,flags=+aes;-pcid
cores=4
sockets=2
numa=1
memory=8192
balloon=2048
ostype=win11
scsihw=virtio-scsi-single
efidisk0=local-lvm:1,efitype=4m,pre-enrolled-keys=1
tpmstate0=local-lvm:1,version=v2.0
scsi0=local-lvm:32,iothread=1,ssd=1,discard=on,cache=writeback
ide2=shared:iso/debian-12-netinst.iso,media=cdrom
net0=virtio=BC:24:11:0A:00:02,bridge=vmbr0,tag=30,firewall=1,queues=4
agent=1,fstrim_cloned_disks=1
onboot=1
tags=office;windows
keyboard=de
vga=virtio,memory=64
startup=order=3,up=30
protection=1
localtime=1
smbios1=uuid=5f1d0001-0000-4000-8000-000000000001,manufacturer=QUNNRQ==,product=Qm94,base64=1
numa0=cpus=0-7,hostnodes=0,memory=8192,policy=bind
description=the office's own: "don't touch"
second line # 100 %`},
	{key: "cloudy", node: "pve1", run: true, config: `name=cloudy
memory=2048
cores=2
cpu=x86-64-v2-AES
scsihw=virtio-scsi-pci
ostype=l26
scsi0=shared:8,format=qcow2
ide2=local-lvm:cloudinit
ciuser=ops
cipassword=never-shown
sshkeys=ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIFByZXRlbmRLZXlPZk5vYm9keUF0QWxsRm9yVGVzdHMh%20ops%40example%0Assh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIFByZXRlbmRLZXlPZlNvbWVib2R5RWxzZTAwMDAwMDAw%20x
ipconfig0=ip=192.0.2.50/24,gw=192.0.2.1,ip6=auto
nameserver=192.0.2.53 192.0.2.54
searchdomain=example.test
serial0=socket
vga=serial0
agent=enabled=0
net0=virtio=BC:24:11:0A:00:03,bridge=vmbr0
net1=e1000=BC:24:11:0A:00:04,bridge=vmbr0,link_down=1,mtu=1400,rate=12.5
boot=order=scsi0;net0
onboot=1`},
	{key: "disks", node: "pve3", config: `name=disks
memory=512
balloon=0
cores=2
cpulimit=1.5
cpuunits=200
scsihw=lsi
ostype=other
ide0=local-lvm:4
sata1=local-lvm:3,backup=0
virtio2=local-lvm:5,serial=DISK-1,aio=threads
scsi3=shared:6,format=raw,mbps_rd=10,iops_wr=500,iops_wr_max=900,replicate=0
tablet=0
net0=rtl8139=BC:24:11:0A:00:05,bridge=vmbr0`},
	{key: "bare", node: "pve1", config: `name=bare
memory=512
cores=1
cpu=qemu64
scsihw=virtio-scsi-pci
ostype=l26
rng0=source=/dev/urandom
args=-device foo
acpi=0
ide3=shared:iso/debian-12-netinst.iso,media=cdrom
numa0=cpus=0
numa1=cpus=0,hostnodes=0
tags=b;a`},
	{key: "usb", node: "pve1", config: `name=usb
memory=768
scsihw=virtio-scsi-single
ostype=l24
scsi0=local-lvm:2
usb0=host=1a86:7523
virtiofs0=media,expose-acl=1
virtiofs1=dirid=home,cache=never
audio0=device=AC97,driver=spice
amd-sev=es,no-debug=1
usb1=host=1-1.4,usb3=1
serial0=/dev/ttyS0
serial1=socket
efidisk0=local-lvm:1,efitype=2m
bios=ovmf
agent=0
net0=virtio=bc:24:11:0a:00:06,bridge=vmbr0`},
	{key: "least", node: "pve1", config: `name=least
scsi0=local-lvm:1
ide2=local-lvm:cloudinit
net0=virtio=BC:24:11:0A:00:07,bridge=vmbr0`},
}

// rootTicket logs in as root: only root may pass devices of the node to a VM.
func rootTicket(t *testing.T, s *pvesim.Server) http.Header {
	t.Helper()
	body := url.Values{"username": {"root@pam"}, "password": {"stackgen"}}
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	resp := s.Do(context.Background(), pvesim.Request{Method: "POST", Path: "/api2/json/access/ticket", Header: h, Body: []byte(body.Encode())})
	var v struct {
		Data struct{ Ticket, CSRFPreventionToken string }
	}
	if err := json.Unmarshal(resp.Body, &v); err != nil || resp.Status != 200 {
		t.Fatalf("no ticket: %d %v", resp.Status, err)
	}
	return http.Header{"Cookie": {"PVEAuthCookie=" + url.QueryEscape(v.Data.Ticket)}, "Csrfpreventiontoken": {v.Data.CSRFPreventionToken}}
}

// callAPI calls the API of the simulated cluster as root, and waits for the task.
func callAPI(t *testing.T, s *pvesim.Server, method, path string, form url.Values) any {
	t.Helper()
	h := rootTicket(t, s)
	r := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h}
	if form != nil {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = []byte(form.Encode())
	}
	resp := s.Do(context.Background(), r)
	if resp.Status != 200 {
		t.Fatalf("%s %s: %d %s %s", method, path, resp.Status, resp.Reason, resp.Body)
	}
	var v struct{ Data any }
	if err := json.Unmarshal(resp.Body, &v); err != nil {
		t.Fatal(err)
	}
	if upid, ok := v.Data.(string); ok && strings.HasPrefix(upid, "UPID:") {
		waitTask(t, s, upid)
	}
	return v.Data
}

func waitTask(t *testing.T, s *pvesim.Server, upid string) {
	t.Helper()
	for range 200 {
		m := callAPI(t, s, "GET", "/nodes/"+strings.Split(upid, ":")[1]+"/tasks/"+upid+"/status", nil).(map[string]any)
		if m["status"] == "stopped" {
			if m["exitstatus"] != "OK" {
				t.Fatalf("%s: %v", upid, m["exitstatus"])
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s does not end", upid)
}

// rebootVM restarts a VM, and returns when it runs again. The server starts it in a task of
// its own, some time after the one of the reboot.
func rebootVM(t *testing.T, s *pvesim.Server, node string, vmid int) {
	t.Helper()
	path := fmt.Sprintf("/nodes/%s/qemu/%d/status/", node, vmid)
	callAPI(t, s, "POST", path+"reboot", url.Values{})
	for range 200 {
		status := callAPI(t, s, "GET", path+"current", nil).(map[string]any)["status"]
		tasks := callAPI(t, s, "GET", fmt.Sprintf("/nodes/%s/tasks?source=active&vmid=%d", node, vmid), nil).([]any)
		if status == "running" && len(tasks) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("VM %d does not run again", vmid)
}

// createHandmade creates VMs, from VMID 500 on, and returns their lines of a spec.
func createHandmade(t *testing.T, s *pvesim.Server, vms []handmadeVM) (specs string) {
	t.Helper()
	for i, g := range vms {
		form := url.Values{"vmid": {fmt.Sprint(500 + i)}}
		last := ""
		for line := range strings.Lines(g.config) {
			line = strings.TrimSuffix(line, "\n")
			if key, value, ok := strings.Cut(line, "="); ok && !strings.Contains(key, " ") {
				form.Set(key, value)
				last = key
			} else {
				form.Set(last, form.Get(last)+"\n"+line)
			}
		}
		callAPI(t, s, "POST", "/nodes/"+g.node+"/qemu", form)
		if g.run {
			callAPI(t, s, "POST", fmt.Sprintf("/nodes/%s/qemu/%d/status/start", g.node, 500+i), url.Values{})
		}
		specs += fmt.Sprintf("  %s: {node: %s, adopt: {vmid: %d}}\n", g.key, g.node, 500+i)
	}
	return specs
}
