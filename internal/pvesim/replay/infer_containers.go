package replay

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"stackgen/internal/pvesim"
)

// cloneConfig returns the configuration of a container that the recording shows only by one of its
// clones: what no request set of that one, or nil.
func (in *inferred) cloneConfig(vmid int) map[string]string {
	newid, touched := 0, map[string]bool{}
	for _, e := range in.s.Exchanges {
		_, kind, id, rest := e.guest()
		switch {
		case kind == "lxc" && id == vmid && rest == "/clone" && e.ok() && newid == 0:
			newid = number(e.str("newid"))
		case newid == 0 || id != newid || !e.ok():
		case e.Method != http.MethodGet:
			for k := range e.form {
				touched[k] = true
			}
		case rest == "/config":
			return sourceOf(e, vmid, newid, touched)
		}
	}
	return nil
}

// sourceOf returns the configuration of a container by that of its clone.
func sourceOf(e *Exchange, vmid, newid int, touched map[string]bool) map[string]string {
	out := map[string]string{"hostname": fmt.Sprintf("CT%d", vmid), "memory": "512"}
	conf, _ := e.data().(map[string]any)
	for k, v := range conf {
		text := fmt.Sprint(v)
		switch {
		case k == "digest", touched[k] && k != "net0":
		case k == "rootfs" || strings.HasPrefix(k, "mp"):
			out[k] = strings.ReplaceAll(text, strconv.Itoa(newid), strconv.Itoa(vmid))
		default:
			out[k] = text
		}
	}
	return out
}

// fileSystem sets the size of the file system of a container whose volume grew before the recording
// and whose file system did not, as its status shows while it runs.
func (in *inferred) fileSystem(g *pvesim.Guest) {
	const gib = 1 << 30
	rootfs := g.Config["rootfs"]
	file, size := volumeIn(rootfs)
	if g.Type != "lxc" || file == "" {
		return
	}
	for _, e := range in.s.Exchanges {
		_, _, vmid, rest := e.guest()
		m, _ := e.data().(map[string]any)
		switch {
		case vmid != g.VMID || !e.ok():
		case rest == "/resize":
			return
		case rest == "/status/current" && m["status"] == "running":
			total := int64(number(m["maxdisk"]))
			for fs := pvesim.Size(gib); fs < size; fs += gib {
				if pvesim.FileSystemTotal(fs) == total {
					in.seed.Volumes = append(in.seed.Volumes, &pvesim.Volume{ID: file, Node: g.Node, VMID: vmid, Size: size, FS: fs, Format: "raw"})
				}
			}
			return
		}
	}
}

// volumeIn returns the volume of a mount point and its size.
func volumeIn(line string) (string, pvesim.Size) {
	file, size := "", pvesim.Size(0)
	for part := range strings.SplitSeq(line, ",") {
		k, v, keyed := strings.Cut(part, "=")
		switch {
		case !keyed:
			file = part
		case k == "volume":
			file = v
		case k == "size":
			n, err := pvesim.ParseSize(v)
			if err == nil {
				size = n
			}
		}
	}
	return file, size
}

// movedVolume moves the volumes of a container to the storages in its recorded configuration, as an
// administrator's unrecorded step did.
func (p *player) movedVolume(e *Exchange, got any) bool {
	_, kind, vmid, rest := e.guest()
	want, _ := e.data().(map[string]any)
	m, _ := got.(map[string]any)
	have, _ := m["data"].(map[string]any)
	if kind != "lxc" || rest != "/config" || e.Method != http.MethodGet || !e.ok() || have == nil {
		return false
	}
	moved := false
	for k, v := range want {
		from, _ := volumeIn(fmt.Sprint(have[k]))
		to, _ := volumeIn(fmt.Sprint(v))
		there, _, _ := strings.Cut(from, ":")
		here, _, _ := strings.Cut(to, ":")
		if k != "rootfs" && !strings.HasPrefix(k, "mp") || have[k] == nil || there == here {
			continue
		}
		p.sim.Change(func(s *pvesim.Seed) {
			for _, x := range s.Volumes {
				if x.ID == from {
					x.ID = to
				}
			}
			pvesimGuest(s, vmid).Config[k] = fmt.Sprint(v)
		})
		p.log("%s of %d is on %s before %d", k, vmid, here, e.Seq)
		moved = true
	}
	return moved
}
