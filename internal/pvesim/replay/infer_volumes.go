package replay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"stackgen/internal/pvesim"
)

var attached = regexp.MustCompile(`^(?:file=)?([a-z][a-z0-9-]*:(?:\d+/)?(?:vm|base)-(\d+)-[a-z0-9.-]+)`)

// volumes reads storage contents, and volumes that a request attaches by name.
func (in *inferred) volumes(e *Exchange, get func(int) *trace) {
	if e.Method == http.MethodGet && strings.HasSuffix(e.api(), "/content") && e.ok() {
		in.contents(e, get)
	}
	_, _, vmid, rest := e.guest()
	if rest != "/config" || e.Method == http.MethodGet || !e.ok() {
		return
	}
	for _, v := range e.form {
		m := attached.FindStringSubmatch(fmt.Sprint(v))
		if m == nil || m[2] == strconv.Itoa(vmid) {
			continue
		}
		owner, err := strconv.Atoi(m[2])
		if err == nil && get(owner).conf == nil {
			in.addVolume(m[1], e, owner, 1<<30, "", "")
		}
	}
}

func (in *inferred) contents(e *Exchange, get func(int) *trace) {
	for _, m := range e.list() {
		id, vmid := fmt.Sprint(m["volid"]), number(m["vmid"])
		if m["content"] != "images" && m["content"] != "rootdir" || in.s.isForeign(in.one, vmid) || in.createdByScenario(vmid) {
			continue
		}
		t := get(vmid)
		if t.volid == "" && strings.Contains(id, "-disk-0") {
			t.volid = id
		}
		if t.written {
			continue
		}
		size := int64(0)
		if n, ok := m["size"].(json.Number); ok {
			if v, err := n.Int64(); err == nil {
				size = v
			}
		}
		parent, _ := m["parent"].(string)
		in.addVolume(id, e, vmid, size, fmt.Sprint(m["format"]), parent)
	}
}

func (in *inferred) addVolume(id string, e *Exchange, vmid int, size int64, format, parent string) {
	node := strings.Split(e.api(), "/")[2]
	storage, _, _ := strings.Cut(id, ":")
	for _, s := range in.seed.Storages {
		if s.ID == storage && s.Shared {
			node = ""
		}
	}
	for _, v := range in.seed.Volumes {
		if v.ID == id && v.Node == node {
			return
		}
	}
	if format == "" {
		format = "raw"
		if strings.HasSuffix(id, ".qcow2") {
			format = "qcow2"
		}
	}
	in.seed.Volumes = append(in.seed.Volumes, &pvesim.Volume{ID: id, Node: node, VMID: vmid, Size: pvesim.Size(size),
		Format: format, Parent: parent})
}

func asMaps(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, x := range list {
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
