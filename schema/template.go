package schema

import (
	"net/url"
	"slices"
	"strings"

	"stackgen/guest"
)

// A Replica is what a VM of a Template is: the template of one release on one node.
type Replica struct {
	Release string
	Image   Image
	Current bool // the release that the spec names; others are kept from the lock
}

// An Image is a file that a node downloads, and that the disk of a template is imported from.
type Image struct {
	URL       string
	Checksum  string // ALGORITHM:HEX, or empty
	File      string // its name on the storage
	Datastore string // the storage
}

// String is the file with its checksum, if it has one, and where it is from.
func (i Image) String() string {
	if i.Checksum == "" {
		return i.File + " from " + i.URL
	}
	return i.File + " (" + i.Checksum + ") from " + i.URL
}

// templateHardware are the properties of a VM that the hardware of a Template may have.
func templateHardware() []Field {
	keys := []string{
		guest.Agent, guest.Balloon, guest.BIOS, guest.CloudInit, guest.Cores, guest.CPUType, guest.Description, guest.EFI, guest.Machine,
		guest.Memory, guest.Networks, guest.NUMA, guest.OSType, guest.Pool, guest.SCSIHardware, guest.Serial, guest.Sockets, guest.Tablet,
		guest.Tags, guest.TPM, guest.VGA,
	}
	var out []Field
	for i := range VMFields {
		if slices.Contains(keys, VMFields[i].Key) {
			out = append(out, VMFields[i])
		}
	}
	return out
}

// TemplateFields are the properties of a VM that a template has: those of its hardware, and what
// the Template decides.
func TemplateFields() []Field {
	var out []Field
	for i := range VMFields {
		f := &VMFields[i]
		hardware := slices.ContainsFunc(templateSpecFields, func(of Field) bool { return of.Key == "hardware" && find(of.Fields, f.Key) != nil })
		decided := []string{guest.Name, guest.VMID, guest.Node, guest.Disks, guest.Started, guest.OnBoot}
		if hardware || slices.Contains(decided, f.Key) {
			out = append(out, *f)
		}
	}
	return out
}

// template turns a Template into VMs: the release of the spec on each of its nodes, and what the
// lock has of other releases and nodes.
func (e *expander) template() {
	root := e.stack.Template
	release, nodes := root.Get(guest.Release), root.Get(guest.Nodes)
	image := e.image(root)
	e.leavingReleases(release)
	for _, node := range nodes.List() {
		key := release.Text + "-" + strings.ToLower(node.Text)
		at := *node
		e.replica(member{key: key, pos: at.Pos, path: guest.Nodes}, node.Text, Replica{Release: release.Text, Image: image, Current: true})
	}
	for _, s := range e.seats[e.formerName()] {
		if r := s.Replica; r != nil && !s.Gone && r.Release != release.Text && !e.leaves(s.Key) {
			e.sameFile(root, release.Text, image, r)
			e.replica(member{key: s.Key, pos: e.stack.Pos, path: guest.Release}, s.Node, Replica{Release: r.Release, Image: r.Image})
		}
	}
	e.vm = nil
	e.listClashes()
}

// replica adds the VM of a replica.
func (e *expander) replica(m member, node string, r Replica) {
	root := e.stack.Template
	own := orEmpty(root.Get("hardware"))
	set := func(key string, value *Node) { own = own.With(Scalar(m.pos, ShapeString, key), value) }
	of := func(pairs ...*Node) *Node {
		out := &Node{Pos: m.pos, Shape: ShapeMap}
		for i := 0; i < len(pairs); i += 2 {
			out = out.With(pairs[i], pairs[i+1])
		}
		return out
	}
	key := func(name string) *Node { return Scalar(m.pos, ShapeString, name) }
	disk := of(key(guest.Interface), root.Get(guest.Interface), key(guest.Datastore), root.Get(guest.Datastore),
		key(guest.Size), root.Get(guest.Size))
	set(guest.Name, key(e.stack.Name+"-"+m.key))
	set(guest.Node, key(node))
	set(guest.Disks, &Node{Pos: m.pos, Shape: ShapeList, Items: []*Node{disk}})
	for _, off := range []string{guest.Started, guest.OnBoot, guest.DNS} {
		set(off, Scalar(m.pos, ShapeBool, "false"))
	}
	m.own, m.replica = own, &r
	e.add(m)
}

