package schema

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"path"
	"slices"
	"strings"

	"stackgen/guest"
)

// An Input is one spec with what it needs to become a stack.
type Input struct {
	Spec     *Spec
	Label    string // path of the spec inside its project, for headers
	Settings *Spec  // the project's stackgen.yaml, or nil
}

// Files are the files that specs refer to, by the path References gave. A file
// that could not be read has an Err instead of a Body.
type Files map[string]struct {
	Body []byte
	Err  string
}

// Join merges every spec with what it inherits, expands groups and classes, and
// checks all specs against one another. settings is the stackgen.yaml of the
// project, or nil; seats are what the lock has. The Project is usable only if no
// problem is an error.
func Join(settings *Spec, inputs []Input, files Files, seats Seats) (*Project, []Problem) {
	j := &joiner{
		checker: *newChecker(), files: files, seats: seats, merger: newMerger(),
		project: &Project{Guard: guardOf(nil), Parallelism: defaultParallelism},
	}
	if settings != nil {
		j.project.Settings = true
		j.project.Retired = listItems(stacksIn(settings.root, "retired"))
		j.project.Forgotten = listItems(stacksIn(settings.root, "forgotten"))
		j.project.Renamed = renames(stacksIn(settings.root, "renamed"))
		j.project.Guard = guardOf(settings.root)
		j.project.Parallelism = parallelismOf(settings.root)
	}
	for _, in := range inputs {
		if s := j.stack(in); s != nil {
			j.project.Stacks = append(j.project.Stacks, s)
		}
	}
	j.pins(inputs)
	j.clashes()
	return j.project, j.Problems()
}

// A joiner builds one Project.
type joiner struct {
	checker
	*merger
	files    Files
	seats    Seats
	project  *Project
	profiles []Profile // of the current stack
	custom   []Profile // of all stacks
	pinned   []pin
}

// stack builds one stack from its spec and the project's settings.
func (j *joiner) stack(in Input) *Stack {
	shared := Field{Type: Object, Fields: slices.Concat(sharedFields, stackGroups, stackFields, classFields, containerKeys)}
	root := in.Spec.root
	if in.Settings != nil {
		root = merge(in.Settings.root.Without("apiVersion", "kind", "retired", "forgotten", "renamed"), root, &shared)
	}
	s := &Stack{Pos: in.Spec.root.Get("name").Pos, Spec: in.Label, Kind: in.Spec.Kind, Name: in.Spec.Name,
		Environment: root.Get("environment").Str(), Guard: guardOf(root), Parallelism: parallelismOf(root),
		Retired: listItems(root.Get("retired")), Forgotten: listItems(root.Get("forgotten")),
		Registration: root.Get("outputs", "registration").Str(),
	}
	s.Renamed = renames(root.Get("renamed"))
	if s.IsTemplate() { // what the project has for VMs is not for templates
		root = root.Without(guest.DNS, guest.Pool, "naming", "defaults", "catalog", "outputs", guest.Checkpoint)
		s.Template = j.fill(root, &Field{Type: Object, Fields: fieldsOf(KindTemplate)})
		s.Keep, s.Registration = s.Template.Get("keep").Int(), ""
	}
	s.Rollout = j.rollout(root)
	j.settings(s, root)
	if r := root.Get("outputs", "registration"); r != nil {
		s.RegistrationPos = r.Pos
	}
	j.profiles = j.stackProfiles(root)
	j.pin(root)
	j.expand(s, root)
	return s
}

// stacksIn are the stacks under a key of the settings. A key without stacks has none of them.
func stacksIn(root *Node, key string) *Node {
	if n := root.Get(key, "stacks"); n != nil {
		return n
	}
	return root.Get(key)
}

// listItems are the items of a list: nil without a list, and not nil for an empty one, beside which nobody can write another.
func listItems(n *Node) []ListItem {
	if n == nil {
		return nil
	}
	out := []ListItem{}
	for _, item := range n.List() {
		out = append(out, ListItem{Pos: item.Pos, Name: item.Text})
	}
	return out
}

// renames are the pairs of a map, as listItems are the items of a list.
func renames(n *Node) []Rename {
	if n == nil {
		return nil
	}
	out := []Rename{}
	for i, key := range n.Keys {
		out = append(out, Rename{Pos: key.Pos, From: key.Text, To: n.Items[i].Text})
	}
	return out
}

