package operate

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestBackup makes a backup of VMs that run and that are stopped. One of a storage without that content, of a
// token without the privilege, and of a locked VM is not made, and says why.
func TestBackup(t *testing.T) {
	w := newWorld(t, 3, nil)
	w.does(context.Background(), w.view(), "start")
	backs := func(v *View, storage string) []string {
		t.Helper()
		left, err := v.Backup(context.Background(), storage, 1e9, func(One) {})
		expect(t, err)
		return said(left)
	}
	w.want(backs(w.view(), "local"))
	if why, _ := w.view().NoBackup("local"); why != "" || w.running() != "301 302 303" {
		t.Error(why, w.running())
	}
	lost, err := w.view().Loses(context.Background())
	expect(t, err)
	for vm, text := range lost {
		if !strings.Contains(text, "last backup ") {
			t.Errorf("%s: %s", vm, text)
		}
	}

	const wrong = "the storage local-lvm takes no backups: its content is images,rootdir"
	if why, _ := w.view().NoBackup("local-lvm"); why != wrong {
		t.Error(why)
	}
	if why, _ := w.view().NoBackup("nowhere"); why != "pve1 has no storage nowhere" {
		t.Error(why)
	}
	w.guest(302, func(g *pvesim.Guest) { g.Config["scsi0"] = "local-lvm:vm-302-disk-0,backup=0,size=8G" })
	if why, _ := w.view().NoBackup("local"); why != "no backup of lab/vm2 has scsi0: `backup` of that disk is off. Turn it on, or leave --backup out" {
		t.Error(why)
	}
	v := w.view()
	v.VMs = v.VMs[:1]
	w.want(backs(v, "local-lvm"), "failed could not get storage information for 'local-lvm': can't use storage 'local-lvm' for backups - wrong content type")
	w.guest(301, func(g *pvesim.Guest) { g.Config["lock"] = "migrate" })
	w.want(backs(v, "local"), "refused it is locked (migrate), and was for 1s")

	// One that gets its lock later: the exit of the task says only that there were errors.
	api, err := proxmox.OpenPower(context.Background(), w.config)
	expect(t, err)
	defer api.Close()
	task, err := api.Backup(context.Background(), v.VMs[0].Guest, "local")
	expect(t, err)
	r := &runner{Request: Request{Action: &power.Dump, Timeout: time.Minute}, api: api, vm: &v.VMs[0]}
	o, _ := r.follow(context.Background(), task, proxmox.Now{})
	w.want([]string{o.Text}, "job errors; Backup of VM 301 failed - VM is locked (migrate)")
}

// TestOtherDisks: what somebody gave a VM after it was read, and another guest, is told.
func TestOtherDisks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, nil)
	v := w.view()
	told := func(want string) {
		t.Helper()
		others, err := v.OtherDisks(context.Background())
		expect(t, err)
		if got := strings.Join(others, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	w.sets(301, url.Values{"memory": {"1024"}, "ide2": {"none,media=cdrom"}})
	told("")
	w.sets(302, url.Values{"scsi5": {"local-lvm:1"}})
	told("lab/vm2")
	w.guest(303, func(g *pvesim.Guest) { g.Config["smbios1"] = "uuid=00000000-0000-4000-8000-000000000000" })
	told("lab/vm2 lab/vm3")
}
