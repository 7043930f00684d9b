//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"stackgen/internal/lock"
	ondisk "stackgen/internal/project"
	"stackgen/internal/pvesim"
	"stackgen/schema"
)

// A providerRun sends the requests that the provider sends to create a VM, in its order,
// with the token of the project. Fault rows show that the provider itself does the same.
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/vm.go
type providerRun struct {
	*faultCase
	vm    *schema.VM
	entry *lock.VM
}

// create creates VM a of the stack live, and returns the first error of the server.
func (w *faultCase) create() error {
	w.Helper()
	p, err := ondisk.Load([]string{w.dir}, "")
	check(w.T, err)
	s := p.SelectedStacks()[0]
	run := &providerRun{w, s.VMs[0], &p.Lock.Stacks.Get("live").VMs[0].Value}
	if s.Pool != nil && s.Pool.Create {
		if err := run.send("POST", "/pools", url.Values{"poolid": {s.Pool.ID}}, nil); err != nil {
			return err
		}
	}
	return run.all(run.clone, run.configure, run.disks, run.start)
}

func (p *providerRun) all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// send sends a request with the token of the project, and waits for its task.
func (p *providerRun) send(method, path string, form url.Values, into any) error {
	h := http.Header{"Authorization": {"PVEAPIToken=" + faultEnv(p.tools, "PROXMOX_VE_API_TOKEN")}}
	r := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h}
	if form != nil {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = []byte(form.Encode())
	}
	answer := p.sim.Do(p.Context(), r)
	if answer.Status != 200 {
		var problem struct{ Errors map[string]string }
		_ = json.Unmarshal(answer.Body, &problem) // most answers have no errors
		for _, text := range problem.Errors {
			return fmt.Errorf("%s", strings.TrimSpace(text))
		}
		return fmt.Errorf("%s", answer.Reason)
	}
	var data struct{ Data any }
	check(p.T, json.Unmarshal(answer.Body, &data))
	if into != nil {
		body := struct{ Data any }{into}
		check(p.T, json.Unmarshal(answer.Body, &body))
	}
	if upid, _ := data.Data.(string); strings.HasPrefix(upid, "UPID:") {
		return p.task(upid)
	}
	return nil
}

