package hardware

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// An Unreadable is an entry of a configuration that Proxmox VE accepts and the provider
// cannot decode: every plan of a stack with the VM fails, whatever its profile is.
type Unreadable struct {
	Property string // of a spec, or ""
	Key      string // of the entry
	Has      string // what the VM has, as a sentence
	Them     string // the pronoun for it
	Cannot   string // what the provider cannot read
	Step     string // what the options do, as an instruction
	Effect   string // what the options do, as a statement
	Options  string // of pvesh set, quoted for a shell; empty if a person has to decide
	Neutral  bool   // the options do not change the VM
}

// FindUnreadable returns the first entry that the provider cannot decode, or nil.
func FindUnreadable(raw map[string]string) *Unreadable {
	for _, key := range slices.SortedFunc(maps.Keys(raw), natural.Compare) {
		if hidden(raw[key]) {
			continue // its text is not known, and must not be replaced
		}
		var u *Unreadable
		switch strings.TrimRight(key, "0123456789") {
		case "net":
			u = vlanRange(key, raw[key])
		case "smbios":
			u = plainSMBIOS(raw[key])
		case "ide", "sata", "scsi", "virtio":
			u = decimals(guest.Disks, key, raw[key], "mbps_rd", "mbps_rd_max", "mbps_wr", "mbps_wr_max")
		case "numa":
			u = decimals(guest.NUMANodes, key, raw[key], "memory")
		case "memory":
			u = namedMemory(raw[key])
		case "migrate_downtime":
			u = &Unreadable{Has: "migrate_downtime is set", Them: "it", Cannot: "migrate_downtime", Step: "remove it",
				Effect: "without it, a live migration pauses the VM for up to 0.1 s", Options: "--delete migrate_downtime"}
			u.Neutral = raw[key] == "0.1"
		case "mp", "dev":
			u = quotedText(key, raw[key])
		case "virtiofs":
			u = hiddenAttributes(key, raw[key])
		}
		if u != nil {
			u.Key = key
			return u
		}
	}
	return nil
}

// replace is the option that sets an entry.
func replace(key string, e pve.Entry) string {
	return fmt.Sprintf("--%s %s", key, shell.Quote(e.String()))
}

// vlanRange finds a range of VLANs in the trunks of a NIC.
func vlanRange(key, text string) *Unreadable {
	e := pve.Parse(text)
	vlans := e.Option("trunks")
	if !strings.Contains(vlans, "-") {
		return nil
	}
	u := &Unreadable{Property: guest.Networks, Has: "trunks of " + key + " has a range of VLANs", Them: "it", Cannot: "a range of VLANs"}
	if !slices.ContainsFunc(strings.Split(vlans, ";"), noVLANs) {
		u.Step, u.Effect, u.Neutral = "list the VLANs one by one", "listing the VLANs does not change the VM", true
		u.Options = replace(key, e.With("trunks", strings.Join(schema.VLANs(strings.Split(vlans, ";")), ";")))
		return u
	}
	u.Step, u.Effect = "list the VLANs that it needs, of 1 to 4094, one by one", "other VLANs change what the VM reaches"
	return u
}

// noVLANs reports whether a text is no VLAN and no range of them: Proxmox VE takes every number, and one
// range of those has more than fit into memory.
func noVLANs(text string) bool {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	return err1 != nil || err2 != nil || from < 1 || to > 4094 || from > to
}

// quotedText finds a text of a container that the provider puts between quotes as it is, and then reads as JSON: a quote
// ends it, a backslash changes the character after it, and JSON has no control characters.
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmox/nodes/containers/containers_types.go (UnmarshalJSON)
func quotedText(key, text string) *Unreadable {
	var read string
	if json.Unmarshal([]byte(`"`+text+`"`), &read) == nil && read == text {
		return nil
	}
	return &Unreadable{Property: guest.Mounts, Has: key + " has a quote, a backslash or a control character", Them: "it",
		Cannot: "a quote, a backslash or a control character in " + key, Step: "rename the path, and write it without, as root on its node",
		Effect: "another path changes what the container has"}
}

// plainSMBIOS finds a value that is no base64: the provider decodes all of them. Proxmox VE
// takes them as they are without base64=1, so that writing them in base64 changes nothing.
func plainSMBIOS(text string) *Unreadable {
	e := pve.Parse(text)
	if pve.True(e.Option("base64")) {
		return nil
	}
	out, unreadable := pve.Entry{{Name: "base64", Value: "1"}}, false
	for _, o := range e.Without("base64") {
		if o.Name != "uuid" {
			_, err := base64.StdEncoding.DecodeString(o.Value)
			unreadable = unreadable || err != nil
			o.Value = base64.StdEncoding.EncodeToString([]byte(o.Value))
		}
		out = append(out, o)
	}
	if !unreadable {
		return nil
	}
	return &Unreadable{Has: "smbios1 has values that are not in base64", Them: "them", Cannot: "values that are not in base64",
		Step: "write them in base64, which does not change the VM", Effect: "writing them in base64 does not change the VM",
		Options: "--smbios1 " + shell.Word(out.String()), Neutral: true}
}

// decimals finds numbers with decimals where the provider reads whole numbers only.
func decimals(property, key, text string, names ...string) *Unreadable {
	var found []string
	e, neutral := pve.Parse(text), true
	for i, o := range e {
		if !slices.Contains(names, o.Name) {
			continue
		}
		if _, err := strconv.Atoi(o.Value); err == nil {
			continue
		}
		f, err := strconv.ParseFloat(o.Value, 64)
		if err != nil || f > math.MaxInt32 {
			continue
		}
		found = append(found, o.Name)
		neutral = neutral && f == math.Trunc(f)
		e[i].Value = strconv.Itoa(int(math.Ceil(f)))
	}
	if found == nil {
		return nil
	}
	has := " is a decimal number"
	if len(found) > 1 {
		has = " are decimal numbers"
	}
	u := &Unreadable{Property: property, Has: strings.Join(found, " and ") + " of " + key + has, Them: "it", Cannot: "a decimal number there",
		Step: "write a whole number", Effect: "the command rounds it up", Options: replace(key, e), Neutral: neutral}
	if neutral {
		u.Effect = "a whole number does not change the VM"
	}
	return u
}

// namedMemory finds the memory with its name: the provider reads a number only.
func namedMemory(text string) *Unreadable {
	size, ok := pve.Parse(text).Get("current")
	if !ok {
		return nil
	}
	return &Unreadable{Property: guest.Memory, Has: "memory is written as " + text, Them: "it", Cannot: "current=",
		Step: "write the number alone, which does not change the VM", Effect: "the number alone does not change the VM",
		Options: "--memory " + shell.Word(size), Neutral: true}
}

// hiddenAttributes finds a shared directory with ACLs and without extended attributes, of
// which ACLs are a part: virtiofsd shares both, and the provider refuses the contradiction.
func hiddenAttributes(key, text string) *Unreadable {
	e := pve.Parse(text)
	if e.Option("expose-xattr") != "0" || e.Option("expose-acl") != "1" {
		return nil
	}
	return &Unreadable{Property: guest.Virtiofs, Has: key + " has expose-acl=1 and expose-xattr=0", Them: "it",
		Cannot: "expose-acl=1 with expose-xattr=0",
		Step:   "remove expose-xattr=0, which does not change the VM",
		Effect: "without expose-xattr=0, the VM does not change", Options: replace(key, e.Without("expose-xattr")), Neutral: true}
}
