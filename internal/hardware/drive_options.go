package hardware

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// driveOptions are the options that the provider sends for every disk with any change of it.
func driveOptions() []string {
	var out []string
	for _, f := range schema.VMField(guest.Disks).Elem.Fields {
		if f.Sent {
			out = append(out, f.Key)
		}
	}
	slices.Sort(out)
	return out
}

// WithDriveOptions is the same VM, with a note on the disks whose configuration lacks options
// that the provider sends: for Proxmox VE these are changes that need a restart, and a
// running VM then refuses to grow the disk. storage is the type of a storage, or "".
func (r *Reading) WithDriveOptions(storage func(id string) string) *Reading {
	out := *r
	out.unsupported = slices.Clone(r.unsupported)
	var settings []cluster.Setting
	for _, disk := range r.values[guest.Disks].List() {
		key := disk.Get(guest.Interface).Str()
		text := r.raw[key]
		if hidden(text) {
			continue
		}
		if value := withOptions(key, text, storage(disk.Get(guest.Datastore).Str())); value != text {
			settings = append(settings, cluster.Setting{Key: key, Value: value})
		}
	}
	if len(settings) > 0 {
		out.later("disks without options", "the provider sends "+strings.Join(driveOptions(), ", ")+
			" with any change of a disk, and a running VM then refuses to grow it; "+
			"setting them to what Proxmox VE uses now does not change the VM", settings...)
	}
	return &out
}

// withOptions is a drive with the options that it lacks, as Proxmox VE uses them now.
func withOptions(key, text, storage string) string {
	e := pve.Parse(text)
	var added pve.Entry
	for _, name := range driveOptions() {
		switch {
		case e.Has(name):
		case name == guest.IOThread && !strings.HasPrefix(key, "scsi") && !strings.HasPrefix(key, "virtio"):
		case name == guest.SSD && strings.HasPrefix(key, "virtio"):
		case name == guest.AIO:
			mode := defaultAIO(storage, cmp.Or(e.Option("cache"), "none"))
			if mode == "" {
				return text // not known
			}
			added = append(added, pve.Option{Name: name, Value: mode})
		default:
			added = append(added, pve.Option{Name: name, Value: absentOption(schema.FieldAt(guest.VM, guest.Disks+"."+name))})
		}
	}
	if len(added) == 0 {
		return text
	}
	out := slices.Concat(e, added)
	slices.SortFunc(out[1:], func(a, b pve.Option) int { return strings.Compare(a.String(), b.String()) })
	return out.String()
}

// absentOption is what a disk has without an option, as a configuration says it.
func absentOption(f *schema.Field) string {
	on, off, named := strings.Cut(f.As, "|")
	switch value := f.AbsentValue(); {
	case f.Type != schema.Bool:
		return value
	case !named && value == "true":
		return "1"
	case !named:
		return "0"
	case value == "true":
		return on
	default:
		return off
	}
}

// defaultAIO is how Proxmox VE reads and writes a disk whose configuration does not say it:
// with io_uring, except for storages that may block with it. It is empty where that depends on
// what an inventory does not have.
func defaultAIO(storage, cache string) string {
	direct := cache == "none" || cache == "directsync"
	switch {
	case storage == "", storage == "rbd" && !direct:
		return ""
	case !cluster.StorageTypeOf(storage).Threads:
		return schema.FieldAt(guest.VM, guest.Disks+"."+guest.AIO).Unset
	case direct:
		return "native"
	}
	return "threads"
}
