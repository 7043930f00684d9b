//go:build unix

package real

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"stackgen/internal/pvesim"
)

// TestTemplateKindRefused: what keeps a Template from being applied, and that the printed way out
// ends it. Nothing is overwritten.
func TestTemplateKindRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]func(*testing.T){
		"wrong checksum": wrongChecksum, "a file that exists": fileExists, "a full storage": fullStorage,
		"no content import": noImport, "missing rights": missingRights, "shared storage": sharedTemplate,
		"VMID taken": vmidTaken, "Terragrunt alone": templateByTerragrunt,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c(t)
		})
	}
}

func wrongChecksum(t *testing.T) {
	web, checksum := imageServer(t)
	wrong := "sha256:" + strings.Repeat("0", 64)
	p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(web, wrong, "1", "[pve1]", "")})
	sim := p.simulate()
	p.render()
	p.deployed(1, "apply --yes", "checksum")
	if _, made := stateOf(sim).guests[9100]; made {
		t.Error("a template was made of an image with a wrong checksum")
	}
	p.write("specs/base.yaml", templateSpec(web, checksum, "1", "[pve1]", ""))
	p.render()
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says")
}

func fileExists(t *testing.T) {
	p, sim := oneTemplate(t)
	const volume = "local:import/base-1.qcow2"
	sim.Change(func(s *pvesim.Seed) {
		s.Volumes = append(s.Volumes, &pvesim.Volume{ID: volume, Node: "pve1", Size: 1 << 20, Format: "qcow2", Content: "import"})
	})
	sim.ResetLog()
	p.deployed(3, "apply --yes", "a file of this name exists", "pvesh delete /nodes/pve1/storage/local/content/"+volume)
	noWrites(t, sim)
	callAPI(t, sim, "DELETE", "/nodes/pve1/storage/local/content/"+volume, nil)
	waitUntil(t, "the file is gone", func() bool {
		_, output := p.stackgen("preflight", p.dir)
		return strings.Contains(output, "2 create")
	})
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says")
}

// vmidTaken has somebody create a VM with the VMID of a template while the image is downloaded. The apply leaves it alone,
// and the next one uses the image for another VMID.
func vmidTaken(t *testing.T) {
	var sim *pvesim.Server
	var fetched atomic.Int32
	web, checksum := imageServerAfter(t, func() {
		if fetched.Add(1) == 1 {
			callAPI(t, sim, "POST", "/nodes/pve1/qemu", url.Values{"vmid": {"9100"}, "name": {"other"}, "scsi0": {"local-zfs:1"}})
		}
	})
	p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(web, checksum, "1", "[pve1]", "")})
	sim = p.simulate()
	p.render()
	p.deployed(3, "apply --yes", "the images of base-1.0 were downloaded, and the rest was not applied", "conflict", "VM 9100")
	p.contains(p.read("stackgen.lock.yaml"), "image_seen: true")
	other := stateOf(sim).guests[9100].config
	if other["name"] != "other" || other["template"] == "1" || !strings.Contains(other["scsi0"], "size=1G") {
		t.Errorf("VM 9100 of somebody else is now %v", other)
	}
	p.step(0, "resolve --again base-1.0/1-pve1")
	p.step(0, "render")
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says")
	if made := stateOf(sim).guests[9101].config; made["template"] != "1" || fetched.Load() != 1 {
		t.Errorf("the image was fetched %d times, and VM 9101 is %v", fetched.Load(), made)
	}
	if now := stateOf(sim).guests[9100].config; !maps.Equal(now, other) {
		t.Errorf("VM 9100 of somebody else was changed: %v", now)
	}
}

// templateByTerragrunt is the same without stackgen apply, at each level of the guard: nothing is downloaded, so nobody has
// time to get the VMID.
func templateByTerragrunt(t *testing.T) {
	for _, level := range []string{"full", "fast"} {
		var sim *pvesim.Server
		web, checksum := imageServerAfter(t, func() {
			callAPI(t, sim, "POST", "/nodes/pve1/qemu", url.Values{"vmid": {"9100"}, "name": {"other"}, "scsi0": {"local-zfs:1"}})
		})
		p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(web, checksum, "1", "[pve1]", "guard: "+level)})
		sim = p.simulate()
		p.render()
		p.generate("base-1.0")
		sim.ResetLog()
		refusal := p.fails(unitDir("base-1.0", "proxmox-vm"), []string{"run", "--", "apply", "-auto-approve"},
			"blocked cannot-create base-1.0/1-pve1", "only `stackgen apply` downloads its image in a run of its own")
		noWrites(t, sim)
		p.pastes(unitDir("base-1.0", "proxmox-vm"), refusal, "stackgen apply specs/base.yaml", " --dry-run")
	}
}

