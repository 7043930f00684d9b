package adopt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/edit"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/internal/project"
	"stackgen/schema"
)

// A Request is what a person asks for.
type Request struct {
	Paths   []string
	VMIDs   []string // KEY=VMID or STACK/KEY=VMID
	ByName  bool     // also every VM whose name exactly one VM of the cluster has
	Match   bool     // also write the hardware of those VMs, and of
	Keys    []string // KEY or STACK/KEY
	Sources check.Sources
}

// A VM is a VM or container of a spec.
type VM struct{ Stack, Key string }

func (v VM) String() string { return v.Stack + "/" + v.Key }

// An Adoption is the VM of the cluster that a VM of a spec is.
type Adoption struct {
	VM
	VMID int
	Kind guest.Kind
}

// A Claimed is an adoption of a VM that another project has, by its lock, or may have, by
// its name.
type Claimed struct {
	Adoption
	Claim *cluster.Claim // nil if only the name says so
	Stack string         // for which it is named, or empty
}

// A Match is a VM whose spec says what hardware it has.
type Match struct {
	Adoption
	Adopted bool // it was in profile adopted, and is in profile default now
}

// An Accepted is a VM whose spec says of some properties what the VM has.
type Accepted struct {
	VM
	Properties []string
}

// A Plan is what a request comes to.
type Plan struct {
	Adoptions []Adoption
	Left      []finding.Finding // VMs that a person has to decide
	Absent    []finding.Finding // VMs that ByName finds nothing for, and that an apply creates
	Matches   []Match
	Unmatched []finding.Finding // VMs whose hardware cannot be written
	Claimed   []Claimed         // adoptions of VMs that other projects have
	Accepted  []Accepted        // VMs whose spec says more of what they have
	Changes   []files.Change    // of specs, by their paths as shown
	Warnings  *project.Project  // the project that ByName judged, or nil

	project *project.Project
	seen    []lock.Observed // what the lock records of the VMs
}

// A planner makes a plan.
type planner struct {
	Request
	Plan   // its project is as it is on disk; it may have errors that an adoption fixes
	vmids  map[VM]int
	told   map[VM]int    // of those, what a person said
	files  map[VM]string // the spec of each VM
	kinds  map[VM]guest.Kind
	places map[VM][]string // the keys that lead to its entry, of a VM of a group or class

	stacks     *schema.Project   // of the specs with complete entries; nil if they have other errors
	incomplete map[VM][]string   // codes of the problems of the entries that lack something
	edited     map[string][]byte // specs with the changes so far
	inventory  *cluster.Inventory
	targets    []*target
}

