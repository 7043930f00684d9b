package real

import (
	"cmp"
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/dnstest"
	"stackgen/internal/pvesim"
	"stackgen/test/page"
)

// A reader does what pages say, with the real tools, on a simulated cluster.
type reader struct {
	*dnsProject
	sim    *pvesim.Server
	script bool   // nobody answers questions
	answer string // to questions; yes if it is empty
}

// TestGuides runs the blocks of pages that name it: those of a case in one project, with
// what the text between them says. Where something asks, somebody answers yes.
func TestGuides(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*reader){
		"first stack": (*reader).firstStack, "script": (*reader).firstStackByScript, "one project": (*reader).oneProject,
		"discover": (*reader).discovers, "dns": (*reader).changesMode, "migrate": (*reader).migrates, "day": (*reader).aDay, "rebuild": (*reader).oneBroken,
		"rollout": (*reader).newImage, "containers": (*reader).twoContainers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reader{dnsProject: &dnsProject{project: newProject(t, nil), zone: "example.org"}}
			r.sim = r.simulate()
			r.remove("stackgen.yaml")
			r.tools = r.tools.With("TG_NON_INTERACTIVE=false", "EDITOR=sed -i s/4096/3072/")
			do(r)
		})
	}
}

// reads runs the blocks of a page, or only those of these sections.
func (r *reader) reads(name string, sections ...string) {
	r.Helper()
	blocks, err := page.Read(filepath.Join(repository, name))
	check(r.T, err)
	if len(sections) > 0 {
		blocks = slices.DeleteFunc(blocks, func(b page.Block) bool { return !slices.Contains(sections, b.Section) })
	}
	sh := page.Shell{Dir: r.dir, Env: r.tools.Env}
	if !r.script {
		person, in := terminal(r.T)
		defer func() { _, _ = person.Close(), in.Close() }()
		done := make(chan struct{})
		defer close(done)
		go func() { // again and again, because what is typed before a question is no answer
			for {
				select {
				case <-done:
					return
				case <-time.After(300 * time.Millisecond):
					_, _ = person.WriteString(cmp.Or(r.answer, "yes") + "\n") // an error is a question without an answer
				}
			}
		}()
		sh.In = in
	}
	wrong, err := page.Run(r.Context(), sh, blocks, "TestGuides")
	check(r.T, err)
	for _, w := range wrong {
		r.Errorf("%s: %s", name, w)
	}
}

// does runs stackgen, which must succeed.
func (r *reader) does(line string) {
	r.Helper()
	if out, err := r.command(line).CombinedOutput(); err != nil {
		r.Fatalf("stackgen %s: %v\n%s", line, err, out)
	}
}

// yamlOf is the first YAML of a page that begins like this, with another text in one place.
func (r *reader) yamlOf(name, begins, old, now string) string {
	r.Helper()
	for _, b := range blocksOf(r.T, name) {
		if b.language == "yaml" && strings.HasPrefix(b.body, begins) && strings.Contains(b.body, old) {
			return strings.Replace(b.body, old, now, 1)
		}
	}
	r.Fatalf("%s has no YAML that begins with %q and has %q", name, begins, old)
	return ""
}

// firstStack creates the VMs of the example, and then upgrades stackgen: an older one has
// rendered root.hcl.
func (r *reader) firstStack() {
	r.reads("docs/guides/first-stack.md", "The project", "Apply")
	r.has3VMs()
	r.dir = filepath.Join(r.dir, "lab")
	r.write("root.hcl", regexp.MustCompile(`(?m)^terra(grunt|form)_version_constraint.*\n| Digest: \w+$`).ReplaceAllString(r.read("root.hcl"), ""))
	r.reads("docs/guides/upgrades.md")
	r.does("render --check")
}

// firstStackByScript creates them with the script, which nobody answers.
func (r *reader) firstStackByScript() {
	r.script = true
	r.reads("docs/guides/first-stack.md", "The project", "Without `stackgen apply`")
	r.has3VMs()
}

// has3VMs fails unless the cluster has the VMs of the example.
func (r *reader) has3VMs() {
	r.Helper()
	var made []int
	for _, g := range guestsOf(r.sim) {
		if g.VMID >= 2100 && g.VMID <= 2199 && g.Running {
			made = append(made, g.VMID)
		}
	}
	if slices.Sort(made); !slices.Equal(made, []int{2100, 2101, 2102}) {
		r.Errorf("the running VMs are %v, want 2100, 2101, 2102", made)
	}
}

