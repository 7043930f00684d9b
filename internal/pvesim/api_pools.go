package pvesim

import (
	"slices"
	"sort"
	"strings"

	"stackgen/internal/pvesim/schema"
)

func poolHandlers() map[string]handler {
	return map[string]handler{
		"GET /pools":             listPools,
		"POST /pools":            createPool,
		"PUT /pools":             updatePool,
		"DELETE /pools":          deletePool,
		"GET /pools/{poolid}":    getPool,
		"PUT /pools/{poolid}":    updatePool,
		"DELETE /pools/{poolid}": deletePool,
	}
}

func (p *Pool) entry() object {
	out := object{"poolid": p.ID}
	if p.Comment != "" {
		out["comment"] = p.Comment
	}
	return out
}

func (c *call) poolDetail(p *Pool) object {
	out := p.entry()
	members := []object{}
	if c.p["type"] != "storage" {
		for _, id := range c.w.vmids() {
			g := c.w.guests[id]
			if slices.Contains(p.Guests, id) && (c.p["type"] == "" || c.p["type"] == g.Type) {
				members = append(members, c.guestResource(g, false))
			}
		}
	}
	if t := c.p["type"]; t == "" || t == "storage" {
		for _, n := range c.w.nodes {
			for _, s := range c.w.seed.Storages {
				if slices.Contains(p.Storage, s.ID) && s.onNode(n.Name) {
					members = append(members, c.storageResource(n, s))
				}
			}
		}
	}
	out["members"] = members
	return out
}

func listPools(c *call) (any, error) {
	if c.has("poolid") {
		p := c.w.pool(c.p["poolid"])
		if p == nil {
			return nil, failf("pool '%s' does not exist", c.p["poolid"])
		}
		return []object{c.poolDetail(p)}, nil
	}
	out := []object{}
	for _, p := range c.w.seed.Pools {
		if c.w.allowed(c.who, "/pool/"+p.ID, "Pool.Audit") {
			out = append(out, p.entry())
		}
	}
	return out, nil
}

func getPool(c *call) (any, error) {
	p := c.w.pool(c.p["poolid"])
	if p == nil {
		return nil, failf("pool '%s' does not exist", c.p["poolid"])
	}
	out := c.poolDetail(p)
	return out, nil
}

func createPool(c *call) (any, error) {
	id := c.p["poolid"]
	if err := c.w.configLock("create pool", "file-user_cfg"); err != nil {
		return nil, err
	}
	if c.w.pool(id) != nil {
		return nil, failf("create pool failed: pool '%s' already exists", id)
	}
	if i := strings.LastIndexByte(id, '/'); i > 0 && c.w.pool(id[:i]) == nil {
		return nil, failf("create pool failed: parent '%s' of pool '%s' does not exist", id[:i], id)
	}
	c.w.seed.Pools = append(c.w.seed.Pools, &Pool{ID: id, Comment: c.p["comment"]})
	sort.Slice(c.w.seed.Pools, func(i, j int) bool { return c.w.seed.Pools[i].ID < c.w.seed.Pools[j].ID })
	return nil, nil
}

func updatePool(c *call) (any, error) {
	p := c.w.pool(c.p["poolid"])
	if err := c.w.configLock("update pools", "file-user_cfg"); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, failf("update pools failed: pool '%s' does not exist", c.p["poolid"])
	}
	if c.has("comment") {
		p.Comment = c.p["comment"]
	}
	for _, v := range schema.SplitList(c.p["vms"]) {
		if err := c.w.require(c.who, "/vms/"+v, "VM.Allocate"); err != nil {
			return nil, c.poolDenied(err, "/vms/"+v)
		}
		if err := c.poolGuest(p, atoi(v)); err != nil {
			return nil, err
		}
	}
	for _, s := range schema.SplitList(c.p["storage"]) {
		if err := c.w.require(c.who, "/storage/"+s, "Datastore.Allocate"); err != nil {
			return nil, err
		}
		if err := c.poolStorage(p, s); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// poolDenied returns the 403 for a guest. The privilege to change permissions
// on the guest is also sufficient.
func (c *call) poolDenied(err error, path string) error {
	if c.w.allowed(c.who, path, "Permissions.Modify") {
		return nil
	}
	return err
}

func (c *call) poolGuest(p *Pool, vmid int) error {
	if c.flag("delete") {
		if !slices.Contains(p.Guests, vmid) {
			return failf("update pools failed: VM %d is not a pool member", vmid)
		}
		p.remove(vmid)
		return nil
	}
	if slices.Contains(p.Guests, vmid) {
		return failf("update pools failed: VM %d is already a pool member", vmid)
	}
	if old := c.w.poolOf(vmid); old != nil {
		if !c.flag("allow-move") {
			return failf("update pools failed: VM %d belongs already to pool '%s' and 'allow-move' is not set", vmid, old.ID)
		}
		old.remove(vmid)
	}
	p.Guests = append(p.Guests, vmid)
	return nil
}

func (c *call) poolStorage(p *Pool, id string) error {
	if !c.flag("delete") {
		if slices.Contains(p.Storage, id) {
			return failf("update pools failed: Storage '%s' is already a pool member", id)
		}
		p.Storage = append(p.Storage, id)
		return nil
	}
	for i, s := range p.Storage {
		if s == id {
			p.Storage = append(p.Storage[:i], p.Storage[i+1:]...)
			return nil
		}
	}
	return failf("update pools failed: Storage '%s' is not a pool member", id)
}

func deletePool(c *call) (any, error) {
	id := c.p["poolid"]
	if err := c.w.configLock("delete pool", "file-user_cfg"); err != nil {
		return nil, err
	}
	p := c.w.pool(id)
	if p == nil {
		return nil, failf("delete pool failed: pool '%s' does not exist", id)
	}
	for _, other := range c.w.seed.Pools {
		if strings.HasPrefix(other.ID, id+"/") {
			return nil, failf("delete pool failed: pool '%s' is not empty (contains pool '%s')", id, other.ID)
		}
	}
	for _, v := range p.Guests {
		if _, ok := c.w.guests[v]; ok {
			return nil, failf("delete pool failed: pool '%s' is not empty (contains VM %d)", id, v)
		}
	}
	for _, s := range p.Storage {
		if c.w.storage(s) != nil {
			return nil, failf("delete pool failed: pool '%s' is not empty (contains storage '%s')", id, s)
		}
	}
	for i, x := range c.w.seed.Pools {
		if x == p {
			c.w.seed.Pools = append(c.w.seed.Pools[:i], c.w.seed.Pools[i+1:]...)
		}
	}
	c.w.dropGrants("/pool/" + id)
	return nil, nil
}

// remove removes a guest from the pool.
func (p *Pool) remove(vmid int) {
	p.Guests = slices.DeleteFunc(slices.Clone(p.Guests), func(id int) bool { return id == vmid })
}
