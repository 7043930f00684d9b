package pvesim

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var driveKey = regexp.MustCompile(`^(ide[0-3]|sata[0-5]|scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|efidisk0|tpmstate0|rootfs|mp\d+)$`)

// isDriveKey reports whether an option names a volume: a drive of a VM, or a mount point of
// a container.
func isDriveKey(k string) bool { return driveKey.MatchString(k) }

// driveKeys returns the keys of the drives in a configuration, in order.
func driveKeys(conf map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(conf)), func(k string) bool { return !isDriveKey(k) })
}

// drive is a parsed disk line: a volume and its options.
type drive struct {
	file string
	opts map[string]string
}

func parseDrive(v string) drive {
	d := drive{opts: map[string]string{}}
	for i, part := range strings.Split(v, ",") {
		k, val, keyed := strings.Cut(part, "=")
		switch {
		case !keyed && i == 0 || !keyed && d.file == "" && part != "":
			d.file = part
		case k == "file" || k == "volume":
			d.file = val
		case keyed:
			d.opts[k] = val
		}
	}
	return d
}

// String returns the line as the server writes it: the volume, the path that a mount
// point has, then sorted options.
func (d drive) String() string { return d.file + withFirst("mp", d.opts) }

// withFirst returns options as a property string has them after its first value: one
// of them first, then the others, sorted.
func withFirst(first string, opts map[string]string) string {
	out := ""
	if v, ok := opts[first]; ok {
		out = "," + first + "=" + v
	}
	for _, k := range slices.Sorted(maps.Keys(opts)) {
		if k != first {
			out += "," + k + "=" + opts[k]
		}
	}
	return out
}

func (d drive) cdrom() bool { return d.opts["media"] == "cdrom" }

func (d drive) cloudinit() bool {
	return d.cdrom() && strings.Contains(d.file, "cloudinit") || strings.HasSuffix(d.file, ":cloudinit")
}

func (d drive) size() int64 {
	n, err := parseSize(d.opts["size"])
	if err != nil {
		return 0
	}
	return n
}

// bootDrives is the order in which drives are searched.
func bootDrives() []string {
	var out []string
	for _, b := range []struct {
		name string
		n    int
	}{{"ide", 4}, {"scsi", 31}, {"virtio", 16}, {"sata", 6}} {
		for i := range b.n {
			out = append(out, b.name+strconv.Itoa(i))
		}
	}
	return out
}

// defaultBoot returns the boot order of a new guest: first disk, first CD,
// first NIC.
func defaultBoot(conf map[string]string) string {
	var out []string
	for _, cd := range []bool{false, true} {
		for _, k := range bootDrives() {
			if v, ok := conf[k]; ok && parseDrive(v).cdrom() == cd {
				out = append(out, k)
				break
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		if strings.HasPrefix(k, "net") && isIndexed(k, "net") {
			out = append(out, k)
			break
		}
	}
	return printBoot(out)
}

func printBoot(devs []string) string {
	if len(devs) == 0 {
		return " "
	}
	return "order=" + strings.Join(devs, ";")
}

func bootOrder(conf map[string]string) []string {
	_, list, ok := strings.Cut(conf["boot"], "order=")
	if !ok {
		return nil
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' })
}

func isIndexed(key, base string) bool {
	rest, ok := strings.CutPrefix(key, base)
	if !ok || rest == "" {
		return false
	}
	_, err := strconv.Atoi(rest)
	return err == nil
}

func (w *cluster) bootDiskSize(g *Guest) int64 {
	if g.container() {
		return w.rootSize(g)
	}
	keys := bootOrder(g.Config)
	if len(keys) == 0 {
		keys = bootDrives()
	}
	for _, k := range keys {
		if v, ok := g.Config[k]; ok && isDriveKey(k) && !parseDrive(v).cdrom() {
			return parseDrive(v).size()
		}
	}
	return 0
}

func (g *Guest) container() bool { return g.Type == "lxc" }

// label returns how messages call a guest before its VMID.
func (g *Guest) label() string {
	if g.container() {
		return "CT"
	}
	return "VM"
}

// taken returns the error of a guest whose VMID exists.
func (g *Guest) taken() error {
	return failf("%s %d already exists on node '%s'", g.label(), g.VMID, g.Node)
}

func (g *Guest) name() string {
	if g.container() {
		if n := g.Config["hostname"]; n != "" {
			return n
		}
		return fmt.Sprintf("CT%d", g.VMID)
	}
	if n := g.Config["name"]; n != "" {
		return n
	}
	return fmt.Sprintf("VM %d", g.VMID)
}

func (g *Guest) status() string {
	if g.Running {
		return "running"
	}
	return "stopped"
}

func (g *Guest) template() bool { return g.Config["template"] == "1" }

func (g *Guest) maxMemory() int64 {
	return parseMemory(g.Config["memory"])
}

// parseMemory returns the memory of an entry, which may be empty.
func parseMemory(entry string) int64 {
	return int64(atoi(strings.TrimPrefix(cmp.Or(entry, "512"), "current="))) * mib
}

// memory returns the memory that a running guest uses: a fraction of its memory
// that depends on its VMID.
func (g *Guest) memory() int64 {
	return g.maxMemory() / int64(4+g.VMID%5)
}

// vcpus returns the CPUs that a guest can have.
func (g *Guest) vcpus() int {
	return max(atoi(g.Config["cores"]), 1) * max(atoi(g.Config["sockets"]), 1)
}

func (w *cluster) cpus(g *Guest) int {
	if g.container() {
		return w.containerCPUs(g)
	}
	n := g.vcpus()
	if v := atoi(g.Config["vcpus"]); v > 0 {
		n = v
	}
	if node := w.node(g.Node); node != nil && n > node.CPUs {
		n = node.CPUs
	}
	return n
}

func (g *Guest) serial() bool {
	for i := range 4 {
		if _, ok := g.Config["serial"+strconv.Itoa(i)]; ok {
			return true
		}
	}
	return false
}

func (g *Guest) agentEnabled() bool {
	v := g.Config["agent"]
	first, _, _ := strings.Cut(v, ",")
	first = strings.TrimPrefix(first, "enabled=")
	return first == "1"
}

func (g *Guest) locked() error {
	if l := g.Config["lock"]; l != "" {
		return failf("%s is locked (%s)", g.label(), l)
	}
	return nil
}

func (g *Guest) protected(what string) error {
	if g.Config["protection"] == "1" {
		return failf("%s - protection mode enabled", what)
	}
	return nil
}

// digest returns the checksum of the configuration as it would be written to
// its file.
func (g *Guest) digest() string {
	h := sha1.New()
	section := func(name string, m map[string]string) {
		_, _ = fmt.Fprintf(h, "[%s]\n", name) // a hash never fails
		for _, k := range slices.Sorted(maps.Keys(m)) {
			_, _ = fmt.Fprintf(h, "%s: %s\n", k, m[k])
		}
	}
	section("", g.Config)
	section("PENDING", g.Pending)
	section("DELETE", g.Deleted)
	section("CLOUDINIT", g.CloudInit)
	for _, s := range g.Snapshots {
		section(s.Name, s.Config)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func cloneMap(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