// image reads the image of the spec. Its URL becomes part of the lock and of rendered files, so
// that it must not have what is secret.
func (e *expander) image(root *Node) Image {
	n := root.Get("image")
	out := Image{
		URL: n.Get("url").Str(), Checksum: n.Get("checksum").Str(), File: n.Get("file_name").Str(), Datastore: root.Get("download").Str(),
	}
	at := n.Get("url").Pos
	const path = "image.url"
	u, err := url.Parse(out.URL)
	var parameters []string
	if err == nil {
		parameters = strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' })
	}
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		e.errorPos(at, path, CodeValue, "write it as https://HOST/PATH", "this is no URL of http or https")
	case u.User != nil || slices.ContainsFunc(parameters, secretParameter):
		e.errorPos(at, path, CodeSecret, "use a URL that needs no token, such as that of a mirror of your own; and revoke this one",
			"the URL has a user, or a parameter that looks like a token: it would be in the lock and in rendered files")
	case !matches("url", out.URL):
		e.errorPos(at, path, CodeValue, "write it as https://HOST/PATH, with a space as %20, and @ as %40", "this is no URL of http or https")
	case moving(u.Path):
		e.warn(at, path, CodeMovingImage, "write the URL of one release, with its date",
			"the URL looks like that of the latest image: another download of it may be another image")
	}
	if out.Checksum == "" && !e.reported[n.Pos] {
		e.warn(n.Pos, "image.checksum", CodeMovingImage, "add checksum: sha256:HEX, as the publisher of the image has it",
			"the image has no checksum: nothing tells whether it is the right one on all nodes")
	}
	return out
}

// moving reports whether the path of a URL names no release.
func moving(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return strings.ContainsRune("/-_.", r) }),
		func(word string) bool {
			return slices.Contains([]string{"latest", "current", "daily", "nightly"}, word)
		})
}

// secretParameter reports whether a parameter of a URL may be secret, by its name or its length.
func secretParameter(parameter string) bool {
	name, value, _ := strings.Cut(parameter, "=")
	name = strings.ToLower(name)
	for _, word := range []string{"token", "sig", "key", "pass", "pwd", "secret", "auth", "credential", "cred", "jwt", "session"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	const short = 20 // a date, a size, a name
	return len(value) > short
}

// sameFile refuses another image under the name of a file that another release of the lock has.
func (e *expander) sameFile(root *Node, release string, image Image, other *SeatReplica) {
	if other.Release != release && other.Image.File == image.File && other.Image.Datastore == image.Datastore {
		n := root.Get("image", "file_name")
		if e.reported[n.Pos] {
			return
		}
		e.vm = nil
		e.errorPos(n.Pos, "image.file_name", CodeValue, "write a name with the release in it",
			"%s is the file of release %s", image.File, other.Release)
		e.reported[n.Pos] = true // by another template of the release
	}
}

// leavingReleases makes the keys of replicas of the releases that retired and forgotten name.
func (e *expander) leavingReleases(release *Node) {
	for _, list := range []*[]ListItem{&e.stack.Retired, &e.stack.Forgotten} {
		out := (*list)[:0:0] // nil if there is no list
		for _, item := range *list {
			if item.Name == release.Text {
				e.errorPos(item.Pos, "retired", CodeListClash, "write a newer release first, or remove the spec to retire the whole Template",
					"release %s is the one that the spec makes", item.Name)
				continue
			}
			found := false
			for _, s := range e.seats[e.formerName()] {
				if s.Replica != nil && s.Replica.Release == item.Name {
					out, found = append(out, ListItem{Pos: item.Pos, Name: s.Key}), true
				}
			}
			if !found {
				out = append(out, item)
			}
		}
		*list = out
	}
}

// leaves reports whether a key is retired or forgotten.
func (e *expander) leaves(key string) bool {
	return slices.ContainsFunc(slices.Concat(e.stack.Retired, e.stack.Forgotten), func(i ListItem) bool { return i.Name == key })
}

// IsTemplate reports whether the VMs of the stack are templates, which a Template makes.
func (s *Stack) IsTemplate() bool { return s.Kind == KindTemplate }

// TemplateProfile is the lifecycle of the resources of a Template: what they are made of acts at
// their creation only.
func TemplateProfile() *Profile { return &Profile{Name: guest.Template, IgnoreAll: true} }

// TemplateOf is the Template of the project that a VM is made from, or nil.
func (p *Project) TemplateOf(t *Template) *Stack {
	if t == nil || t.Name == "" {
		return nil
	}
	i := slices.IndexFunc(p.Stacks, func(s *Stack) bool { return s.IsTemplate() && s.Name == t.Name })
	if i < 0 {
		return nil
	}
	return p.Stacks[i]
}
