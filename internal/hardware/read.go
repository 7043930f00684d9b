package hardware

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A Reading is the configuration of a VM or a container as properties of a spec. A property without
// a value has nothing that the provider reads.
type Reading struct {
	kind        guest.Kind
	vmid        int
	node        string
	raw         map[string]string
	values      map[string]*schema.Node
	shows       map[string][]string // entries of the configuration, by property
	unsupported []Difference        // what a spec cannot express
	skip        map[string]bool     // properties that an unsupported entry belongs to
	password    bool                // cloud-init sets one
	unknown     []unknown           // options that the provider does not read
	nodes       *schema.Node        // NUMA nodes that the provider reads, also where no spec can have them
}

// Entries of the table for facts that no entry of a configuration has.
const (
	entryStatus = "status"
	entryPool   = "pool"
	entryDrive  = "cloudinit" // datastore and interface of the cloud-init drive
)

// Read reads the configuration of a guest, which must be in the inventory.
func Read(g *cluster.Guest) *Reading {
	r := &Reading{
		kind:     cmp.Or(g.Kind, guest.VM),
		vmid:     g.VMID,
		node:     g.Node,
		raw:      maps.Clone(g.Config.Raw),
		values:   map[string]*schema.Node{},
		shows:    map[string][]string{},
		skip:     map[string]bool{},
		password: g.Config.Password,
	}
	if r.raw == nil {
		r.raw = map[string]string{}
	}
	if r.kind == guest.Container {
		r.container(g)
		return r
	}
	r.secrets()
	r.raw[entryStatus] = fmt.Sprint(g.Status == "running")
	if g.Pool != "" {
		r.raw[entryPool] = g.Pool
	}
	for i := range schema.VMFields {
		switch f := &schema.VMFields[i]; f.Key {
		case guest.Disks:
			r.disks(f)
		case guest.CloudInit:
			r.cloudInit(f, g.Config.Password)
		default:
			r.property(f)
		}
	}
	r.shows[guest.Started] = []string{"status=" + g.Status}
	r.limits()
	r.implied()
	r.others()
	return r
}

// get returns an entry, or an option of one.
func (r *Reading) get(path string) (string, bool) {
	key, option, deeper := strings.Cut(path, "/")
	text, ok := r.raw[key]
	if ok && deeper {
		return pve.Parse(text).Get(option)
	}
	return text, ok
}

// Set is the command that sets options of the guest, which are quoted for a shell already.
func (r *Reading) Set(options ...string) string {
	return pve.Pvesh("set", r.kind.Path(r.node, r.vmid, "config"), options...)
}

// SetAll is the command that writes settings.
func (r *Reading) SetAll(settings []cluster.Setting) string {
	var options []string
	for _, s := range settings {
		options = append(options, "--"+s.Key+" "+shell.Word(s.Value))
	}
	return r.Set(options...)
}

// property reads a property as its row describes it.
func (r *Reading) property(f *schema.Field) {
	switch {
	case f.PVE == "":
	case strings.HasSuffix(f.PVE, "*"):
		r.list(f)
	case f.Type == schema.Object:
		r.object(f)
	default:
		r.single(f)
	}
}

// single reads a property that is an entry, or an option of one.
func (r *Reading) single(f *schema.Field) {
	key, _, isOption := strings.Cut(f.PVE, "/")
	text, ok := r.raw[key]
	if !ok && f.Implied != "" {
		settings := []cluster.Setting{{Key: key, Value: f.Implied}}
		if key == "memory" && r.kind == guest.VM && r.raw["balloon"] == "" {
			settings = append(settings, cluster.Setting{Key: "balloon", Value: f.Implied}) // the same as none, and not the provider's default
		}
		r.unset(f.Key, key,
			fmt.Sprintf("a spec always sets `%s`; setting it to %s, which Proxmox VE uses now, does not change the %s",
				f.Key, f.Implied, r.kind.Name()),
			settings...)
		return
	}
	if text != "" {
		r.shows[f.Key] = []string{key + "=" + text}
	}
	if f.Bare && isOption && ok {
		r.unknownOptions(key, pve.Parse(text), options(schema.Fields(r.kind), key+"/"))
	}
	r.values[f.Key] = value(f, r.get)
}

