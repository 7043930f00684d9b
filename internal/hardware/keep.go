package hardware

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// Keep is the list of devices in the spec of a VM, in which those that are named are as the
// VM has them: lines of a spec, or nil if none can say it.
func (r *Reading) Keep(v *schema.VM, key string, devices []string) []string {
	if key == guest.Disks {
		return r.Disks(v, r.WithDisks(v, devices))
	}
	f := schema.VMField(key)
	list := &schema.Node{Shape: schema.ShapeList, Items: slices.Clone(v.Values.Get(key).List())}
	for _, d := range named(f, r.values[key]) {
		if slices.Contains(devices, d.name) {
			list.Items = append(list.Items, d.value)
		}
	}
	if value := (&comparison{}).pruned(f, list, nil); len(schema.CheckProperty(guest.VM, key, value)) == 0 {
		return []string{assignment(f, value)}
	}
	return nil
}

// WithDisks are the disks of the spec, of which those that are named are as the VM has them.
func (r *Reading) WithDisks(v *schema.VM, names []string) []*schema.Node {
	out := slices.Clone(v.Values.Get(guest.Disks).List())
	for _, d := range r.values[guest.Disks].List() {
		i := slices.IndexFunc(out, at(d))
		switch {
		case !slices.Contains(names, d.Get(guest.Interface).Str()):
		case i < 0:
			out = append(out, d)
		default:
			out[i] = d
		}
	}
	return arranged(out, v.Values.Get(guest.Disks).List()).Items
}

// Disks are the lines of a spec that give a VM some disks, and leave its cloud-init drive
// where it is: without a datastore of its own, the drive follows the first disk.
func (r *Reading) Disks(v *schema.VM, disks []*schema.Node) []string {
	f := schema.VMField(guest.Disks)
	value := (&comparison{}).pruned(f, &schema.Node{Shape: schema.ShapeList, Items: disks}, nil)
	if len(disks) == 0 || len(schema.CheckProperty(guest.VM, f.Key, value)) > 0 {
		return nil
	}
	out := []string{assignment(f, value)}
	if line := r.driveLine(v, disks[0]); line != "" {
		out = append(out, line)
	}
	return out
}

// driveLine is the line that keeps the cloud-init drive on its datastore, if the spec does not
// say which one that is and the first disk of the VM is on another one; else "".
func (r *Reading) driveLine(v *schema.VM, first *schema.Node) string {
	f := schema.VMField(guest.CloudInit)
	drive := r.values[f.Key].Get(guest.Datastore)
	if !v.DriveFollows || drive == nil || first.Get(guest.Datastore).Str() == drive.Str() {
		return ""
	}
	key := schema.Scalar(v.Pos, schema.ShapeString, guest.Datastore)
	return assignment(f, (&comparison{}).pruned(f, v.Values.Get(f.Key).With(key, drive), nil))
}

// arranged are disks in the order of the spec, in which those that only the VM has are before
// the ones with later interfaces.
func arranged(disks, spec []*schema.Node) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeList}
	var others []*schema.Node
	for _, d := range spec {
		if i := slices.IndexFunc(disks, at(d)); i >= 0 {
			out.Items = append(out.Items, disks[i])
		}
	}
	for _, d := range disks {
		if !slices.ContainsFunc(spec, at(d)) {
			others = append(others, d)
		}
	}
	for _, d := range others {
		i := slices.IndexFunc(out.Items, func(other *schema.Node) bool {
			return natural.Compare(d.Get(guest.Interface).Str(), other.Get(guest.Interface).Str()) < 0
		})
		if i < 0 {
			i = len(out.Items)
		}
		out.Items = slices.Insert(out.Items, i, d)
	}
	return out
}

// at reports whether another disk has the interface of a disk.
func at(d *schema.Node) func(*schema.Node) bool {
	return func(other *schema.Node) bool { return other.Get(guest.Interface).Str() == d.Get(guest.Interface).Str() }
}

// ByPosition reports whether a plan has a change only because a disk has another position in
// the list than before: the provider computes the format that a spec does not say by its
// position, and sends none of a disk that exists.
func ByPosition(v *schema.VM, c tf.Change) bool {
	return v != nil && c.Path == "disk.file_format" && v.Disk(c.Device) != nil && v.Disk(c.Device).Get(guest.Format) == nil
}
