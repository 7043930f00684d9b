package hardware

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/schema"
)

// A Reading is what a VM's configuration says, by property of a spec. A
// property that is not there has nothing that the provider would read.
type Reading struct {
	vmid    int
	raw     map[string]string
	values  map[string]*schema.Node
	shows   map[string][]string // what stands in the configuration, by property
	refused []Difference        // what no spec can say
	spoiled map[string]bool     // properties that a refusal is about
}

// Read reads a VM's configuration, which must have been looked at.
func Read(g *cluster.Guest) *Reading {
	r := &Reading{vmid: g.VMID, raw: maps.Clone(g.Config.Raw), values: map[string]*schema.Node{}, shows: map[string][]string{}, spoiled: map[string]bool{}}
	if r.raw == nil {
		r.raw = map[string]string{}
	}
	r.raw["status"] = fmt.Sprint(g.Status == "running")
	r.secrets()
	for i := range single {
		r.single(&single[i])
	}
	for i := range families {
		switch f := &families[i]; f.Field {
		case "disks":
			r.disks(f)
		case "cloud_init":
			r.cloudInit(f, g.Config.Password)
		default:
			r.family(f)
		}
	}
	r.shows["started"] = []string{"status=" + g.Status}
	r.cpu()
	r.lists()
	r.pool(g)
	r.tidy()
	r.others()
	return r
}

// refuse notes what no spec can say.
func (r *Reading) refuse(name, config, reason string, way ...string) {
	r.spoiled[name] = true
	r.refused = append(r.refused, Difference{Field: name, Config: config, Reason: reason, Mend: way})
}

// secrets refuses what was left out of the look because it looks like a secret.
func (r *Reading) secrets() {
	for _, key := range slices.SortedFunc(maps.Keys(r.raw), schema.NaturalCompare) {
		if strings.Contains(r.raw[key], "(secret)") {
			r.refuse(key, key, "it holds what looks like a secret, which no spec may hold", fmt.Sprintf("qm set %d --%s TEXT-WITHOUT-IT", r.vmid, key))
		}
	}
}

func (r *Reading) single(w *row) {
	text, there := r.raw[w.Key]
	if there {
		r.shows[w.Field] = []string{w.Key + "=" + text}
	}
	switch f := field(w.Field); {
	case !there && w.Plain != "":
		way := fmt.Sprintf("qm set %d --%s %s", r.vmid, w.Key, w.Plain)
		if w.Key == "memory" && r.raw["balloon"] == "" {
			way += " --balloon " + w.Plain // which is what none means, and no default of the provider
		}
		r.refuse(w.Field, "no "+w.Key, "a spec cannot say that it has none; "+w.Plain+" is what Proxmox VE takes then, and writing it changes nothing in the VM", way)
		return
	case !there:
		text = w.Absent
	case f.Type == schema.Bool:
		text = truth(text)
	}
	r.values[w.Field] = scalar(field(w.Field), text)
}

// entry parts an entry into its options.
func (f *family) entry(text string) (map[string]string, []string) {
	options, order := map[string]string{}, []string(nil)
	for i, part := range strings.Split(text, ",") {
		name, value, named := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !named && i == 0 && f.First != "":
			name, value = f.First, name
		case f.Field == "networks" && i == 0 && name != "model":
			options["model"], order = name, append(order, "model")
			name = "macaddr"
			if !named {
				continue
			}
		}
		options[name], order = value, append(order, name)
	}
	return options, order
}

// doubt notes what the provider does not read: an import leaves it alone, and
// what becomes of it later is not known.
func (r *Reading) doubt(config, reason string) {
	r.refused = append(r.refused, Difference{Config: config, Reason: reason, quiet: true})
}

// object reads the options of one entry.
func (r *Reading) object(f *family, key string, options map[string]string, order []string) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeMap}
	elem := field(f.Field)
	if elem.Type == schema.List {
		elem = elem.Elem
	}
	for _, w := range f.Rows {
		if w.Field == "" {
			continue
		}
		text, there := options[w.Key]
		sub := fieldOf(elem.Fields, w.Field)
		switch {
		case !there:
			text = w.Absent
		case sub.Type == schema.Bool:
			text = truth(text)
		}
		if sub.Type == schema.List {
			out = set(out, w.Field, texts(strings.FieldsFunc(text, func(c rune) bool { return c == ';' })))
		} else {
			out = set(out, w.Field, scalar(sub, text))
		}
	}
	for _, name := range order {
		switch config, reason := key+"="+r.raw[key], "no spec has its option "+strconv.Quote(name); {
		case slices.ContainsFunc(f.Rows, func(w row) bool { return w.Key == name }):
		case f.Field == "disks" && name == "queues": // which the provider reads
			r.refuse(f.Field, config, reason)
		default:
			r.doubt(config, reason)
		}
	}
	return out
}

// numbered are the keys of a numbered entry that are there, in order.
func (r *Reading) numbered(name string) []string {
	var out []string
	for key := range r.raw {
		if rest, ok := strings.CutPrefix(key, name); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, schema.NaturalCompare)
	return out
}

// family reads one entry, or a numbered list that must have no gap.
func (r *Reading) family(f *family) {
	name := f.Keys[0]
	if f.Many == 0 {
		if text, there := r.raw[name]; there {
			r.shows[f.Field] = []string{name + "=" + text}
			options, order := f.entry(text)
			if f.First == volume {
				r.place(options)
			}
			r.values[f.Field] = r.object(f, name, options, order)
		} else if f.Field == "agent" || f.Field == "vga" {
			r.values[f.Field] = r.object(f, name, map[string]string{"type": map[string]string{"agent": "virtio", "vga": "std"}[f.Field]}, nil)
		}
		return
	}
	list := &schema.Node{Shape: schema.ShapeList}
	for i, key := range r.numbered(name) {
		r.shows[f.Field] = append(r.shows[f.Field], key+"="+r.raw[key])
		if want := name + strconv.Itoa(i); key != want && !r.spoiled[f.Field] {
			r.refuse(f.Field, key+"="+r.raw[key], "there is no "+want+", and a spec counts them without gaps: move the later ones down")
		}
		options, order := f.entry(r.raw[key])
		if f.Field == "networks" && strings.ToUpper(options["macaddr"]) != options["macaddr"] {
			delete(options, "macaddr") // a spec's are in upper case, and another case is a difference; unsaid it stays as it is
		}
		list.Items = append(list.Items, r.object(f, key, options, order))
	}
	r.values[f.Field] = list
}

// place reads where a volume lies, and its format if its name tells it.
func (r *Reading) place(options map[string]string) {
	store, path, ok := strings.Cut(options[volume], ":")
	if !ok {
		store, path = "", store
	}
	options["datastore"] = store
	if dot := strings.LastIndexByte(path, '.'); options["format"] == "" && dot >= 0 && !strings.Contains(path[dot:], "/") {
		options["format"] = path[dot+1:]
	}
}