// New plans a request. It writes nothing.
func New(ctx context.Context, r Request) (*Plan, error) {
	specs, err := project.Load(r.Paths, "")
	if err != nil {
		return nil, err
	}
	p := &planner{Request: r, Plan: Plan{project: specs}, vmids: map[VM]int{}, files: map[VM]string{}, kinds: map[VM]guest.Kind{},
		places: map[VM][]string{}, incomplete: map[VM][]string{}, edited: map[string][]byte{}}
	if err := p.choose(ctx); err != nil {
		return nil, err
	}
	if err := p.adopt(); err != nil {
		return nil, err
	}
	if err := p.inspect(ctx); err != nil {
		return nil, err
	}
	if r.Match {
		if err := p.match(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.collect()
	return &p.Plan, nil
}

// collect notes the changes of the specs.
func (p *planner) collect() {
	for _, file := range slices.Sorted(maps.Keys(p.edited)) {
		p.Changes = append(p.Changes, files.Change{
			Path: filepath.ToSlash(file), Kind: files.Changed, Old: p.project.Sources[file], New: p.edited[file], Sync: true,
		})
	}
}

// Elsewhere is the project's folder, absolute, if the working directory is another one. Otherwise it is empty.
func (p *Plan) Elsewhere() string { return p.project.Elsewhere() }

// Write makes the changes.
func (p *Plan) Write() error { return write(p.Changes) }

// write makes changes of specs, by their paths as shown. Where one of them cannot be made, as far as that
// can be seen before, none is.
func write(changes []files.Change) error {
	in := func(do func(root string, changes []files.Change) error, c files.Change) error {
		dir, name := filepath.Split(filepath.FromSlash(c.Path))
		c.Path, c.Shown = name, c.Path
		return do(filepath.Clean(dir), []files.Change{c})
	}
	var errs []error
	for _, c := range changes {
		errs = append(errs, in(files.Check, c))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, c := range changes {
		if err := in(files.Apply, c); err != nil {
			return err
		}
	}
	return nil
}

// adopt writes the VMIDs into the specs.
func (p *planner) adopt() error {
	byFile := map[string][]edit.Adoption{}
	var members []VM
	for _, vm := range slices.SortedFunc(maps.Keys(p.vmids), compareVMs) {
		p.Adoptions = append(p.Adoptions, Adoption{vm, p.vmids[vm], p.kinds[vm]})
		if p.places[vm] != nil {
			members = append(members, vm)
			continue
		}
		byFile[p.files[vm]] = append(byFile[p.files[vm]], edit.Adoption{List: p.kinds[vm].List(), Key: vm.Key, VMID: p.vmids[vm]})
	}
	var errs []error
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		body, err := edit.Adopt(p.project.Sources[file], byFile[file])
		errs = append(errs, p.keep(file, body, err))
	}
	for _, vm := range members {
		file := p.files[vm]
		src, ok := p.edited[file]
		if !ok {
			src = p.project.Sources[file]
		}
		body, err := edit.Set(src, p.places[vm], []edit.Setting{{Key: guest.Adopt, Line: fmt.Sprintf("adopt: {vmid: %d}", p.vmids[vm])}})
		errs = append(errs, p.keep(file, body, err))
	}
	return errors.Join(errs...)
}

// entry are the keys that lead to the entry of a VM or container.
func (p *planner) entry(vm VM) []string {
	if at := p.places[vm]; at != nil {
		return at
	}
	return []string{p.kinds[vm].List(), vm.Key}
}

// keep notes the changed body of a spec.
func (p *planner) keep(file string, body []byte, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case !bytes.Equal(body, p.project.Sources[file]):
		p.edited[file] = body
	}
	return nil
}

func compareVMs(a, b VM) int { return natural.Compare(a.String(), b.String()) }

// check reads the changed specs, and compares what they say with what was asked
// for.
func (p *planner) check() error {
	after, err := p.reload(p.edited)
	if blocked := (*project.BlockedError)(nil); err != nil && (!errors.As(err, &blocked) || blocked.Invalid()) {
		return err // what the lock refuses is for render to say
	}
	for _, s := range after.Stacks.Stacks {
		for _, vm := range s.VMs {
			if vmid, ok := p.vmids[VM{s.Name, vm.Key}]; ok && (!vm.Adopt || vm.VMID != vmid) {
				return fmt.Errorf("%s/%s would not adopt %d; nothing was written, please write it by hand", s.Name, vm.Key, vmid)
			}
		}
	}
	return nil
}

// reload reads the project with changed specs, and decides.
func (p *planner) reload(edited map[string][]byte) (*project.Project, error) {
	if p.ByName {
		edited = p.complete(edited) // VMs that were not found are left as they were
	}
	after, err := project.LoadEdited(p.Paths, "", edited)
	if err != nil {
		return nil, err
	}
	if after.Stacks != nil {
		if err := p.unchanged(after.Stacks); err != nil { // before it is decided, as the specs were
			return nil, err
		}
	}
	err = after.Decide(lock.Options{})
	if blocked := (*project.BlockedError)(nil); errors.As(err, &blocked) && blocked.Invalid() {
		blocked.Then = "the changed spec would not be valid; nothing was written"
	}
	return after, err
}
