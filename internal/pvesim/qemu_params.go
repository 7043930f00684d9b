package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// parseNet parses a network line. The keys "model" and "macaddr" are always
// explicit.
func parseNet(v string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(v, ",") {
		k, val, keyed := strings.Cut(part, "=")
		switch {
		case part == "":
		case !keyed:
			out["model"] = part
		case isModel(k):
			out["model"], out["macaddr"] = k, val
		default:
			out[k] = val
		}
	}
	return out
}

func isModel(k string) bool {
	switch k {
	case "virtio", "e1000", "e1000e", "e1000-82540em", "e1000-82544gc", "e1000-82545em", "i82551", "i82557b", "i82559er",
		"ne2k_isa", "ne2k_pci", "pcnet", "rtl8139", "vmxnet3":
		return true
	}
	return false
}

// printNet returns a network line as the server stores it.
func printNet(n map[string]string) string {
	out := n["model"] + "=" + n["macaddr"]
	for _, k := range slices.Sorted(maps.Keys(n)) {
		if k != "model" && k != "macaddr" {
			out += "," + k + "=" + n[k]
		}
	}
	return out
}

// cleanParams converts options to their stored form: it generates MAC addresses
// and UUIDs.
func (w *cluster) cleanParams(in map[string]string) map[string]string {
	out := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(in)) {
		v := in[k]
		switch {
		case netKey.MatchString(k):
			n := parseNet(v)
			if n["macaddr"] == "" {
				n["macaddr"] = w.mac()
			}
			v = printNet(n)
		case isDriveKey(k):
			v = parseDrive(v).String()
		case k == "vmgenid" && v == "1":
			v = w.uuid()
		case k == "cpuunits" && atoi(v) > 10000: // the most that version 2 of the control groups has
			v = "10000"
		case k == "description":
			v = strings.TrimRight(v, " \t\r\n")
		}
		out[k] = v
	}
	return out
}

// lostEmpty reports whether an empty value is lost: the configuration file has no
// notation for it.
func lostEmpty(k, v string) bool {
	return v == "" && k != "boot" && k != "tags" && k != "description"
}
