package lab

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// needed are the privileges that the suites use, also those without which they cannot
// see what exists.
var needed = []struct{ path, privilege string }{
	{"/vms", "VM.Audit"}, {"/vms", "VM.Allocate"}, {"/vms", "VM.Clone"}, {"/vms", "VM.Config.Options"}, {"/vms", "VM.PowerMgmt"},
	{"/pool", "Pool.Allocate"}, {"/pool", "Pool.Audit"}, {"/nodes", "Sys.Audit"},
}

// Check checks that everything in the settings exists and is usable, and that the range
// of VMIDs is free. It changes nothing, and reports every problem.
func (c *Cluster) Check(ctx context.Context) error {
	if err := c.rights(ctx); err != nil {
		return err
	}
	problems := []error{c.node(ctx, "STACKGEN_TEST_NODE", c.Node)}
	if c.Node2 != "" {
		problems = append(problems, c.node(ctx, "STACKGEN_TEST_NODE2", c.Node2))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	for _, node := range c.nodes() {
		problems = append(problems, c.storage(ctx, node), c.bridge(ctx, node))
	}
	problems = append(problems, c.template(ctx), c.free(ctx))
	if c.Zone != nil {
		problems = append(problems, c.Zone.check(ctx))
	}
	return errors.Join(problems...)
}

func (c *Cluster) nodes() []string {
	if c.Node2 == "" {
		return []string{c.Node}
	}
	return []string{c.Node, c.Node2}
}

func (c *Cluster) rights(ctx context.Context) error {
	var held map[string]map[string]int
	if err := c.get(ctx, "/access/permissions", &held); err != nil {
		return fmt.Errorf("the cluster at PROXMOX_VE_ENDPOINT does not answer the token of PROXMOX_VE_API_TOKEN: %w", err)
	}
	var missing []string
	for _, n := range append(needed, struct{ path, privilege string }{"/storage/" + c.Storage, "Datastore.AllocateSpace"}) {
		if !holds(held, n.path, n.privilege) {
			missing = append(missing, n.privilege+" on "+n.path)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the token of PROXMOX_VE_API_TOKEN lacks %s", strings.Join(missing, ", "))
	}
	return nil
}

// holds checks a privilege on a path, or on the nearest path above it with permissions:
// permissions further down replace those above.
func holds(held map[string]map[string]int, path, privilege string) bool {
	for {
		if privileges, ok := held[path]; ok {
			_, has := privileges[privilege]
			return has
		}
		if path == "/" {
			return false
		}
		path = path[:max(1, strings.LastIndex(path, "/"))]
	}
}

func (c *Cluster) node(ctx context.Context, variable, name string) error {
	var nodes []struct{ Node, Status string }
	if err := c.get(ctx, "/nodes", &nodes); err != nil {
		return err
	}
	var known []string
	for _, n := range nodes {
		known = append(known, n.Node)
		if n.Node == name && n.Status != "online" {
			return fmt.Errorf("%s is %s, which is %s", variable, name, n.Status)
		}
	}
	if !slices.Contains(known, name) {
		sort.Strings(known)
		return fmt.Errorf("%s is %s; the cluster has %s", variable, name, strings.Join(known, ", "))
	}
	return nil
}

func (c *Cluster) storage(ctx context.Context, node string) error {
	var storages []struct {
		Storage, Content string
		Active, Enabled  int
	}
	if err := c.get(ctx, "/nodes/"+node+"/storage", &storages); err != nil {
		return err
	}
	for _, s := range storages {
		if s.Storage != c.Storage {
			continue
		}
		if s.Active != 1 || s.Enabled != 1 || !slices.Contains(strings.Split(s.Content, ","), "images") {
			return fmt.Errorf("STACKGEN_TEST_STORAGE %s on node %s is not active, not enabled, or holds no disk images", s.Storage, node)
		}
		return nil
	}
	return fmt.Errorf("STACKGEN_TEST_STORAGE is %s; node %s has no storage of that name", c.Storage, node)
}

func (c *Cluster) bridge(ctx context.Context, node string) error {
	var bridges []struct{ Iface string }
	if err := c.get(ctx, "/nodes/"+node+"/network?type=any_bridge", &bridges); err != nil {
		return err
	}
	for _, b := range bridges {
		if b.Iface == c.Bridge {
			return nil
		}
	}
	return fmt.Errorf("STACKGEN_TEST_BRIDGE is %s; node %s has no bridge of that name", c.Bridge, node)
}

func (c *Cluster) template(ctx context.Context) error {
	config, err := c.Config(ctx, c.source())
	if err != nil {
		return fmt.Errorf("STACKGEN_TEST_TEMPLATE is %d; node %s has no such VM: %w", c.Template, c.Node, err)
	}
	if config["template"] != "1" {
		return fmt.Errorf("STACKGEN_TEST_TEMPLATE is %d; that is the VM %s, not a template", c.Template, config["name"])
	}
	_, err = hardware(config, c.Storage)
	return err
}

// free refuses a range with guests, which could not be distinguished from those of the
// suites.
func (c *Cluster) free(ctx context.Context) error {
	guests, err := c.Guests(ctx)
	if err != nil {
		return err
	}
	var there []string
	for _, g := range guests {
		config, err := c.Config(ctx, g)
		if err != nil {
			return err
		}
		said := fmt.Sprintf("%d (%s)", g.VMID, config["name"]+config["hostname"])
		if slices.Contains(config.Tags(), Tag) {
			said += " of an earlier run, which the sweeper removes"
		}
		there = append(there, said)
	}
	pools, err := c.Pools(ctx)
	if err != nil {
		return err
	}
	for _, p := range pools {
		there = append(there, "the pool "+p.ID)
	}
	if len(there) > 0 {
		return fmt.Errorf("STACKGEN_TEST_VMIDS %d-%d with STACKGEN_TEST_PREFIX %s must be free; there is already: %s",
			c.First, c.Last, c.Prefix, strings.Join(there, ", "))
	}
	return nil
}

func (c *Cluster) source() Guest { return Guest{VMID: c.Template, Node: c.Node, Type: "qemu"} }

// escape turns a name into a path segment.
func escape(name string) string { return url.PathEscape(name) }
