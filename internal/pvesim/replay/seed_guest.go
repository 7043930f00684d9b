package replay

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"stackgen/internal/pvesim"
)

// addGuest adds a traced guest to the seed: with its recorded configuration, or
// else with a default configuration that matches the lists.
func (in *inferred) addGuest(t *trace) {
	if !t.exists || in.s.isForeign(in.one, t.vmid) && t.conf == nil {
		return
	}
	g := pvesimGuest(in.seed, t.vmid)
	if g == nil {
		g = &pvesim.Guest{VMID: t.vmid, Node: t.node, Type: t.kind, Config: in.defaultConfig(t)}
		in.seed.Guests = append(in.seed.Guests, g)
	}
	if t.node != "" {
		g.Node = t.node
	}
	if !hasNode(in.seed, g.Node) {
		g.Node = in.seed.Nodes[0].Name
	}
	switch {
	case t.conf != nil:
		t.fromConfig(g)
	case t.list != nil:
		t.fromList(g)
	}
	if t.status != nil && t.conf == nil && t.status["serial"] == nil {
		delete(g.Config, "serial0")
	}
	if t.agent != "" && t.conf == nil {
		g.Config["agent"] = "enabled=" + t.agent
	}
	if t.running != nil {
		g.Running = *t.running
	}
	in.fileSystem(g)
	g.Silent = t.silent
	in.snapshots(g)
	t.pending(g)
	in.report(t, g)
}

func hasNode(seed *pvesim.Seed, node string) bool {
	for _, n := range seed.Nodes {
		if n.Name == node {
			return true
		}
	}
	return false
}

// defaultConfig returns the configuration of an otherwise unknown guest: a full
// clone of the first template.
func (in *inferred) defaultConfig(t *trace) map[string]string {
	conf := map[string]string{}
	if t.kind == "lxc" {
		if conf := in.cloneConfig(t.vmid); conf != nil {
			return conf
		}
		return map[string]string{"hostname": fmt.Sprintf("CT%d", t.vmid), "memory": "512",
			"rootfs": fmt.Sprintf("local:%d/vm-%d-disk-0.raw,size=4G", t.vmid, t.vmid)}
	}
	for k, v := range in.seed.Guests[0].Config {
		conf[k] = v
	}
	delete(conf, "template")
	conf["name"] = fmt.Sprintf("rec-%d", t.vmid)
	conf["net0"] = fmt.Sprintf("virtio=BC:24:11:00:%02X:%02X,bridge=vmbr0", t.vmid>>8&0xff, t.vmid&0xff)
	conf["smbios1"] = fmt.Sprintf("uuid=11111111-1111-4111-8111-%012d", t.vmid)
	conf["vmgenid"] = fmt.Sprintf("22222222-2222-4222-8222-%012d", t.vmid)
	volid := t.volid
	if volid == "" {
		volid = fmt.Sprintf("%s:%d/vm-%d-disk-0.qcow2", in.fileStorage(t.shared), t.vmid, t.vmid)
	}
	storage, _, _ := strings.Cut(volid, ":")
	conf["scsi0"] = volid + ",size=1G"
	conf["ide2"] = fmt.Sprintf("%s:%d/vm-%d-cloudinit.qcow2,media=cdrom,size=4M", storage, t.vmid, t.vmid)
	if !strings.Contains(volid, "/") {
		conf["ide2"] = fmt.Sprintf("%s:vm-%d-cloudinit,media=cdrom,size=4M", storage, t.vmid)
	}
	if t.cloud != "" {
		conf["ide2"] = t.cloud + ",media=cdrom,size=4M"
	}
	if strings.Contains(volid, "base-") && !strings.Contains(volid, fmt.Sprintf("vm-%d-", t.vmid)) {
		conf["template"] = "1"
	}
	return conf
}

// fileStorage returns the first storage for files, local or shared.
func (in *inferred) fileStorage(shared bool) string {
	for _, s := range in.seed.Storages {
		if s.Type == "dir" && s.Shared == shared {
			return s.ID
		}
	}
	return "local"
}

