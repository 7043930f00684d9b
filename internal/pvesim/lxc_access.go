package pvesim

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim/schema"
)

var (
	passedDevice = regexp.MustCompile(`^dev\d+$`)
	newVolume    = regexp.MustCompile(`^[^/:\s]+:\d+(\.\d+)?$`)
)

// containerOptions is a change of the options of a container, of which some need root@pam.
type containerOptions struct {
	c            *call
	vmid         int
	pool         string
	old          map[string]string // nil if it is created
	unprivileged bool
}

// check checks the privileges that options need which are set or deleted.
func (o containerOptions) check(set map[string]string, deleted []string) error {
	if o.c.root() {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if err := o.option(k, set[k], false); err != nil {
			return err
		}
	}
	for _, k := range deleted {
		if err := o.option(k, "", true); err != nil {
			return err
		}
	}
	return nil
}

func (o containerOptions) right(priv string) error { return o.c.vmRight(o.vmid, o.pool, priv) }

func (o containerOptions) option(k, v string, deleted bool) error {
	switch {
	case k == "cores", k == "cpuunits", k == "cpulimit":
		return o.right("VM.Config.CPU")
	case k == "memory", k == "swap":
		return o.right("VM.Config.Memory")
	case k == "nameserver", k == "searchdomain", k == "hostname":
		return o.right("VM.Config.Network")
	case isDriveKey(k):
		if err := o.right("VM.Config.Disk"); err != nil || deleted {
			return err
		}
		return o.volume(v)
	case netKey.MatchString(k):
		if err := o.right("VM.Config.Network"); err != nil {
			return err
		}
		for _, line := range []string{o.old[k], v} {
			if err := o.c.checkBridges(map[string]string{k: line}); err != nil {
				return err
			}
		}
		return nil
	case passedDevice.MatchString(k):
		return denied("configuring device passthrough is only allowed for root@pam")
	case k == "features":
		return o.features(v, deleted)
	case k == "hookscript":
		return denied("changing the hookscript is only allowed for root@pam")
	case k == "tags":
		if err := o.right("VM.Config.Options"); err != nil {
			return err
		}
		return o.c.checkTags(o.old[k], v)
	}
	return o.right("VM.Config.Options")
}

// volume checks a mount point: its volume is new, or the caller may use it.
func (o containerOptions) volume(v string) error {
	d := parseDrive(v)
	switch kind := mountType(d.file); {
	case kind != "volume":
		return denied("mount point type %s is only allowed for root@pam", kind)
	case newVolume.MatchString(d.file):
		return o.c.w.require(o.c.who, "/storage/"+storageOf(d.file), "Datastore.AllocateSpace")
	case strings.Trim(d.file, "0123456789.") == "":
		return nil // a size, on the storage that the call names
	case !strings.Contains(d.file, ":"):
		return arbitraryPath()
	}
	return o.c.mayReadVolume(o.vmid, d.file)
}

// mountType returns what a mount point mounts: a volume, a device or a folder of the node.
func mountType(file string) string {
	switch {
	case strings.HasPrefix(file, "/dev/"):
		return "device"
	case strings.HasPrefix(file, "/"):
		return "bind"
	}
	return "volume"
}

func arbitraryPath() error {
	return failf("Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 581.")
}

// features checks a change of the features. Others than root@pam may change nesting of an
// unprivileged container.
func (o containerOptions) features(v string, deleted bool) error {
	if !o.unprivileged {
		return denied("changing feature flags for privileged container is only allowed for root@pam")
	}
	was, is := parseDrive(o.old["features"]).opts, parseDrive(v).opts
	changed := map[string]bool{}
	for _, m := range []map[string]string{was, is} {
		for k := range m {
			if was[k] != is[k] || len(was) == 0 {
				changed[k] = true
			}
		}
	}
	if deleted {
		changed = map[string]bool{}
		for k := range was {
			changed[k] = true
		}
	}
	nesting := changed["nesting"]
	delete(changed, "nesting")
	if len(changed) > 0 {
		return denied("changing feature flags (except nesting) is only allowed for root@pam")
	}
	if nesting {
		return o.right("VM.Allocate")
	}
	return nil
}

// splitOptions returns the options in a list, each once.
func splitOptions(list string) []string {
	var out []string
	for _, k := range schema.SplitList(list) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