// oneProject creates a project, loses its state, and has a difference that may stay for a
// while.
func (r *reader) oneProject() {
	r.reads("README.md")
	r.has3VMs()
	r.dir = filepath.Join(r.dir, "lab")
	if !strings.Contains(r.read("specs/example.yaml"), "web02: {memory: 3072}") {
		r.Error("the editor has not changed the spec")
	}
	r.remove(".state")
	before := digests(r.T, r.sim)
	r.reads("docs/guides/state.md")
	if after := digests(r.T, r.sim); !maps.Equal(after, before) {
		r.Errorf("the import has changed a VM: the digests were %v, and are %v", before, after)
	}
	callAPI(r.T, r.sim, "PUT", "/nodes/pve1/qemu/2100/config", url.Values{"memory": {"4096"}})
	r.reads("docs/drift.md")
}

// poolPair are two VMs of a pool that differ in their node and address, and in what discover
// writes into the second one.
var poolPair = []handmadeVM{
	{node: "pve1", config: strings.Replace(pairConfig, "discard=on", "aio=io_uring,backup=1,cache=none,discard=on,iothread=0,replicate=1,ssd=0", 1) + "name=web1\nnet0=virtio=BC:24:11:0C:00:01,bridge=vmbr0\nipconfig0=ip=192.0.2.11/24,gw=192.0.2.1"},
	{node: "pve2", config: pairConfig + "name=web2\nnet0=virtio=BC:24:11:0C:00:02,bridge=vmbr0\nipconfig0=ip=192.0.2.12/24,gw=192.0.2.1"},
}

const pairConfig = "pool=web\nagent=1\ncores=2\ncpu=x86-64-v2-AES\nmemory=2048\nballoon=2048\nostype=l26\nscsihw=virtio-scsi-single\n" +
	"scsi0=shared:16,discard=on\nide2=shared:cloudinit\nserial0=socket\nonboot=1\nboot=order=scsi0\n"

// discovers brings in two VMs that were made by hand. It writes the defaults of a disk into the
// one that lacks them, and nothing else into any guest.
func (r *reader) discovers() {
	for _, vmid := range []int{123, 124, 125} {
		r.sim.Remove(vmid)
	}
	callAPI(r.T, r.sim, "POST", "/pools", url.Values{"poolid": {"web"}})
	createHandmade(r.T, r.sim, poolPair)
	before, whole := stateOf(r.sim).guests, digests(r.T, r.sim)
	r.reads("docs/discover.md")
	after, now := stateOf(r.sim).guests, digests(r.T, r.sim)
	for vmid, was := range before {
		if was.config["name"] == "web2" {
			was.config["scsi0"] = strings.Replace(was.config["scsi0"], "discard=on,size=16G", "aio=io_uring,backup=1,cache=none,discard=on,iothread=0,replicate=1,size=16G,ssd=0", 1)
			whole[vmid] = now[vmid]
		}
		if !reflect.DeepEqual(after[vmid], was) {
			r.Errorf("VM %d was %v, and is %v", vmid, was, after[vmid])
		}
	}
	if !maps.Equal(now, whole) {
		r.Errorf("the digests of the configurations were %v, and are %v", whole, now)
	}
}

// changesMode moves the records of the stack on the page to one unit. They are answered
// all the time.
func (r *reader) changesMode() {
	const name = "docs/guides/dns.md"
	r.serve(dnstest.Any)
	spec := r.yamlOf(name, "apiVersion", "dns: {zone: example.org, server: 192.0.2.53, tsig: {key_name: ddnskey., algorithm: hmac-sha256}", r.spec)
	r.write("specs/web.yaml", spec)
	r.does("render")
	r.does("apply --yes")
	address, err := r.server.Lookup("web")
	if err != nil || len(address) != 1 {
		r.Fatalf("web has the addresses %v (%v)", address, err)
	}
	watch := r.watch("web", address[0], "www", address[0])
	r.write("specs/web.yaml", strings.Replace(spec, "dns: {", "dns: {mode: per-stack, ", 1))
	r.reads(name)
	watch()
	if units := r.read("stacks/web/terragrunt.stack.hcl"); !strings.Contains(units, `unit "dns" {`) || strings.Contains(units, "dns-web1") {
		r.Errorf("the records are in another unit:\n%s", units)
	}
	r.does("preflight")
}

