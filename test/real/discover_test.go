//go:build unix

package real

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// digests are the digests of the configurations of all guests of a cluster.
func digests(t *testing.T, sim *pvesim.Server) map[int]string {
	t.Helper()
	out := map[int]string{}
	for _, g := range guestsOf(sim) {
		kind := "qemu"
		if g.Type == "lxc" {
			kind = "lxc"
		}
		out[g.VMID] = fmt.Sprint(callAPI(t, sim, "GET", fmt.Sprintf("/nodes/%s/%s/%d/config", g.Node, kind, g.VMID), nil).(map[string]any)["digest"])
	}
	return out
}

// settled fails unless all writes are those of settling: a name that the VM has already.
func settled(t *testing.T, sim *pvesim.Server) {
	t.Helper()
	for _, w := range writes(sim) {
		if !regexp.MustCompile(`^PUT /nodes/pve\d/qemu/\d+/config name$`).MatchString(w) {
			t.Errorf("the apply of an import sends %s", w)
		}
	}
}

// neverManaged are the VMs of handmadeCluster that a spec cannot describe, or that are
// locked.
var neverManaged = []string{"nichole", "smalldisk", "serialhole", "backedup1", "twin-536"}

// TestDiscover brings a cluster of sixty VMs made by hand into specs by four commands. The
// cluster stays as it is, and then a change of ten VMs in the specs changes only that.
func TestDiscover(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	sim := p.simulate()
	handmadeCluster(t, sim)
	before := digests(t, sim)
	sim.ResetLog()
	began := time.Now()
	run := func(want int, line string, contains ...string) string {
		t.Helper()
		start := time.Now()
		defer func() { t.Logf("%5.1f s  stackgen %s", time.Since(start).Seconds(), line) }()
		return p.deployed(want, line, contains...)
	}
	said := run(3, "discover --yes --specs-only --groups=false", "the cluster has 67 guests: 60 VMs, 3 containers, 4 templates", "not written: 1 VM that would stop every plan of the stack")
	run(0, "render")
	imports := 0
	for _, m := range regexp.MustCompile(`(\d+) to import, 0 to add, 0 to change, 0 to destroy`).FindAllStringSubmatch(run(0, "import-blocks --verify"), -1) {
		n, _ := strconv.Atoi(m[1])
		imports += n
	}
	if imports != 59 {
		t.Errorf("the plans import %d VMs, want 59", imports)
	}
	noWrites(t, sim)
	run(0, "apply --yes", "stackgen is as its spec says", "office is as its spec says", "web is as its spec says")
	settled(t, sim)
	if after := digests(t, sim); !maps.Equal(before, after) {
		t.Errorf("configurations changed:\n%v\n%v", before, after)
	}
	t.Logf("%5.1f s  all four", time.Since(began).Seconds())
	p.readSpecs(said)
	run(3, "discover", "nothing to add")
	run(2, "drift", "safe: 6 changes are harmless: 6 waiting for a restart already") // as before
	p.changeTen(sim)
}

// readSpecs checks how far the VMs go, and prints the figures.
func (p *project) readSpecs(said string) {
	p.Helper()
	lines, managed := 0, 0
	for _, stack := range []string{"stackgen-vms", "office", "prod", "web"} {
		body := p.read("specs/" + stack + ".yaml")
		lines += strings.Count(body, "\n")
		managed += strings.Count(body, "profile: default")
		for _, key := range neverManaged {
			if regexp.MustCompile(`(?m)^  ` + key + `: \{[^}]*\}, profile: default`).MatchString(body) {
				p.Errorf("%s is managed, and its spec cannot say all of it", key)
			}
		}
	}
	if managed < 41 || lines > 4*59 {
		p.Errorf("%d VMs are managed in %d lines", managed, lines)
	}
	p.Logf("59 VMs in %d lines, %.1f a VM; %d have profile default", lines, float64(lines)/59, managed)
	if _, why, ok := strings.Cut(said, "profile adopted:"); ok {
		why, _, _ = strings.Cut(why, "what Proxmox VE uses now")
		p.Logf("profile adopted:%s", why)
	}
}

// changeTen changes memory and tags of ten VMs of different kinds in two specs. Only these
// entries change in their configurations, and nothing in those of the others.
func (p *project) changeTen(sim *pvesim.Server) {
	p.Helper()
	before := stateOf(sim).guests
	ten := map[string][]string{"web": {"web1", "web6", "ci1", "db1", "db2"}, "stackgen-vms": {"router1", "haos2", "test2", "old1", "twin-535"}}
	want := map[int]string{}
	for stack, keys := range ten {
		body := p.read("specs/" + stack + ".yaml")
		for _, key := range keys {
			m := regexp.MustCompile(`(?m)^  ` + key + `: \{adopt: \{vmid: (\d+)\}, profile: default(?:.*\n      .*)*.*$`).FindStringSubmatch(body)
			if m == nil {
				p.Fatalf("%s is not managed in\n%s", key, body)
			}
			vmid, _ := strconv.Atoi(m[1])
			memory, _ := strconv.Atoi(before[vmid].config["memory"])
			want[vmid] = fmt.Sprintf("memory=%d tags=changed", memory+512)
			entry := regexp.MustCompile(`,\s+(memory: \d+|tags: \[[^\]]*\])`).ReplaceAllString(m[0], "")
			entry = strings.Replace(entry, "profile: default", fmt.Sprintf("profile: default, memory: %d, tags: [changed]", memory+512), 1)
			body = strings.Replace(body, m[0], entry, 1)
		}
		p.write("specs/"+stack+".yaml", body)
	}
	p.deployed(0, "render")
	p.deployed(0, "apply --yes specs/web.yaml specs/stackgen-vms.yaml", "web is as its spec says")
	for vmid, now := range stateOf(sim).guests {
		was := before[vmid].config
		var differs []string
		for _, key := range slices.Sorted(maps.Keys(now.config)) {
			if now.config[key] != was[key] {
				differs = append(differs, key+"="+now.config[key])
			}
		}
		for key := range was {
			if _, has := now.config[key]; !has {
				differs = append(differs, "no "+key)
			}
		}
		if got := strings.Join(differs, " "); got != want[vmid] {
			p.Errorf("VM %d (%s): the change of the spec changes %q, want %q", vmid, now.config["name"], got, want[vmid])
		}
	}
}