func fullStorage(t *testing.T) {
	p, sim := oneTemplate(t)
	var size pvesim.Size
	fill := func(full bool) {
		sim.Change(func(s *pvesim.Seed) {
			for _, storage := range s.Storages {
				if storage.ID == "local" && full {
					size, storage.Used, storage.Reserved = storage.Used, storage.Size, 0
				} else if storage.ID == "local" {
					storage.Used = size
				}
			}
		})
	}
	fill(true)
	p.deployed(3, "apply --yes", "storage local of node pve1 has no space for the image")
	fill(false)
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says")
}

func noImport(t *testing.T) {
	p, sim := oneTemplate(t)
	sim.Change(func(s *pvesim.Seed) {
		for _, storage := range s.Storages {
			if storage.ID == "local" {
				storage.Content = []string{"images", "iso"}
			}
		}
	})
	p.step(3, "preflight", "storage local does not take the content import", "pvesm set local --content images,import,iso")
	callAPI(t, sim, "PUT", "/storage/local", url.Values{"content": {"images,import,iso"}})
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says")
}

func missingRights(t *testing.T) {
	web, checksum := imageServer(t)
	p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(web, checksum, "1", "[pve1]", "")})
	seed, err := pvesim.DefaultSeed()
	check(t, err)
	const secret = "5f3c9a10-7e61-4c55-9a53-0000000000aa"
	seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: secret}}})
	for _, role := range []string{"PVEAuditor", "PVEVMAdmin", "PVEDatastoreUser", "PVESDNUser"} {
		seed.ACL = append(seed.ACL, &pvesim.Grant{Path: "/", To: "ci@pve", Type: "user", Role: role})
	}
	p.simulateSeed(seed)
	p.tools = p.tools.With("PROXMOX_VE_API_TOKEN=ci@pve!t=" + secret)
	p.render()
	p.step(3, "preflight", "the token lacks privileges that its creation needs", "Datastore.AllocateTemplate", "Sys.AccessNetwork", "pveum ")
}

func sharedTemplate(t *testing.T) {
	web, checksum := imageServer(t)
	base := strings.NewReplacer("datastore: local-zfs", "datastore: shared", "download: local", "download: shared").Replace(templateSpec(web, checksum, "1", "[pve1]", ""))
	p := newProject(t, map[string]string{"specs/base.yaml": base, "specs/live.yaml": clonesSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says", "live is as its spec says")
	if a, b := stateOf(sim).guests[300], stateOf(sim).guests[301]; a.node != "pve1" || b.node != "pve2" || !strings.Contains(b.config["scsi0"], "base-9100") {
		t.Errorf("the clones: %+v %+v", a, b)
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says")
	noWrites(t, sim)
}

// TestTemplateGuide does what the guide to templates says, with an image of the loopback.
func TestTemplateGuide(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(repository, "docs/guides/templates.md"))
	check(t, err)
	specs := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	web, checksum := imageServer(t)
	of := regexp.MustCompile(`https://cloud-images.example|sha256:0+`)
	base := of.ReplaceAllStringFunc(specs[0][1], func(text string) string {
		if strings.HasPrefix(text, "sha256") {
			return checksum
		}
		return web
	})
	p := newProject(t, map[string]string{"specs/ubuntu.yaml": base, "specs/web.yaml": specs[1][1]})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "ubuntu-24.04 is as its spec says", "web is as its spec says")
	p.write("specs/ubuntu.yaml", strings.ReplaceAll(base, "20261101", "20261201"))
	p.step(0, "render")
	p.deployed(0, "apply --yes", "ubuntu-24.04 is as its spec says")
	p.step(0, "preflight", "2 outdated-template", "release 20261101", "release 20261201")
	p.write("specs/web.yaml", strings.Replace(specs[1][1], "template: ubuntu-24.04", `template: {name: ubuntu-24.04, release: "20261101"}`, 1))
	p.step(0, "render")
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: web is as its spec says\n")
	noWrites(t, sim)
}
