package guard

import (
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// images judges the images of a Template.
func (j *judge) images(at *place) {
	for i := range at.lock.VMs {
		if e := &at.lock.VMs[i]; e.Value.Image != nil {
			j.image(at, e.Key, &e.Value)
		}
	}
}

// image judges the image of one template.
func (j *judge) image(at *place, key string, e *lock.VM) {
	states, unreadable := j.find(at, lock.UnitVM, guest.FileResource, key)
	file, read := j.Inventory.Image(e.Image.Datastore, e.Node, e.Image.File)
	leaves := j.Destroy || e.Status != lock.Live
	if leaves && unreadable == "" && len(states) == 0 {
		return
	}
	f := j.add(at, lock.UnitVM, finding.Image, key)
	f.Resource, f.Node, f.Name = lock.ImageAddress(key), e.Node, e.Image.File
	volume := e.Image.Datastore + ":import/" + e.Image.File
	f.Because("%s on node %s", volume, e.Node)
	switch {
	case unreadable != "":
		j.stateUnknown(f, unreadable)
	case e.Status == lock.Forgotten:
		f.Is(finding.WouldDestroy, finding.Why("forgotten-in-state"))
		f.Add(finding.DoAll("remove it from the state", lock.StateRemove(at.Name, lock.UnitVM, states[0].Address)))
	case j.otherOwner(at, key, e) != "" && (leaves || len(states) == 0):
		f.Is(finding.Conflict, finding.Why("image-of-other", j.otherOwner(at, key, e)))
		if leaves {
			f.Add(finding.DoAll("leave the file to that one: remove it from the state", lock.StateRemove(at.Name, lock.UnitVM, states[0].Address)))
		} else {
			f.Next("give each template a file of its own: write another `file_name`, `download` or node into " + at.Spec)
		}
	case leaves && read && file == nil:
		f.Is(finding.Retiring, finding.Why("destroyed-already"))
	case j.Destroy:
		f.Is(finding.Retiring, finding.Why("image-destroyed"))
	case leaves:
		f.Is(finding.Retiring, finding.Why("retired"))
	case len(states) > 0 && read && file == nil:
		f.Is(finding.Gone, finding.Why("image-gone"))
		f.Add(finding.DoAll("to download it again, remove it from the state; then run preflight again",
			lock.StateRemove(at.Name, lock.UnitVM, states[0].Address)))
	case len(states) > 0 && !e.ImageSeen && !j.isMade(at.Name, key) && otherImage(states[0].Image, *e.Image):
		f.Is(finding.Conflict, finding.Why("image-downloaded-before", states[0].Image.String()))
		f.Next("remove the file, then run preflight again: it has the line after which the image is downloaded again",
			pve.Pvesh("delete", "/nodes/"+e.Node+"/storage/"+e.Image.Datastore+"/content/"+volume))
	case len(states) > 0:
		f.Is(finding.Managed, finding.Why("agrees"))
	case file == nil && j.download(e) != nil:
		busyImage(f, j.download(e))
	case file == nil:
		f.Is(finding.Create, finding.Why("image-free"))
	case e.ImageSeen || j.isMade(at.Name, key):
		f.Is(finding.Adopt, finding.Why("in-no-state"))
		f.Import = e.Node + "/" + volume
	case j.beganImage(at.Name, key, e) && e.Image.Checksum != "":
		f.Is(finding.Create, finding.Why("image-left")) // Proxmox VE compares the checksum, and takes the file
	default:
		j.foreignImage(f, at, e, j.beganImage(at.Name, key, e))
	}
}

// otherImage reports whether what was downloaded is certainly not the image that the spec says: somebody has corrected that
// before a template was made.
func otherImage(was, is schema.Image) bool {
	return was.URL != "" && was.URL != is.URL || was.Checksum != "" && is.Checksum != "" && !strings.EqualFold(was.Checksum, is.Checksum)
}

// otherOwner is another template of the project, as STACK/KEY, whose image is the same file; "" if
// there is none. A state that has the file deletes it with its template.
func (j *judge) otherOwner(at *place, key string, e *lock.VM) string {
	for i := range j.Lock.Stacks {
		stack, vms := j.Lock.Stacks[i].Key, j.Lock.Stacks[i].Value.VMs
		for k := range vms {
			other := &vms[k].Value
			if other.Image == nil || other.Status != lock.Live || stack == at.Name && vms[k].Key == key {
				continue
			}
			s := j.Inventory.Storage(e.Image.Datastore, e.Node)
			same := other.Image.Datastore == e.Image.Datastore && other.Image.File == e.Image.File
			if same && (other.Node == e.Node || s != nil && s.Shared) {
				return stack + "/" + vms[k].Key
			}
		}
	}
	return ""
}

// busyImage is an image while a node downloads a file of its name.
func busyImage(f *finding.Finding, t *cluster.Task) {
	f.Is(finding.Busy, finding.Why("image-downloading"))
	f.Because("task %s of %s is running on %s", t.Type, t.User, t.Node)
	at := "/nodes/" + t.Node + "/tasks/" + t.UPID
	f.Next("wait until it has ended, then run preflight again", pve.Pvesh("get", at+"/status"))
	f.Next("or, if its log shows no progress, stop it, then run preflight again", pve.Pvesh("get", at+"/log"), pve.Pvesh("delete", at))
}

// download is a running task that downloads a file with the name of an image, or nil: Proxmox VE shows
// the file when it is complete. Another download would fetch it twice. No list says to which storage a
// download goes, and without Sys.Audit on / the token sees no task.
func (j *judge) download(e *lock.VM) *cluster.Task {
	s := j.Inventory.Storage(e.Image.Datastore, e.Node)
	for i := range j.Inventory.Tasks {
		t := &j.Inventory.Tasks[i]
		if pve.OperationOf(t.Type) == pve.Download && t.Subject() == e.Image.File && (t.Node == e.Node || s != nil && s.Shared) {
			return t
		}
	}
	return nil
}

// isMade reports whether the template exists and is certainly ours, so that its image is, too: it
// was made from it.
func (j *judge) isMade(stack, key string) bool {
	m := j.matches[stack+"/"+key]
	return m != nil && m.Guest != nil && m.Guest.Template
}

// beganImage reports whether a run from here began to make a template.
func (j *judge) beganImage(stack, key string, e *lock.VM) bool {
	b := j.Begun[stack+"/"+key]
	return b.VMID == e.VMID && !b.Done
}

// foreignImage is a file of which nothing proves that it is the image. An apply neither overwrites
// nor uses it.
func (j *judge) foreignImage(f *finding.Finding, at *place, e *lock.VM, began bool) {
	f.Is(finding.Conflict, finding.Why("image-exists"))
	remove := "if nobody needs it, remove it"
	if began {
		f.Because("an interrupted apply may have left it, and without a checksum nothing tells whether it is complete")
	}
	volume := e.Image.Datastore + ":import/" + e.Image.File
	f.Next(remove+", then run preflight again", pve.Pvesh("delete", "/nodes/"+e.Node+"/storage/"+e.Image.Datastore+"/content/"+volume))
	f.Next("or write another name into "+at.Spec, "file_name: "+otherFile(e.Image.File)+"  # image")
}

// otherFile is a file name like another one.
func otherFile(name string) string {
	at := strings.LastIndexByte(name, '.')
	return name[:at] + "-1" + name[at:]
}