func (p *providerRun) task(upid string) error {
	path := "/nodes/" + strings.Split(upid, ":")[1] + "/tasks/" + url.PathEscape(upid) + "/status"
	for {
		var task struct{ Status, ExitStatus string }
		if err := p.send("GET", path, nil, &task); err != nil {
			return err
		}
		if task.Status == "stopped" && task.ExitStatus != "OK" {
			return fmt.Errorf("%s", task.ExitStatus)
		}
		if task.Status == "stopped" {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (p *providerRun) path(more string) string {
	return fmt.Sprintf("/nodes/%s/qemu/%d%s", p.entry.Node, p.entry.VMID, more)
}

// clone clones the template, on its own node and with a migration if it has disks on
// storage that is not shared.
func (p *providerRun) clone() error {
	t := p.entry.Template
	from := fmt.Sprintf("/nodes/%s/qemu/%d", t.Node, t.VMID)
	form := url.Values{"newid": {fmt.Sprint(p.entry.VMID)}, "full": {"1"}, "name": {p.vm.Name}}
	if p.vm.PoolID != "" {
		form.Set("pool", p.vm.PoolID)
	}
	storage := ""
	if disks := p.vm.Values.Get("disks").List(); p.entry.Clone != "linked" && len(disks) > 0 {
		storage = disks[0].Get("datastore").Str()
		form.Set("storage", storage)
	}
	if p.entry.Clone == "linked" {
		form.Set("full", "0")
	}
	if t.Node == p.entry.Node {
		return p.send("POST", from+"/clone", form, nil)
	}
	var config map[string]any
	if err := p.send("GET", from+"/config", nil, &config); err != nil {
		return err
	}
	for _, key := range []string{"scsi0", "ide2"} {
		store, _, _ := strings.Cut(fmt.Sprint(config[key]), ":")
		var status struct{ Shared int }
		if err := p.send("GET", "/nodes/"+t.Node+"/storage/"+store+"/status", nil, &status); err != nil {
			return err
		}
		if status.Shared == 0 {
			return p.cloneAndMigrate(from, storage, form)
		}
	}
	form.Set("target", p.entry.Node)
	return p.send("POST", from+"/clone", form, nil)
}

func (p *providerRun) cloneAndMigrate(from, storage string, form url.Values) error {
	if err := p.send("POST", from+"/clone", form, nil); err != nil {
		return err
	}
	migrate := url.Values{"target": {p.entry.Node}, "with-local-disks": {"1"}}
	if storage != "" {
		migrate.Set("targetstorage", storage)
	}
	return p.send("POST", fmt.Sprintf("/nodes/%s/qemu/%d/migrate", p.entry.Template.Node, p.entry.VMID), migrate, nil)
}

// configure sets everything but disks.
func (p *providerRun) configure() error {
	v := p.vm.Values
	ci := v.Get("cloud_init")
	if ci != nil && !ci.Off() {
		if err := p.send("PUT", p.path("/config"), url.Values{"delete": {"ide2"}}, nil); err != nil {
			return err
		}
	}
	form := url.Values{"onboot": {"1"}, "cores": {v.Get("cores").Str()}, "sockets": {v.Get("sockets").Str()}, "memory": {v.Get("memory").Str()},
		"balloon": {"0"}, "ostype": {"l26"}, "agent": {"enabled=" + map[bool]string{true: "1", false: "0"}[p.vm.AgentOn]}}
	var del []string
	for i := range 32 {
		del = append(del, fmt.Sprintf("net%d", i))
	}
	for i, nic := range v.Get("networks").List() {
		net := "virtio,bridge=" + nic.Get("bridge").Str()
		if tag := nic.Get("vlan").Str(); tag != "" {
			net += ",tag=" + tag
		}
		form.Set(del[i], net)
	}
	form.Set("delete", strings.Join(del[len(v.Get("networks").List()):], ","))
	if s := v.Get("scsi_hardware").Str(); s != "virtio-scsi-pci" {
		form.Set("scsihw", s)
	}
	if ci != nil && !ci.Off() {
		form.Set("ide2", ci.Get("datastore").Str()+":cloudinit")
		form.Set("ipconfig0", "ip=dhcp")
		if snippet := ci.Get("user_data").Str(); snippet != "" {
			form.Set("cicustom", "user="+snippet)
		}
	}
	if order := v.Get("boot_order").Strings(); len(order) > 0 {
		form.Set("boot", "order="+strings.Join(order, ";"))
	}
	if model := v.Get("cpu_type").Str(); strings.HasPrefix(model, "custom-") {
		form.Set("cpu", model)
	}
	if tags := v.Get("tags").Strings(); len(tags) > 0 {
		form.Set("tags", strings.Join(tags, ";"))
	}
	if s := v.Get("startup"); s != nil {
		form.Set("startup", "order="+s.Get("order").Str())
	}
	for i, d := range v.Get("virtiofs").List() {
		form.Set(fmt.Sprintf("virtiofs%d", i), "dirid="+d.Get("mapping").Str())
	}
	if sev := v.Get("amd_sev"); sev != nil {
		form.Set("amd-sev", "type="+sev.Get("type").Str())
	}
	for i, d := range v.Get("serial").List() {
		form.Set(fmt.Sprintf("serial%d", i), d.Get("device").Str())
	}
	for i, d := range v.Get("usb").List() {
		form.Set(fmt.Sprintf("usb%d", i), "host="+d.Get("host").Str())
		if m := d.Get("mapping").Str(); m != "" {
			form.Set(fmt.Sprintf("usb%d", i), "mapping="+m)
		}
	}
	if a := v.Get("cpu_affinity"); a != nil {
		form.Set("affinity", a.Str())
	}
	return p.send("PUT", p.path("/config"), form, nil)
}

// disks adds, moves and grows disks.
func (p *providerRun) disks() error {
	var config map[string]any
	if err := p.send("GET", p.path("/config"), nil, &config); err != nil {
		return err
	}
	for _, d := range p.vm.Values.Get("disks").List() {
		key, store, size := d.Get("interface").Str(), d.Get("datastore").Str(), d.Get("size").Int()
		entry, _ := config[key].(string)
		if entry == "" {
			if err := p.send("PUT", p.path("/config"), url.Values{key: {fmt.Sprintf("%s:%d", store, size) + formatOf(d)}}, nil); err != nil {
				return err
			}
			continue
		}
		has := size
		if i := strings.Index(entry, "size="); i >= 0 {
			text, _, _ := strings.Cut(entry[i+5:], ",")
			_, _ = fmt.Sscanf(text, "%d", &has)
			if strings.HasSuffix(text, "M") {
				has = (has + 1023) / 1024
			}
		}
		volume, _, _ := strings.Cut(entry, ",") // the provider always sends all options of a drive
		if err := p.send("PUT", p.path("/config"), url.Values{key: {volume + ",aio=io_uring,backup=1,cache=none,discard=ignore,replicate=1,size=" + fmt.Sprint(has) + "G"}}, nil); err != nil {
			return err
		}
		if size < has {
			return fmt.Errorf("disk resize failure: requested size (%dG) is lower than current size (%dG)", size, has)
		}
		if !strings.HasPrefix(entry, store+":") {
			if err := p.send("POST", p.path("/move_disk"), url.Values{"disk": {key}, "storage": {store}, "delete": {"1"}}, nil); err != nil {
				return err
			}
		}
		if size > has {
			if err := p.send("PUT", p.path("/resize"), url.Values{"disk": {key}, "size": {fmt.Sprintf("%dG", size)}}, nil); err != nil {
				return err
			}
		}
	}
	for field, key := range map[string]string{"efi": "efidisk0", "tpm": "tpmstate0"} {
		v := p.vm.Values.Get(field)
		has, _ := config[key].(string)
		if kind := v.Get("type").Str(); has != "" && kind != "" {
			if !strings.Contains(has, "efitype="+kind) {
				return fmt.Errorf("changing the EFI disk type (4m / 2m) is not supported")
			}
			continue
		}
		if store := v.Get("datastore").Str(); store != "" {
			if err := p.send("PUT", p.path("/config"), url.Values{key: {store + ":1" + formatOf(v)}}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatOf is the format of a new disk as an option.
func formatOf(d *schema.Node) string {
	if f := d.Get("format").Str(); f != "" {
		return ",format=" + f
	}
	return ""
}

// start starts the VM, and queries its agent.
func (p *providerRun) start() error {
	if p.vm.Values.Get("started").Str() == "false" {
		return nil
	}
	if err := p.send("POST", p.path("/status/start"), url.Values{}, nil); err != nil {
		return err
	}
	if !p.vm.AgentOn {
		return nil
	}
	err := p.send("GET", p.path("/agent/network-get-interfaces"), nil, nil)
	if err != nil && slices.Contains(strings.Fields(err.Error()), "Permission") {
		return err
	}
	return nil // an agent that does not answer yet is waited for
}