// settings reads everything of a stack that is not a VM.
func (j *joiner) settings(s *Stack, root *Node) {
	get := func(key string) *Node { return j.fill(root.Get(key), find(sharedFields, key)) }
	if c := get("catalog"); c != nil {
		s.Catalog = &Catalog{Pos: c.Pos, Source: c.Get("source").Str(), Ref: c.Get("ref").Str()}
		if !fixedRef(s.Catalog.Ref) {
			j.warn(c.Get("ref").Pos, "catalog.ref", CodeBranchRef, "write a tag such as v1.4.0, or a commit",
				"%q looks like a branch: its content can change while the spec stays the same", s.Catalog.Ref)
		}
	}
	j.backend(s, root)
	if p := get("proxmox"); p != nil {
		s.Proxmox = Proxmox{Endpoint: p.Get("endpoint").Str(), Insecure: p.Get("insecure").Bool(), CAFile: s.local(p.Get("ca_file")), Set: true}
		j.certificates(p.Get("ca_file"))
	}
	if d := get("dns"); d != nil {
		s.DNS = &DNS{Zone: strings.TrimSuffix(d.Get("zone").Str(), ".") + ".", Server: d.Get("server").Str(), Port: d.Get("port").Int(),
			TTL: d.Get("ttl").Int(), KeyName: d.Get("tsig", "key_name").Str(), Algorithm: d.Get("tsig", "algorithm").Str(),
			PerStack: d.Get("mode").Str() == "per-stack"}
	}
	if p := get("pool"); p != nil {
		s.Pool = &Pool{Pos: p.Pos, ID: p.Get("id").Str(), Create: p.Get("create").Bool(), Comment: p.Get("comment").Str()}
		if Reserved(s.Pool.ID) {
			j.errorPos(p.Pos, "pool.id", CodeValue, "choose another id",
				"%q is an HCL keyword, and Terragrunt writes keys without quotes", s.Pool.ID)
		}
	}
	if r := root.Get("vmids"); r != nil {
		s.VMIDs = j.vmids(r)
	}
}

// certificates checks a file with certificates, which OpenTofu and stackgen read when
// they connect.
func (j *joiner) certificates(n *Node) {
	if n == nil || j.reported[n.Pos] { // all stacks inherit that of the project
		return
	}
	const path, fix = "proxmox.ca_file", "copy /etc/pve/pve-root-ca.pem from a node of the cluster"
	content, ok := j.files[n.sibling()]
	if !ok || content.Err != "" {
		j.errorAt(n, path, CodeFile, fix, "cannot read %s: %s", n.sibling(), content.Err)
		j.reported[n.Pos] = true
		return
	}
	found := false
	for block, rest := pem.Decode(content.Body); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); block.Type == "CERTIFICATE" && err == nil {
			found = true
		}
	}
	if !found {
		j.errorAt(n, path, CodeFile, fix, "%s contains no certificate in PEM form", n.sibling())
		j.reported[n.Pos] = true
	}
}

// local returns the path of a file relative to the project. A spec, or the
// settings beside its folder, has it relative to itself.
func (s *Stack) local(n *Node) string {
	if n == nil || path.IsAbs(n.Text) || n.File != s.File {
		return n.Str()
	}
	return path.Join(path.Dir(s.Spec), n.Text)
}

func (j *joiner) backend(s *Stack, root *Node) {
	n := root.Get("backend")
	b := j.fill(n, find(sharedFields, "backend"))
	s.Backend = Backend{
		Type: cmp.Or(b.Get("type").Str(), "local"), Bucket: b.Get("bucket").Str(), Region: b.Get("region").Str(),
		Endpoint: b.Get("endpoint").Str(), Prefix: b.Get("prefix").Str(), PathStyle: b.Get("path_style").Bool(),
		Lock: n == nil || b.Get("lock").Bool(),
	}
	if n == nil {
		return
	}
	if p := b.Get("prefix"); p != nil && path.Join("/", p.Text) != "/"+p.Text {
		j.errorPos(p.Pos, "backend.prefix", CodeValue, "write it without . and ..", "the prefix %q is not the beginning of a state key", p.Text)
	}
	for _, key := range []string{"bucket", "region"} {
		if s.Backend.Type == "s3" && b.Get(key) == nil {
			j.errorPos(n.Pos, "backend."+key, CodeMissingKey, "add "+key, "a backend of type s3 lacks the key %q", key)
		}
	}
	for _, key := range []string{"bucket", "region", "endpoint", "path_style"} {
		if s.Backend.Type == "local" && b.Get(key) != nil {
			j.errorPos(n.key(key).Pos, "backend."+key, CodeValue, "remove it, or write type: s3", "a backend of type local does not use %s", key)
		}
	}
}