// migrates moves the running VM of the page to another node.
func (r *reader) migrates() {
	const name = "docs/guides/migrate.md"
	r.write("specs/shop.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: shop\nvmids: 2100-2199\ndefaults: {template: {vmid: 9002, node: pve1}}\n"+
		r.yamlOf(name, "profiles:", "node: pve1", "node: pve1"))
	r.does("render")
	r.does("apply --yes")
	r.reads(name)
	for _, g := range guestsOf(r.sim) {
		if g.VMID == 2100 && (g.Node != "pve2" || !g.Running) {
			r.Errorf("VM 2100 is on %s, and runs: %t", g.Node, g.Running)
		}
	}
}

// aDay runs the page about a day with a class. The guests need a moment until their agents
// answer, and what a student wrote is gone after the reset.
func (r *reader) aDay() {
	const name = "docs/guides/day.md"
	settled := func() {
		waitUntil(r.T, "the agents answer, and no task is listed", func() bool {
			code, output := r.stackgen("preflight", r.dir)
			return code == 0 && !strings.Contains(output, "busy")
		})
	}
	r.reads(name, "")
	r.does("power shutdown math --yes")
	r.reads(name, "In the morning")
	settled()
	r.answer = "ana-prva"
	r.reads(name, "A VM is broken")
	settled()
	r.answer = "bo-novak"
	r.reads(name, "A VM cannot be repaired")
	settled()
	r.answer = ""
	r.reads(name, "All need more memory")
	settled()
	r.does("drift")
	r.reads(name, "In the evening")
	r.answer = "bo-novak"
	r.reads(name, "A student leaves")
}

// newImage rebuilds a class in waves.
func (r *reader) newImage() {
	r.reads("docs/guides/rollout.md")
	r.does("preflight")
}

// oneBroken rebuilds a VM, and a protected one.
func (r *reader) oneBroken() {
	r.reads("docs/guides/rebuild.md")
	r.does("preflight")
}

// twoContainers runs the page about containers: one is adopted, and one is created and then migrated
// by hand. Nothing writes to the first one; to the other one, only what creates it.
func (r *reader) twoContainers() {
	const name, spec = "docs/guides/containers.md", "specs/lab.yaml"
	const resolver, proxy = 140, 700
	r.serve(dnstest.Any, "resolver IN A 192.168.1.53")
	g := containerByHand(resolver, "pve1", "resolver", "BC:24:11:00:01:40")
	g.Running = true
	maps.Copy(g.Config, map[string]string{"rootfs": "local-lvm:vm-140-disk-0,size=8G", "onboot": "1",
		"net0": "name=eth0,bridge=vmbr0,gw=192.168.1.1,hwaddr=BC:24:11:00:01:40,ip=192.168.1.53/24,type=veth"})
	check(r.T, r.sim.Add(g))
	r.write(spec, r.yamlOf(name, "apiVersion", "dns: {zone: example.org, server: 192.168.1.53, tsig: {key_name: ddnskey., algorithm: hmac-sha256}", r.spec))
	was := stateOf(r.sim).guests[resolver]

	r.sim.ResetLog()
	r.reads(name, "Adopt the one that runs")
	noWrites(r.T, r.sim)
	r.write(spec, r.read(spec)+r.yamlOf(name, "  proxy:", "proxy", "proxy"))
	r.reads(name, "Create the other one")
	r.has("proxy", "192.168.1.80")
	r.has("git.apps", "192.168.1.80")

	callAPI(r.T, r.sim, "POST", "/nodes/pve1/lxc/700/migrate", url.Values{"target": {"pve2"}, "restart": {"1"}})
	made := stateOf(r.sim).guests[proxy]
	if made.node != "pve2" || !made.running {
		r.Fatalf("after the migration: %v", made)
	}
	r.sim.ResetLog()
	r.reads(name, "Somebody migrates it")
	noWrites(r.T, r.sim)
	after := stateOf(r.sim).guests
	if !reflect.DeepEqual(after[resolver], was) || !reflect.DeepEqual(after[proxy], made) {
		r.Errorf("resolver was %v, and is %v\nproxy was %v, and is %v", was, after[resolver], made, after[proxy])
	}
	r.has("resolver", "192.168.1.53")
	r.has("proxy", "192.168.1.80")
	if body := r.read(spec); strings.Contains(body, "pve2") {
		r.Errorf("the spec is\n%s", body)
	}
}
