package lab

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Tag marks every VM of the suites, and Comment every pool.
const (
	Tag     = "stackgen-test"
	Comment = "made by stackgen-test"
)

// Span is the number of VMIDs that the suites need.
const Span = 100

// Settings name the cluster of the suites, and the resources that they may use.
type Settings struct {
	Endpoint string // https://HOST:PORT
	Token    Secret
	Insecure bool
	Node     string
	Node2    string // empty if there is one node only
	Template int    // VMID of a template on Node
	Storage  string // on Node, and on Node2 under the same name
	Bridge   string
	First    int // the VMIDs that belong to the suites
	Last     int
	Prefix   string // of the names of VMs, stacks and pools
	Zone     *Zone  // nil without DNS
}

// A Secret does not show itself.
type Secret string

// String hides the secret.
func (Secret) String() string { return "(secret)" }

// GoString is String for %#v.
func (Secret) GoString() string { return "(secret)" }

var (
	tokenShape  = regexp.MustCompile(`^\S+@\S+!\S+=[a-zA-Z0-9-]+$`)
	labelShape  = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	idShape     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	zoneShape   = regexp.MustCompile(`^([a-z0-9_-]+\.)+[a-z0-9-]+\.?$`)
	idOrAddress = regexp.MustCompile(`^[A-Za-z0-9.:-]+$`)
	keyShape    = regexp.MustCompile(`^[A-Za-z0-9._-]+\.$`)
	secretShape = regexp.MustCompile(`^[A-Za-z0-9+/]+=*$`)
	rangeShape  = regexp.MustCompile(`^([0-9]+)-([0-9]+)$`)
	prefixLimit = 20
)

// Read reads the settings from an environment, and reports every problem.
func Read(getenv func(string) string) (Settings, error) {
	r := reader{getenv: getenv}
	s := Settings{
		Endpoint: r.endpoint("PROXMOX_VE_ENDPOINT"),
		Token:    Secret(r.shaped("PROXMOX_VE_API_TOKEN", tokenShape, "a token such as USER@REALM!NAME=SECRET", true)),
		Insecure: r.truth("PROXMOX_VE_INSECURE"),
		Node:     r.shaped("STACKGEN_TEST_NODE", idShape, "the name of a node, such as pve1", false),
		Template: r.number("STACKGEN_TEST_TEMPLATE", "the VMID of a template on that node, such as 9000"),
		Storage:  r.shaped("STACKGEN_TEST_STORAGE", idShape, "a storage for disk images, such as local-lvm", false),
		Bridge:   r.shaped("STACKGEN_TEST_BRIDGE", idShape, "a bridge, such as vmbr0", false),
		Prefix: r.shaped("STACKGEN_TEST_PREFIX", labelShape,
			"lower-case letters, digits and inner hyphens, beginning with a letter, such as sgtest", false),
	}
	if getenv("STACKGEN_TEST_NODE2") != "" {
		s.Node2 = r.shaped("STACKGEN_TEST_NODE2", idShape, "the name of a second node, or nothing", false)
	}
	if s.Node2 != "" && s.Node2 == s.Node {
		r.problem("STACKGEN_TEST_NODE2 is %s, and so is STACKGEN_TEST_NODE; name another node, or leave it out", s.Node)
	}
	if len(s.Prefix) > prefixLimit {
		r.problem("STACKGEN_TEST_PREFIX has %d characters; at most %d leave room for the names of VMs", len(s.Prefix), prefixLimit)
	}
	s.Zone = r.zone()
	s.First, s.Last = r.vmids("STACKGEN_TEST_VMIDS")
	if s.Template >= s.First && s.Template <= s.Last && s.Template != 0 {
		r.problem("STACKGEN_TEST_VMIDS %d-%d holds the template %d; choose a range that is free", s.First, s.Last, s.Template)
	}
	return s, errors.Join(r.problems...)
}

// A reader reads variables and collects their problems.
type reader struct {
	getenv   func(string) string
	problems []error
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf(format, args...))
}

// shaped reads a required variable that must match a pattern. A secret value is not
// printed.
func (r *reader) shaped(name string, shape *regexp.Regexp, what string, secret bool) string {
	value := r.getenv(name)
	switch {
	case value == "":
		r.problem("%s is not set; it takes %s", name, what)
	case !shape.MatchString(value) && secret:
		r.problem("%s is not %s", name, what)
	case !shape.MatchString(value):
		r.problem("%s is %q; it takes %s", name, value, what)
	default:
		return value
	}
	return ""
}

func (r *reader) number(name, what string) int {
	n, err := strconv.Atoi(r.getenv(name))
	if err != nil || n < 100 {
		r.problem("%s is %q; it takes %s", name, r.getenv(name), what)
		return 0
	}
	return n
}

func (r *reader) truth(name string) bool {
	value := strings.ToLower(r.getenv(name))
	return value == "true" || value == "1"
}

func (r *reader) endpoint(name string) string {
	u, err := url.ParseRequestURI(r.getenv(name))
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		r.problem("%s is not set, or not a URL such as https://HOST:8006/", name)
		return ""
	}
	return "https://" + u.Host
}

func (r *reader) vmids(name string) (int, int) {
	m := rangeShape.FindStringSubmatch(r.getenv(name))
	if m == nil {
		r.problem("%s is %q; it takes a range of at least %d free VMIDs, used by nothing else, such as 6000-6099", name, r.getenv(name), Span)
		return 0, 0
	}
	first, err1 := strconv.Atoi(m[1])
	last, err2 := strconv.Atoi(m[2])
	if err1 != nil || err2 != nil || first < 100 || last > 999999999 || last-first+1 < Span {
		r.problem("%s is %s; it takes at least %d VMIDs from 100 up, such as 6000-6099", name, m[0], Span)
		return 0, 0
	}
	return first, last
}
