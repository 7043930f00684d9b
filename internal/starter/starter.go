package starter

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// file is the example's path in a new project.
const file = "specs/example.yaml"

// An Example is the spec that suits a cluster.
type Example struct {
	Body      []byte
	Template  *cluster.Guest // nil if the cluster has none that can be used
	Node      string
	Datastore string
	Free      int64 // bytes of it
	Bridge    string
	First     int      // of a hundred free VMIDs
	Commands  []string // that make a template, to run as root on the node; nil if there is one
	Obstacles []string // why an apply would fail nevertheless
	Unseen    bool     // the token does not see all guests, so a VMID may be taken
}

// New makes the example for a cluster from the spec that init writes without one.
func New(inv *cluster.Inventory, general []byte) (*Example, error) {
	all := choices(inv)
	if len(all) == 0 {
		return nil, errors.New("the cluster has no online node with a bridge and a storage for disk images that has room")
	}
	var first *Example
	var refused error
	for _, c := range all {
		e, err := c.example(inv, general)
		switch {
		case err != nil: // such as a name that no spec may have
			refused = err
		case len(e.Obstacles) == 0:
			return e, nil
		case first == nil:
			first = e
		}
	}
	if first == nil {
		return nil, refused
	}
	return first, nil
}

// example makes the example of one choice, and checks it.
func (c *choice) example(inv *cluster.Inventory, general []byte) (*Example, error) {
	e := &Example{
		Template: c.template, Node: c.node.Name, Datastore: c.datastore.ID, Free: c.datastore.Free(), Bridge: c.bridge, First: c.first,
		Unseen: slices.ContainsFunc(inv.Gaps, cluster.Gap.AnyGuest),
	}
	template, more := 0, []string(nil)
	if c.template != nil {
		template = c.template.VMID
	} else {
		template = freeVMID(inv)
		e.Commands = c.recipe(template)
		more = []string{"serial: socket"}
	}
	body, err := c.write(string(general), template)
	if err != nil {
		return nil, err
	}
	for range 4 { // what a template brings may have a default that depends on what is said
		if body, err = insert(body, more); err != nil {
			return nil, err
		}
		stack, decided, err := read(body)
		if err != nil {
			return nil, err
		}
		e.Body, e.Obstacles = []byte(body), obstacles(inv, c.template, stack, decided)
		if more = c.brought(stack.VMs[0]); len(more) == 0 {
			break
		}
	}
	return e, nil
}

// read reads the example, and decides what render would.
func read(body string) (*schema.Stack, *lock.Stack, error) {
	spec, problems := schema.Parse(file, []byte(body))
	if schema.HasErrors(problems) {
		return nil, nil, fmt.Errorf("the example would not be valid: %s", problems[0])
	}
	p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: file}}, schema.Files{}, nil)
	if schema.HasErrors(problems) {
		return nil, nil, fmt.Errorf("the example would not be valid: %s", problems[0])
	}
	result := lock.Decide(p, &lock.Lock{}, lock.Options{
		Specs: map[string]string{"example": file}, Selected: func(string) bool { return true }, Project: "0",
	})
	if schema.HasErrors(result.Problems) || len(result.Refusals) > 0 || len(result.Stacks) != 1 {
		return nil, nil, fmt.Errorf("the example cannot be rendered: %v", result.Problems)
	}
	return result.Stacks[0], result.Lock.Stacks.Get("example"), nil
}

// brought are the lines that keep what a clone has by its template.
func (c *choice) brought(v *schema.VM) []string {
	if c.template == nil || c.template.Config == nil || len(c.template.Config.Raw) == 0 {
		return nil
	}
	var out []string
	for _, d := range hardware.Read(c.template).FromTemplate(v, func(string) bool { return false }) {
		if d.Line != "" && d.Field != guest.Tags && d.Field != guest.Description {
			out = append(out, d.Line)
		}
	}
	return out
}

