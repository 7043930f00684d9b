package replay

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// files adds the files on storages that the recording shows before it makes them.
func (in *inferred) files() {
	made := map[string]bool{}
	for i, e := range in.s.Exchanges {
		shown := in.filesOf(i, e)
		for _, id := range slices.Sorted(maps.Keys(shown)) {
			if !made[id] {
				in.addFile(e, id, shown[id])
			}
			made[id] = true
		}
		if id := e.volumeOf(); id != "" && e.ok() {
			if !made[id] && in.s.keeps(i) {
				in.addFile(e, id, nil)
			}
			made[id] = true
		}
	}
}

// filesOf returns the files that an exchange shows, with what it shows of each: in a list, by
// its attributes, or as an image that fills a drive.
func (in *inferred) filesOf(i int, e *Exchange) map[string]map[string]any {
	out := map[string]map[string]any{}
	if !e.ok() {
		return out
	}
	_, volume, attributes := strings.Cut(e.api(), "/content/")
	switch {
	case strings.HasSuffix(e.api(), "/lxc") && e.Method == http.MethodPost:
		if in.s.exitStatus(i) == "OK" {
			out[e.str("ostemplate")] = nil
		}
	case e.Method != http.MethodGet:
		for _, v := range e.form {
			_, id, _ := strings.Cut(fmt.Sprint(v), "import-from=")
			if id, _, _ = strings.Cut(id, ","); isFile(id) && !strings.Contains(in.s.exitStatus(i), "failed to stat") {
				out[id] = nil
			}
		}
	case attributes && isFile(volume):
		if m, ok := e.data().(map[string]any); ok {
			out[volume] = map[string]any{"size": m["used"]}
		}
	case strings.HasSuffix(e.api(), "/content"):
		for _, m := range e.list() {
			if m["content"] != "images" && m["content"] != "rootdir" {
				out[fmt.Sprint(m["volid"])] = m
			}
		}
	}
	return out
}

// isFile reports whether a volume is a file that belongs to no guest.
func isFile(id string) bool {
	_, name, _ := strings.Cut(id, ":")
	kind, _, in := strings.Cut(name, "/")
	return in && (kind == "iso" || kind == "vztmpl" || kind == "import")
}

// addFile adds a file with the figures of a list, and the checksums that the recording shows.
func (in *inferred) addFile(e *Exchange, id string, m map[string]any) {
	node := strings.Split(e.api(), "/")[2]
	storage, name, _ := strings.Cut(id, ":")
	kind, _, _ := strings.Cut(name, "/")
	format, _ := m["format"].(string)
	if format == "" {
		format = map[string]string{"iso": "iso", "vztmpl": "t" + strings.TrimPrefix(path.Ext(id), ".")}[kind]
	}
	v := &pvesim.Volume{ID: id, Node: node, Size: pvesim.Size(cmp.Or(int64(number(m["size"])), in.s.sizeOf(id, 0), 1<<20)),
		Content: kind, Format: cmp.Or(format, strings.TrimPrefix(path.Ext(id), ".")), Disk: pvesim.Size(in.s.diskOf(id)),
		Sums: map[string]string{}}
	for _, s := range in.seed.Storages {
		if s.ID == storage && s.Shared {
			v.Node = ""
		}
	}
	for i, x := range in.s.Exchanges {
		if x.volumeOf() != id || !in.s.keeps(i) {
			continue
		}
		algorithm, exit := x.str("checksum-algorithm"), in.s.exitStatus(i)
		if got := gotSum.FindStringSubmatch(exit); got != nil {
			v.Sums[algorithm] = got[1]
		} else if exit == "OK" {
			v.Sums[algorithm] = x.str("checksum")
		}
	}
	for _, have := range in.seed.Volumes {
		if have.ID == id && have.Node == v.Node {
			return
		}
	}
	in.seed.Volumes = append(in.seed.Volumes, v)
}