func (j *joiner) vmids(n *Node) *Range {
	from, to, _ := strings.Cut(n.Text, "-")
	r := &Range{Pos: n.Pos, First: Scalar(n.Pos, ShapeInt, from).Int(), Last: Scalar(n.Pos, ShapeInt, to).Int()}
	if r.First < 100 || r.Last > 999999999 || r.First > r.Last {
		j.errorPos(n.Pos, "vmids", CodeRange, "write it as first-last, both between 100 and 999999999", "%q is not a range of VMIDs", n.Text)
	}
	return r
}

// stackProfiles returns the profiles of a spec: the built-in ones and its own.
func (j *joiner) stackProfiles(root *Node) []Profile {
	out := BuiltinProfiles()
	n := root.Get("profiles")
	if n == nil {
		return out
	}
	for i, key := range n.Keys {
		if slices.ContainsFunc(out, func(p Profile) bool { return p.Name == key.Text }) || key.Text == "this" {
			j.errorPos(key.Pos, "profiles."+key.Text, CodeProfileClash, "choose another name",
				"the profile %q is built in and cannot be redefined", key.Text)
			continue
		}
		v := j.fill(n.Items[i], find(sharedFields, "profiles").Elem)
		p := Profile{Pos: key.Pos, Name: key.Text, PreventDestroy: v.Get("prevent_destroy").Bool()}
		for _, a := range v.Get("ignore_changes").List() {
			ignored(&p, a)
		}
		for _, always := range alwaysIgnored() {
			if !slices.Contains(p.IgnoreChanges, always) {
				p.IgnoreChanges = append(p.IgnoreChanges, always)
			}
		}
		j.managesPlace(&p)
		out = append(out, p)
		j.custom = append(j.custom, p)
	}
	return out
}

// managesPlace warns about a profile under which an apply undoes what people do to VMs
// that run. It may be meant so.
func (j *joiner) managesPlace(p *Profile) {
	const moves = "an apply would move a VM back that was migrated by hand or by HA"
	switch path := "profiles." + p.Name; {
	case p.Ignores("node_name"):
	case p.Ignores("started"):
		j.warn(p.Pos, path, CodeProfileNode, "add node_name to its ignore_changes, unless the spec decides where its VMs run",
			"profile %q does not ignore node_name: "+moves, p.Name)
	default:
		j.warn(p.Pos, path, CodeProfileNode,
			"add node_name and started to its ignore_changes, unless the spec decides where its VMs run, and which ones run",
			"profile %q ignores neither node_name nor started: "+moves+", and would start or stop one that somebody stopped or started", p.Name)
	}
}

func ignored(p *Profile, n *Node) {
	switch {
	case n.Text == "all":
		p.IgnoreAll = true
	case !slices.Contains(p.IgnoreChanges, n.Text):
		p.IgnoreChanges = append(p.IgnoreChanges, n.Text)
	}
}

// BuiltinProfiles are the profiles every project has.
func BuiltinProfiles() []Profile {
	return []Profile{
		{Name: "default", IgnoreChanges: append([]string{"node_name", "started"}, alwaysIgnored()...)},
		{Name: "protected", IgnoreChanges: append([]string{"node_name", "started"}, alwaysIgnored()...), PreventDestroy: true},
		{Name: AdoptedProfile, IgnoreAll: true, IgnoreChanges: []string{"clone"}, PreventDestroy: true},
	}
}

// ignorable are the attributes of the VM resource that a profile may ignore, and all.
func ignorable() []string {
	out := []string{"all", "clone"}
	for _, part := range Unsupported {
		name, _, _ := strings.Cut(part.HCL, ".")
		out = append(out, name)
	}
	for i := range VMFields {
		out = append(out, VMFields[i].Attribute())
	}
	out = slices.DeleteFunc(out, func(name string) bool { return name == "" || name == "vm_id" })
	slices.Sort(out)
	return slices.Compact(out)
}

// fixedRef reports whether a Git ref looks like a tag or a commit.
func fixedRef(ref string) bool {
	digits := strings.ContainsAny(ref, "0123456789")
	hex := strings.Trim(ref, "0123456789abcdef") == ""
	return digits && (strings.HasPrefix(ref, "v") || strings.HasPrefix(ref, "refs/tags/") ||
		hex && len(ref) >= 7 || ref[0] >= '0' && ref[0] <= '9' && strings.Contains(ref, "."))
}

// staticPrefix reads an address with its prefix length, or returns an invalid one.
func staticPrefix(text string) netip.Prefix {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
