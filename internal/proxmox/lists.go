package proxmox

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// lax is a number that Proxmox VE may also send as text, as a boolean or not at
// all.
type lax float64

// UnmarshalJSON takes 1, "1", true, "" and null.
func (l *lax) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(bytes.TrimSpace(b)), `"`)
	switch text {
	case "", "null", "false":
		*l = 0
		return nil
	case "true":
		*l = 1
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("expected a number, found %.40q", text)
	}
	*l = lax(f)
	return nil
}

// word is text that Proxmox VE may also send as a number.
type word string

// UnmarshalJSON takes "8", 8 and null.
func (w *word) UnmarshalJSON(b []byte) error {
	text := string(bytes.TrimSpace(b))
	if strings.HasPrefix(text, `"`) {
		unquoted, err := strconv.Unquote(text)
		if err == nil {
			*w = word(unquoted)
			return nil
		}
		text = strings.Trim(text, `"`)
	}
	if text == "null" {
		text = ""
	}
	*w = word(text)
	return nil
}

// A resource is one entry of /cluster/resources.
type resource struct {
	Type       string `json:"type"`
	Node       string `json:"node"`
	Status     string `json:"status"`
	VMID       lax    `json:"vmid"`
	Name       word   `json:"name"`
	Template   lax    `json:"template"`
	Tags       string `json:"tags"`
	Lock       string `json:"lock"`
	Pool       string `json:"pool"`
	HA         string `json:"hastate"`
	Uptime     lax    `json:"uptime"`
	MaxCPU     lax    `json:"maxcpu"`
	CPU        lax    `json:"cpu"`
	MaxMemory  lax    `json:"maxmem"`
	Memory     lax    `json:"mem"`
	MaxDisk    lax    `json:"maxdisk"`
	Disk       lax    `json:"disk"`
	Storage    string `json:"storage"`
	PluginType string `json:"plugintype"`
	Shared     lax    `json:"shared"`
	Content    string `json:"content"`
}

// A listed is one entry of a node's own list of VMs, which does not lag.
type listed struct {
	VMID      lax    `json:"vmid"`
	Name      word   `json:"name"`
	Status    string `json:"status"`
	Template  lax    `json:"template"`
	Tags      string `json:"tags"`
	Lock      string `json:"lock"`
	Uptime    lax    `json:"uptime"`
	CPUs      lax    `json:"cpus"`
	MaxMemory lax    `json:"maxmem"`
	MaxDisk   lax    `json:"maxdisk"`
}

// A member is one entry of /cluster/status: the cluster itself, or a node.
type member struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Quorate lax    `json:"quorate"`
	Online  lax    `json:"online"`
}

type pool struct {
	ID      string `json:"poolid"`
	Comment string `json:"comment"`
}

// A task is one entry of /cluster/tasks; one without an end is under way.
// go-proxmox reads the list with types that do not hold for all of it.
type task struct {
	UPID string `json:"upid"`
	Node string `json:"node"`
	Type string `json:"type"`
	ID   word   `json:"id"`
	User string `json:"user"`
	End  lax    `json:"endtime"`
}

type version struct {
	Version word `json:"version"`
}

// interfaces is what a guest's agent says of its network.
type interfaces struct {
	Result []struct {
		Addresses []struct {
			Address string `json:"ip-address"`
		} `json:"ip-addresses"`
	} `json:"result"`
}

// tags splits what Proxmox VE stores joined.
func tags(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ';' })
}
