package replay

import (
	"fmt"
	"strings"
)

// list compares two lists: logs line by line, other lists by the identity of
// their elements, because the order varies.
func (c *comparison) list(path, key string, want, got []any) {
	if varying(key) {
		return
	}
	if isLog(want) || isLog(got) {
		c.logLines(path, want, got)
		return
	}
	if key == "data" && strings.HasSuffix(c.e.api(), "/tasks") {
		c.tasks(path, want, got)
		return
	}
	w, worder := c.index(want)
	g, gorder := c.index(got)
	for _, id := range worder {
		other, ok := g[id]
		if !ok {
			c.addf("%s[%s]: missing", path, id)
			continue
		}
		c.value(path+"["+id+"]", key, w[id], other)
	}
	for _, id := range gorder {
		if _, ok := w[id]; !ok {
			c.addf("%s[%s]: not wanted", path, id)
		}
	}
}

func (c *comparison) index(list []any) (map[string]any, []string) {
	out := map[string]any{}
	var order []string
	for i, v := range list {
		id, skip := c.identity(i, v)
		if skip {
			continue
		}
		for n := 2; out[id] != nil; n++ {
			id = fmt.Sprintf("%s#%d", strings.SplitN(id, "#", 2)[0], n)
		}
		out[id] = v
		order = append(order, id)
	}
	return out, order
}

// identity returns the key of a list element, or "" for another user's guest.
func (c *comparison) identity(i int, v any) (string, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprint(v), false
	}
	if c.p.one {
		pool, _ := m["poolid"].(string)
		if pool == "" {
			pool, _ = m["pool"].(string)
		}
		volid, _ := m["volid"].(string)
		if c.p.s.isForeign(true, number(m["vmid"])) || strings.HasPrefix(pool, "p7-") || strings.Contains(volid, "p7") {
			return "", true
		}
	}
	if to, ok := m["ugid"]; ok {
		return fmt.Sprint(m["path"], " ", to, " ", m["roleid"]), false
	}
	for _, k := range []string{"volid", "id", "poolid", "vmid", "name", "subdir", "key", "storage", "userid", "tokenid", "roleid", "realm",
		"iface", "sid", "group", "drivename", "node"} {
		if x, ok := m[k]; ok {
			id := fmt.Sprint(x)
			if k == "id" && m["type"] == "pool" {
				return id, false
			}
			if r, ok := m["roleid"]; ok && k != "roleid" {
				id += "/" + fmt.Sprint(r)
			}
			return id, false
		}
	}
	if p, ok := m["path"]; ok {
		return fmt.Sprint(p, m["ugid"], m["roleid"]), false
	}
	return fmt.Sprint(i), false
}

func isLog(list []any) bool {
	if len(list) == 0 {
		return false
	}
	m, ok := list[0].(map[string]any)
	if !ok {
		return false
	}
	_, n := m["n"]
	_, t := m["t"]
	return n && t && len(m) == 2
}

// logLines compares a task log; the number of progress lines varies.
func (c *comparison) logLines(path string, want, got []any) {
	w, g := lines(want), lines(got)
	for i := 0; i < len(w) || i < len(g); i++ {
		switch {
		case i >= len(g):
			c.addf("%s line %d: missing %q", path, i+1, w[i])
		case i >= len(w):
			c.addf("%s line %d: not wanted %q", path, i+1, g[i])
		case w[i] != g[i]:
			c.addf("%s line %d: want %q, got %q", path, i+1, w[i], g[i])
		default:
			continue
		}
		return
	}
}

func lines(list []any) []string {
	var out []string
	for _, v := range list {
		m, _ := v.(map[string]any)
		t, _ := m["t"].(string)
		t = normal(t)
		if progress.MatchString(t) {
			continue
		}
		out = append(out, t)
	}
	return out
}

// tasks compares task lists: the tasks that this scenario started must be in
// them, with the same fields and exit status. Older tasks are unknown.
func (c *comparison) tasks(path string, want, got []any) {
	here := map[string]map[string]any{}
	var any0 map[string]any
	for _, v := range got {
		if m, ok := v.(map[string]any); ok {
			here[fmt.Sprint(m["upid"])] = m
			any0 = m
		}
	}
	for _, v := range want {
		m, ok := v.(map[string]any)
		if !ok {
			continue
		}
		upid := fmt.Sprint(m["upid"])
		mine, ok := c.p.ids[upid]
		if !ok {
			continue
		}
		other, ok := here[mine]
		if !ok {
			c.addf("%s[%s]: missing", path, normal(upid))
			continue
		}
		delete(m, "saved")
		delete(other, "saved")
		c.object(path+"["+normal(upid)+"]", m, other)
	}
	if len(want) == 0 && any0 != nil {
		c.addf("%s: want none, got %s", path, short(any0))
	}
}