// object reads a property that is an entry with options.
func (r *Reading) object(f *schema.Field) {
	text, ok := r.raw[f.PVE]
	switch {
	case ok:
		r.shows[f.Key] = []string{f.PVE + "=" + text}
		e, more := parseAs(f, f.PVE, text)
		n := r.entry(f, f.PVE, e, more)
		if i := slices.IndexFunc(f.Fields, func(sub schema.Field) bool { return sub.Key == f.On && sub.PVE == "" }); i >= 0 {
			// The entry itself is the switch.
			n = n.With(&schema.Node{Shape: schema.ShapeString, Text: f.On}, &schema.Node{Shape: schema.ShapeBool, Text: "true"})
		}
		r.values[f.Key] = n
	case f.On != "":
		r.values[f.Key] = value(f, func(string) (string, bool) { return "", false })
	}
}

// list reads a property that is a numbered list of entries.
func (r *Reading) list(f *schema.Field) {
	name := strings.TrimSuffix(f.PVE, "*")
	list := &schema.Node{Shape: schema.ShapeList}
	for i, key := range r.numbered(name) {
		r.shows[f.Key] = append(r.shows[f.Key], key+"="+r.raw[key])
		e, more := parseAs(f, key, r.raw[key])
		slotted := slices.ContainsFunc(f.Elem.Fields, func(sub schema.Field) bool { return sub.PVE == schema.Slot })
		if slotted {
			more = append(more, pve.Option{Name: schema.Slot, Value: key})
		}
		if want := name + strconv.Itoa(i); key != want && !slotted && !r.skip[f.Key] {
			r.refuse(f.Key, key+"="+r.raw[key], "there is no "+want+", and a spec cannot leave out a number: move the later ones down")
		}
		list.Items = append(list.Items, r.entry(f, key, e, more))
	}
	r.values[f.Key] = list
}

// entry reads the options of one entry of a property, and more that it does not have as options.
func (r *Reading) entry(f *schema.Field, key string, e, more pve.Entry) *schema.Node {
	of := f
	if f.Type == schema.List {
		of = f.Elem
	}
	known := append(options(of.Fields, ""), f.Unread...)
	if f.Key == guest.Disks && e.Has("queues") { // the provider reads it
		known = append(known, "queues")
		r.refuse(f.Key, key+"="+r.raw[key], noOption("queues"))
	}
	r.unknownOptions(key, e, known)
	if f.Key == guest.Agent { // whether it freezes file systems for a backup
		for _, o := range e {
			if slices.Contains(f.Unread, o.Name) {
				r.noteUnknown(key, o)
			}
		}
	}
	return value(of, append(more, e...).Get)
}

// unknownOptions notes the options of an entry that no row of the table reads.
func (r *Reading) unknownOptions(key string, e pve.Entry, known []string) {
	for _, o := range e {
		if !slices.Contains(known, o.Name) {
			r.doubt(key+"="+r.raw[key], noOption(o.Name))
			r.noteUnknown(key, o)
		}
	}
}

func noOption(name string) string {
	return fmt.Sprintf("a spec has no property for the option %q", name)
}

// options are the options of an entry that rows of the table read.
func options(fields []schema.Field, prefix string) []string {
	var out []string
	for i := range fields {
		f := &fields[i]
		if f.PVE == "" {
			out = append(out, options(f.Fields, prefix)...)
		} else if name, ok := strings.CutPrefix(f.PVE, prefix); ok {
			out = append(out, name)
			if f.Bare {
				out = append(out, "")
			}
		}
	}
	return out
}

// value is the value of a property, read by the names of its entries or options.
func value(f *schema.Field, get func(string) (string, bool)) *schema.Node {
	if f.Type == schema.Object {
		out := &schema.Node{Shape: schema.ShapeMap}
		for i := range f.Fields {
			sub := &f.Fields[i]
			out = out.With(&schema.Node{Shape: schema.ShapeString, Text: sub.Key}, value(sub, get))
		}
		return out
	}
	text, ok := "", false
	if f.PVE != "" {
		text, ok = get(f.PVE)
	}
	if !ok && f.Bare {
		text, ok = get(f.PVE[:strings.LastIndexByte(f.PVE, '/')+1])
	}
	switch {
	case !ok:
		text = f.AbsentValue()
	case f.Type == schema.Bool:
		text = truth(text)
	}
	if f.Type == schema.List {
		return texts(items(f, text))
	}
	return scalar(f, text)
}

// items are the items of a list.
func items(f *schema.Field, text string) []string {
	if f.Key == guest.SSHKeys {
		text, _ = url.QueryUnescape(text) // publicKeys refuses what is invalid
	}
	var out []string
	for item := range strings.SplitSeq(text, cmp.Or(f.Sep, ";")) {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	if f.Sum {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}