// fromConfig replaces the options of a guest by those of the recorded configuration.
func (t *trace) fromConfig(g *pvesim.Guest) {
	for k, v := range t.conf {
		if k == "digest" || t.confTouched[k] || t.moved && strings.HasPrefix(fmt.Sprint(v), g.Config[k]+",size=") {
			continue
		}
		g.Config[k] = fmt.Sprint(v)
	}
	maps.DeleteFunc(g.Config, func(k, _ string) bool {
		_, has := t.conf[k]
		return !has && !t.confTouched[k]
	})
}

// fromList adapts a default configuration to the values of a list.
func (t *trace) fromList(g *pvesim.Guest) {
	set := func(k, v string) {
		if !t.before[k] {
			g.Config[k] = v
		}
	}
	if n, ok := t.list["name"].(string); ok && n != fmt.Sprintf("VM %d", g.VMID) {
		set("name", n)
	} else if ok {
		delete(g.Config, "name")
	}
	for _, k := range []string{"maxcpu", "cpus"} {
		if n := number(t.list[k]); n > 0 {
			set("cores", fmt.Sprint(n))
		}
	}
	if n := number(t.list["maxmem"]); n > 0 {
		set("memory", fmt.Sprint(n>>20))
	}
	if number(t.list["agent"]) == 1 {
		set("agent", "1")
	}
	if tags, ok := t.list["tags"].(string); ok {
		set("tags", tags)
	}
	if number(t.list["template"]) == 1 {
		g.Config["template"] = "1"
	}
	if d, ok := t.list["maxdisk"]; ok {
		t.bootDisk(g, number(d))
	}
	_, nodeView := t.list["cpus"]
	if nodeView && t.list["serial"] == nil {
		delete(g.Config, "serial0")
	}
}

// pending adds a pending change if the memory of a running guest differs from
// its configuration.
func (t *trace) pending(g *pvesim.Guest) {
	if !g.Running || t.status == nil || t.conf == nil || t.confTouched["memory"] {
		return
	}
	now := fmt.Sprint(number(t.status["maxmem"]) >> 20)
	if want := g.Config["memory"]; want != now {
		g.Pending = map[string]string{"memory": want}
		g.Config["memory"] = now
	}
}

// report adds what the node last reported about the guest.
func (in *inferred) report(t *trace, g *pvesim.Guest) {
	m := t.reported
	if m == nil || m["name"] == nil {
		return
	}
	in.seed.Reports = append(in.seed.Reports, &pvesim.Report{VMID: g.VMID, Name: fmt.Sprint(m["name"]), Status: fmt.Sprint(m["status"]),
		MaxMem: int64(number(m["maxmem"])), MaxDisk: int64(number(m["maxdisk"])), MaxCPU: number(m["maxcpu"]),
		Template: number(m["template"]) == 1})
}

// earlierReports adds what nodes last reported about guests that used the VMIDs of
// the scenario before: a list shows it until a node reports the new guest.
func earlierReports(s *Scenario, seed *pvesim.Seed) (log []string) {
	made, seen := map[int]bool{}, map[int]bool{}
	for _, e := range s.Exchanges {
		if e.Method == http.MethodPost && e.ok() {
			made[number(e.str("newid"))] = true
			if createsGuest(e.api()) {
				made[number(e.str("vmid"))] = true
			}
		}
		if e.api() != "/cluster/resources" || !e.ok() {
			continue
		}
		for _, m := range e.list() {
			vmid := number(m["vmid"])
			if vmid == 0 || !made[vmid] || seen[vmid] || m["name"] == nil {
				continue
			}
			seen[vmid] = true
			in := &inferred{s: s, seed: seed}
			in.report(&trace{vmid: vmid, reported: m}, &pvesim.Guest{VMID: vmid})
			log = append(log, fmt.Sprintf("%s: %d had been another guest, which a node had reported", s.Name, vmid))
		}
	}
	return log
}

func (t *trace) bootDisk(g *pvesim.Guest, size int) {
	if size == 0 {
		delete(g.Config, "scsi0")
		return
	}
	line, ok := g.Config["scsi0"]
	if !ok {
		return
	}
	file, _, _ := strings.Cut(line, ",")
	g.Config["scsi0"] = fmt.Sprintf("%s,size=%dM", file, size>>20)
	if size%(1<<30) == 0 {
		g.Config["scsi0"] = fmt.Sprintf("%s,size=%dG", file, size>>30)
	}
}
