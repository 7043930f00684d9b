package feasible

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// archiveContent is the content of a storage that has the archives of containers.
const archiveContent = "vztmpl"

// pveamName are the names that the archives have which pveam downloads: PACKAGE_VERSION_ARCHITECTURE.
// https://git.proxmox.com/?p=pve-manager.git;a=blob;f=PVE/APLInfo.pm
var pveamName = regexp.MustCompile(`^[a-z0-9.+-]+_[A-Za-z0-9.+~-]+_(?:all|amd64|arm64|i386)\.tar\.(?:gz|xz|zst)$`)

// Archive is the storage and the name of the file that a container is made from; empty for a clone.
func Archive(v *schema.VM) (storage, name string) {
	volume := pve.ParseVolume(v.Values.Get(guest.Template, guest.Archive).Str())
	return volume.Storage, strings.TrimPrefix(volume.Name, archiveContent+"/")
}

// archive checks that the node has the archive of the container.
func (c *creation) archive() {
	storage, name := Archive(c.vm)
	c.content(storage, archiveContent)
	n := c.inv.Node(c.on)
	if len(c.found) > 0 || n == nil || !n.Online || name == "" {
		return
	}
	at := fmt.Sprintf("storage %s of node %s", storage, c.on)
	switch file, read := c.inv.Archive(storage, c.on, name); {
	case file != nil:
	case c.inv.Access != nil && !c.inv.SeesStorage(storage):
		c.hiddenStorage(storage)
	case !read:
		c.addUnknown(fmt.Sprintf("whether %s has the archive %s is not known: its files could not be read", at, name))
	default:
		c.add(at+" does not have the archive "+name, []string{c.hasArchives(storage)}, c.otherArchive(storage, name)...)
	}
}

// hasArchives says what the storage of the node has instead.
func (c *creation) hasArchives(storage string) string {
	const most = 5
	names, more := c.archiveNames(storage), ""
	if n := len(names); n > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", n-most)
	}
	return fmt.Sprintf("storage %s of node %s has %s%s", storage, c.on, cmp.Or(strings.Join(names, ", "), "no archive"), more)
}

// archiveNames are the archives that the storage of the node has, in natural order.
func (c *creation) archiveNames(storage string) []string {
	var names []string
	for _, l := range c.inv.Archives {
		if l.Storage == storage && l.Node == c.on {
			for _, f := range l.Files {
				names = append(names, f.Name)
			}
		}
	}
	slices.SortFunc(names, natural.Compare)
	return names
}

// otherArchive are the remedies for an archive that the node does not have.
func (c *creation) otherArchive(storage, name string) []Remedy {
	remedies := []Remedy{{What: "copy the archive to storage " + storage + " of node " + c.on + "; then run preflight again"}}
	if pveamName.MatchString(name) {
		remedies = []Remedy{{
			What:     "on node " + c.on + ", as root, download it, if `pveam available` lists it; then run preflight again",
			Commands: []string{"pveam download " + shell.Word(storage) + " " + shell.Word(name)},
			Once:     true,
		}}
	}
	remedies = append(remedies, c.otherNodes(func(n *cluster.Node) bool {
		file, _ := c.inv.Archive(storage, n.Name, name)
		return file != nil
	})...)
	if other := c.newest(storage, name); other != "" {
		value := scalar(schema.ShapeString, storage+":"+archiveContent+"/"+other)
		remedies = append(remedies, c.write("or write one that the node has into SPEC", guest.Template, value))
	}
	return remedies
}

// archiveParts are the distribution of an archive, what it is made for, and its architecture:
// debian, standard and amd64 of debian-12-standard_12.7-1_amd64.tar.zst.
var archiveParts = regexp.MustCompile(`^([a-z]+)-[0-9.]+-([a-z]+)_[^_]+_([a-z0-9]+)\.tar\.[a-z0-9]+$`)

// newest is the last one of the archives of the node that differs from another one by its release or version only, or
// nothing.
func (c *creation) newest(storage, name string) string {
	is := archiveParts.FindStringSubmatch(name)
	for _, other := range slices.Backward(c.archiveNames(storage)) {
		has := archiveParts.FindStringSubmatch(other)
		fits, _ := schema.Matches("archive", storage+":"+archiveContent+"/"+other)
		if fits && is != nil && has != nil && slices.Equal(is[1:], has[1:]) {
			return other
		}
	}
	return ""
}
