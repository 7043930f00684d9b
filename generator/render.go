package generator

import (
	"slices"
	"strings"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// Render renders a project: modules, units and root.hcl for all stacks, and the
// files of the selected stacks. The files are sorted; their paths are unique and
// inside the project.
func Render(p *schema.Project, d *lock.Lock, selected func(stack string) bool) ([]File, error) {
	files, err := Shared(p, d)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Stacks {
		l := d.Stacks.Get(s.Name)
		if l == nil || !selected(s.Name) {
			continue
		}
		more, err := Stack(s, l)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return collect(files)
}

// Stack renders one stack's own files.
func Stack(s *schema.Stack, l *lock.Stack) ([]File, error) {
	r := &renderer{from: s.Spec}
	r.settings(s, l)
	r.moves(s, l)
	r.units(s, l)
	sign(r.files)
	return r.files, r.err
}

// Settings renders stack.hcl alone, of the files of Stack.
func Settings(s *schema.Stack, l *lock.Stack) (File, error) {
	r := &renderer{from: s.Spec}
	r.settings(s, l)
	return r.files[0], r.err
}

// settings renders stack.hcl: what root.hcl and the units read.
func (r *renderer) settings(s *schema.Stack, l *lock.Stack) {
	body := r.begin("stacks/"+s.Name+"/stack.hcl").AppendNewBlock("locals", nil).Body()
	body.SetAttributeRaw("stack", text(s.Name))
	body.SetAttributeRaw("environment", orNull(s.Environment))
	body.SetAttributeRaw("state_key", text(l.StateKey))
	body.SetAttributeRaw("guard", text(s.Guard))
	body.SetAttributeRaw("backend", object(pair{"type", text(l.Backend.Type)}, pair{"config", object(backendConfig(l)...)}))
	insecure := null()
	if p := l.Proxmox; p != nil { // the spec overrides the environment
		insecure = boolean(p.Insecure)
	}
	endpoint, ca := null(), null()
	if p := l.Proxmox; p != nil {
		endpoint, ca = orNull(p.Endpoint), orNull(p.CAFile)
	}
	body.SetAttributeRaw("proxmox", object(pair{"endpoint", endpoint}, pair{"insecure", insecure}, pair{"ca_file", ca}))
	if d := l.DNS; d != nil {
		body.SetAttributeRaw("dns", object(pair{"zone", text(d.Zone)}, pair{"server", text(d.Server)}, pair{"port", number(d.Port)},
			pair{"key_name", orNull(d.KeyName)}, pair{"key_algorithm", orNull(d.Algorithm)}))
	}
	r.done()
}

// unitSource is the source of a unit, and a value with the source of its module if
// both come from a catalog.
func unitSource(s *schema.Stack, unit string) (source string, extra []pair) {
	c := s.Catalog
	if c == nil {
		return "../../units/" + unit, nil
	}
	repository := strings.TrimSuffix(c.Source, "/")
	switch { // without git::, Terragrunt reads the URL as a folder or a download
	case strings.HasPrefix(repository, "/"):
		repository = "git::file://" + repository
	case strings.Contains(repository, "://") && !strings.Contains(repository, "::"):
		repository = "git::" + repository
	}
	at := func(path string) string { return repository + "//" + path + "?ref=" + c.Ref }
	k := slices.IndexFunc(kinds, func(k kind) bool { return k.unit == unit })
	return at("units/" + unit), []pair{{"module", text(at("modules/" + kinds[k].module))}}
}
