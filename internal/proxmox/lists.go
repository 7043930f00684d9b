package proxmox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
)

// number is a number that Proxmox VE may also send as text or as a boolean.
type number float64

// UnmarshalJSON accepts 1, "1", true, "" and null.
func (n *number) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(bytes.TrimSpace(b)), `"`)
	switch text {
	case "", "null", "false":
		*n = 0
		return nil
	case "true":
		*n = 1
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("expected a number, found %.40q", text)
	}
	*n = number(f)
	return nil
}

// text is text that Proxmox VE may also send as a number.
type text string

// UnmarshalJSON accepts "8", 8 and null.
func (t *text) UnmarshalJSON(b []byte) error {
	value := string(bytes.TrimSpace(b))
	if strings.HasPrefix(value, `"`) {
		unquoted, err := strconv.Unquote(value)
		if err == nil {
			*t = text(unquoted)
			return nil
		}
		value = strings.Trim(value, `"`)
	}
	if value == "null" {
		value = ""
	}
	*t = text(value)
	return nil
}

// A resource is one entry of /cluster/resources.
type resource struct {
	Type       string `json:"type"`
	Node       string `json:"node"`
	Status     string `json:"status"`
	VMID       number `json:"vmid"`
	Name       text   `json:"name"`
	Template   number `json:"template"`
	Tags       string `json:"tags"`
	Lock       string `json:"lock"`
	Pool       string `json:"pool"`
	HA         string `json:"hastate"`
	Uptime     number `json:"uptime"`
	MaxCPU     number `json:"maxcpu"`
	CPU        number `json:"cpu"`
	MaxMemory  number `json:"maxmem"`
	Memory     number `json:"mem"`
	MaxDisk    number `json:"maxdisk"`
	Disk       number `json:"disk"`
	Storage    string `json:"storage"`
	PluginType string `json:"plugintype"`
	Shared     number `json:"shared"`
	Content    string `json:"content"`
}

// A datastore is one entry of /storage: the definition of a storage.
type datastore struct {
	ID      string `json:"storage"`
	Type    string `json:"type"`
	Content string `json:"content"`
	Shared  number `json:"shared"`
	Disable number `json:"disable"`
	Nodes   string `json:"nodes"`
	Chain   number `json:"snapshot-as-volume-chain"`
}

// A nodeStorage is one entry of the storages of a node.
type nodeStorage struct {
	ID     string `json:"storage"`
	Active number `json:"active"`
	Avail  number `json:"avail"`
}

// A network is one entry of the list of a node's bridges.
type network struct {
	Name   string `json:"iface"`
	Type   string `json:"type"`
	Active number `json:"active"` // left out if it is not

	Ports      *text    `json:"bridge_ports"`      // of a bridge
	VLANAware  number   `json:"bridge_vlan_aware"` // left out if it is not
	Options    []string `json:"options"`           // lines of its configuration that Proxmox VE does not know
	AwareOfSDN *number  `json:"vlanaware"`         // of a virtual network
}

// vlans reports which VLANs of a NIC Proxmox VE refuses on a bridge or virtual network. A bridge that is not VLAN-aware takes a tag
// if it has a physical port, which gets an interface for that VLAN. An Open vSwitch bridge takes all.
func (b *network) vlans() (noVLAN, noTrunks bool) {
	switch {
	case b.Type == cluster.VNet && b.AwareOfSDN != nil:
		return *b.AwareOfSDN == 0, *b.AwareOfSDN == 0
	case b.Type == linuxBridge && b.Ports != nil && b.VLANAware == 0 && !slices.ContainsFunc(b.Options, setsUp):
		return *b.Ports == "", true
	}
	return false, false
}

// setsUp reports whether a line of the configuration of a bridge may give it ports or make it VLAN-aware, which Proxmox VE does
// not list then.
func setsUp(line string) bool {
	return strings.Contains(line, " master ") || strings.Contains(line, "addif") || strings.Contains(line, "vlan_filtering")
}

// A nodeGuest is one entry of a list of guests of a node, which does not lag.
type nodeGuest struct {
	kind   guest.Kind
	unread bool // the list could not be read

	VMID      number `json:"vmid"`
	Name      text   `json:"name"`
	Status    string `json:"status"`
	Template  number `json:"template"`
	Tags      string `json:"tags"`
	Lock      string `json:"lock"`
	Uptime    number `json:"uptime"`
	CPUs      number `json:"cpus"`
	MaxMemory number `json:"maxmem"`
	MaxDisk   number `json:"maxdisk"`
}

// A member is one entry of /cluster/status: the cluster itself, or a node.
type member struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Address string `json:"ip"`
	Quorate number `json:"quorate"`
	Online  number `json:"online"`
}

// A pool is one entry of /pools.
type pool struct {
	ID      string `json:"poolid"`
	Comment string `json:"comment"`
}

// A task is one entry of the tasks of the cluster or of a node. A running task has no end.
type task struct {
	UPID  string `json:"upid"`
	Node  string `json:"node"`
	Type  string `json:"type"`
	ID    text   `json:"id"`
	User  string `json:"user"`
	Token string `json:"tokenid"`
	End   number `json:"endtime"`

	Status text `json:"status"` // how it ended
}

// version is the response of /version.
type version struct {
	Version text `json:"version"`
}

// interfaces is the response of agent/network-get-interfaces.
type interfaces struct {
	Result agentResult `json:"result"`
}

// mostSaid is how much of what an agent says is kept: it is text of a guest.
const mostSaid = 200

// An agentResult has the interfaces, or why the agent does not report them: a list, or an object
// with the error of the agent, which the server passes on with status 200.
type agentResult struct {
	list    []agentInterface
	refusal string
}

func (r *agentResult) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '{' {
		return json.Unmarshal(data, &r.list)
	}
	var failed struct {
		Error struct {
			Class text `json:"class"`
			Desc  text `json:"desc"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &failed); err != nil {
		return err
	}
	said := []rune(cmp.Or(string(failed.Error.Desc), string(failed.Error.Class), "an answer without interfaces"))
	r.refusal = string(said[:min(len(said), mostSaid)])
	return nil
}

type agentInterface struct {
	Name      string `json:"name"`
	MAC       string `json:"hardware-address"`
	Addresses []struct {
		Address string `json:"ip-address"`
	} `json:"ip-addresses"`
}

// splitTags splits the tags of a guest.
func splitTags(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ';' })
}