// obstacles say why the VMs could not be created. Without a template, that is clear.
// What the privileges lack is for preflight to say, with the commands that grant them.
func obstacles(inv *cluster.Inventory, template *cluster.Guest, s *schema.Stack, decided *lock.Stack) []string {
	var out []string
	for _, v := range s.VMs {
		found, _ := feasible.Creation(inv, v, decided.VMs.Get(v.Key))
		for _, o := range found {
			if o.Check == feasible.PrivilegesCheck || template == nil && o.Check == feasible.TemplateCheck {
				continue
			}
			if text := v.Key + ": " + strings.Join(append([]string{o.Reason}, o.Evidence...), "; "); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// write fills in the general example. It replaces values of lines that have one, and
// keeps their comments.
func (c *choice) write(body string, template int) (string, error) {
	memory := c.memory()
	drive := "cloud_init: {ipv4: dhcp}"
	if !c.drive {
		drive = "cloud_init: false"
	}
	if !c.agent() {
		drive += "\n  agent: false                   # set it to true once the template has the QEMU guest agent"
	}
	disk := fmt.Sprintf("    - {interface: %s, size: %d, datastore: %s}", c.disk, c.size, scalar(c.datastore.ID))
	for _, r := range []struct{ line, is string }{
		{`(?m)^vmids: .*$`, fmt.Sprintf("vmids: %d-%d", c.first, c.first+vmidRange-1)},
		{`(?m)^  node: [^#\n]*`, pad("  " + node(c.node.Name))},
		{`(?m)^  template: [^#\n]*`, pad(fmt.Sprintf("  template: %d", template))},
		{`(?m)^  cores: .*$`, fmt.Sprintf("  cores: %d", min(2, max(1, c.node.CPUs)))},
		{`(?m)^  memory: [^#\n]*`, pad(fmt.Sprintf("  memory: %d", memory[0]))},
		{`(?m)^    - \{interface: [^#\n]*`, disk + "   "},
		{`(?m)^    - \{bridge: .*$`, "    - {bridge: " + scalar(c.bridge) + "}"},
		{`(?m)^  cloud_init: .*$`, "  " + drive},
		{`\{memory: 4096\}`, fmt.Sprintf("{memory: %d}", memory[1])},
		{`memory: 8192`, fmt.Sprintf("memory: %d", memory[2])},
	} {
		found := regexp.MustCompile(r.line).FindStringIndex(body)
		if found == nil {
			return "", fmt.Errorf("the general example has no line %s", r.line)
		}
		body = body[:found[0]] + r.is + body[found[1]:]
	}
	return body, nil
}

// scalar is a text as YAML, in quotes where it needs them: as that of a node.
func scalar(text string) string {
	return strings.TrimPrefix(node(text), "node: ")
}

// node is the line of a node.
func node(name string) string {
	return hardware.Assignment(guest.VM, guest.Node, &schema.Node{Shape: schema.ShapeString, Text: name})
}

// pad aligns comments.
func pad(line string) string { return fmt.Sprintf("%-33s", line) }

// memory is the memory of the VMs in MiB, which together take at most half of what the node
// has free.
func (c *choice) memory() [machines]int {
	free := int((c.node.Memory - c.node.Used) >> 20)
	for _, m := range [][machines]int{{2048, 4096, 8192}, {1024, 2048, 4096}, {1024, 1024, 2048}} {
		if free >= 2*(m[0]+m[1]+m[2]) {
			return m
		}
	}
	return [machines]int{512, 768, 1024}
}

// insert adds lines to the defaults, after cloud-init. A line of a property that is there
// replaces it.
func insert(body string, lines []string) (string, error) {
	for _, l := range lines {
		key, _, _ := strings.Cut(l, ":")
		old := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(key) + `:.*(\n    - .*)*$`)
		if at := old.FindStringIndex(body); at != nil {
			body = body[:at[0]] + "  " + l + body[at[1]:]
			continue
		}
		at := strings.Index(body, "\n\n# The key (web01)")
		if at < 0 {
			return "", errors.New("the general example has no end of the defaults")
		}
		body = body[:at] + "\n  " + l + body[at:]
	}
	return body, nil
}

// recipe are the commands that make a template of a cloud image.
func (c *choice) recipe(vmid int) []string {
	const image = "/var/tmp/debian-12-genericcloud-amd64.qcow2"
	return []string{
		"wget -O " + image + " https://cloud.debian.org/images/cloud/bookworm/latest/debian-12-genericcloud-amd64.qcow2",
		fmt.Sprintf("qm create %d --name debian-12 --ostype l26 --cores 2 --memory 2048 --balloon 2048 --cpu x86-64-v2-AES "+
			"--scsihw virtio-scsi-single --serial0 socket --net0 %s", vmid, shell.Word("virtio,bridge="+c.bridge)),
		fmt.Sprintf("qm set %d --scsi0 %s --ide2 %s --boot order=scsi0",
			vmid, shell.Word(c.datastore.ID+":0,import-from="+image), shell.Word(c.datastore.ID+":cloudinit")),
		fmt.Sprintf("qm template %d", vmid),
	}
}
