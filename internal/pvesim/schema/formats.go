package schema

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	dnsName    = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9\-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9\-]*[a-zA-Z0-9])?)*$`)
	macAddr    = regexp.MustCompile(`^[a-fA-F0-9][02468aceACE][:]([a-fA-F0-9]{2}[:]){4}[a-fA-F0-9]{2}$`)
	configID   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]+$`)
	storageID  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9\-_.]*[a-zA-Z0-9]$`)
	poolName   = regexp.MustCompile(`^[A-Za-z0-9.\-_]+(/[A-Za-z0-9.\-_]+)*$`)
	tagName    = regexp.MustCompile(`^(?i)[a-z0-9_][a-z0-9_\-+.]*$`)
	userID     = regexp.MustCompile(`^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+$`)
	accessName = regexp.MustCompile(`^[A-Za-z0-9.\-_]+$`)
	email      = regexp.MustCompile(`^[\w+\-~]+(\.[\w+\-~]+)*@[a-zA-Z0-9\-]+(\.[a-zA-Z0-9\-]+)*$`)
	diskSize   = regexp.MustCompile(`^\d+(\.\d+)?[KMGT]?$`)
	listSep    = regexp.MustCompile(`[,;\s\x00]+`)
)

// SplitList splits a list parameter at any separator that the server accepts.
func SplitList(v string) []string {
	var out []string
	for _, s := range listSep.Split(v, -1) {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// checkNamed checks the formats that have a name. It accepts unknown formats,
// because a genuine server has more formats than these calls use.
func checkNamed(path, format, v string) string {
	if base, ok := strings.CutSuffix(format, "-list"); ok && base != "pve-tag" {
		for _, item := range SplitList(v) {
			if msg := checkNamed(path, base, item); msg != "" {
				return msg
			}
		}
		return ""
	}
	switch format {
	case "pve-vm-cpu-conf":
		return checkCPU(v)
	case "pve-vmid":
		n, err := strconv.Atoi(v)
		return unless(err == nil && n >= 100 && n <= 999999999 && v[0] != '0', "value does not look like a valid VM ID\n")
	case "dns-name":
		return unless(dnsName.MatchString(v), "value does not look like a valid DNS name\n")
	case "mac-addr":
		return unless(macAddr.MatchString(v), "value does not look like a valid unicast MAC address\n")
	case "pve-configid":
		return unless(configID.MatchString(v), fmt.Sprintf("invalid configuration ID '%s'\n", v))
	case "pve-storage-id":
		return unless(storageID.MatchString(v), fmt.Sprintf("storage ID '%s' contains illegal characters\n", v))
	case "pve-poolid":
		if poolName.MatchString(v) && strings.Count(v, "/") > 2 {
			return fmt.Sprintf("pool name '%s' nested too deeply (max levels = 3)\n", v)
		}
		return unless(poolName.MatchString(v), "value does not look like a valid pool name\n")
	case "pve-userid":
		return unless(userID.MatchString(v), fmt.Sprintf("value '%s' does not look like a valid user name\n", v))
	case "pve-roleid":
		return unless(accessName.MatchString(v), fmt.Sprintf("role name '%s' contains invalid characters\n", v))
	case "pve-groupid":
		return unless(accessName.MatchString(v), fmt.Sprintf("group name '%s' contains invalid characters\n", v))
	case "email-opt":
		return unless(v == "" || email.MatchString(v), "value does not look like a valid email address\n")
	case "urlencoded":
		return checkURLEncoded(v)
	case "pve-tag-list":
		for _, t := range SplitList(v) {
			if !tagName.MatchString(t) {
				return "invalid characters in tag\n"
			}
		}
		return ""
	case "pve-task-status-type":
		return unless(taskStatus.MatchString(v), fmt.Sprintf("invalid status '%s'\n", v))
	case "pve-storage-content":
		return unless(contentType.MatchString(v), fmt.Sprintf("invalid content type '%s'\n", v))
	case "disk-size":
		return unless(diskSize.MatchString(v), "value does not look like a valid disk size\n")
	case "ipv4", "ipv6", "address":
		return checkAddress(format, v)
	}
	return checkConfig(path, format, v)
}

func unless(ok bool, msg string) string {
	if ok {
		return ""
	}
	return msg
}

func checkURLEncoded(v string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!~*'()%"
	_, err := url.PathUnescape(v)
	if err == nil && strings.Trim(v, plain) == "" && onlyOf(v, plain) {
		return ""
	}
	return fmt.Sprintf("invalid urlencoded string: %s\n", v)
}

func onlyOf(v, set string) bool {
	for _, c := range v {
		if !strings.ContainsRune(set, c) {
			return false
		}
	}
	return true
}

func checkAddress(format, v string) string {
	a, err := netip.ParseAddr(v)
	switch format {
	case "ipv4":
		return unless(err == nil && a.Is4(), "value does not look like a valid ipv4 address\n")
	case "ipv6":
		return unless(err == nil && a.Is6(), "value does not look like a valid ipv6 address\n")
	}
	return unless(err == nil || dnsName.MatchString(v), "value does not look like a valid address\n")
}

// checkConfig checks the formats of the guest configuration.
func checkConfig(path, format, v string) string {
	switch format {
	case "pve-qm-ipconfig":
		_, msg := parseObject(path, v, ipConfig())
		return msg
	case "pve-ipv4-config":
		return unless(v == "dhcp" || v == "manual" || prefix(v, true), "value does not look like a valid ipv4 network configuration\n")
	case "pve-ipv6-config":
		return unless(v == "auto" || v == "dhcp" || v == "manual" || prefix(v, false),
			"value does not look like a valid ipv6 network configuration\n")
	case "pve-qm-boot":
		return checkBoot(v)
	case "pve-hotplug-features":
		return checkHotplug(v)
	case "pve-startup-order":
		return unless(startupOrder.MatchString(v), "unable to parse startup options\n")
	case "pve-qm-cicustom":
		return checkCloudFiles(path, v)
	case "pve-qm-smbios1", "pve-qm-rng", "pve-qm-watchdog":
		for _, part := range strings.Split(v, ",") {
			if k, val, ok := strings.Cut(part, "="); ok && (k == "" || val == "") {
				return "missing key in comma-separated list property\n"
			}
		}
	case "pve-volume-id":
		return unless(strings.Contains(v, ":"), fmt.Sprintf("unable to parse volume ID '%s'\n", v))
	}
	return ""
}

var startupOrder = regexp.MustCompile(`^((order=)?\d+|up=\d+|down=\d+)(,((order=)?\d+|up=\d+|down=\d+))*$`)

func prefix(v string, four bool) bool {
	p, err := netip.ParsePrefix(v)
	return err == nil && p.Addr().Is4() == four
}

// cpuFlags are the flags that a guest may have; only a model of the administrator may have
// others.
var cpuFlags = []string{"pcid", "spec-ctrl", "ibpb", "ssbd", "virt-ssbd", "amd-ssbd", "amd-no-ssb", "pdpe1gb", "md-clear",
	"hv-tlbflush", "hv-evmcs", "aes"}

// checkCPU refuses other flags. Whether a model exists depends on the cluster.
func checkCPU(v string) string {
	for part := range strings.SplitSeq(v, ",") {
		flags, is := strings.CutPrefix(part, "flags=")
		for flag := range strings.SplitSeq(flags, ";") {
			if is && (flag == "" || flag[0] != '+' && flag[0] != '-' || !slices.Contains(cpuFlags, flag[1:])) {
				return "VM-specific CPU flags must be a subset of: " + strings.Join(cpuFlags, ", ") + "\n"
			}
		}
	}
	return ""
}

func checkBoot(v string) string {
	list, ordered := strings.CutPrefix(v, "order=")
	switch {
	case ordered && list == "":
		return "missing key in comma-separated list property\n"
	case ordered:
		for _, dev := range SplitList(list) {
			if !bootDevice.MatchString(dev) {
				return fmt.Sprintf("format error\nboot.order: invalid format - invalid boot device '%s'\n\n", dev)
			}
		}
		return ""
	case onlyOf(v, "acdn") || strings.HasPrefix(v, "legacy="):
		return ""
	}
	return "invalid boot order\n"
}

var contentType = regexp.MustCompile(`^(backup|images|import|iso|none|rootdir|snippets|vztmpl)$`)

var taskStatus = regexp.MustCompile(`(?i)^(ok|error|warning|unknown)$`)

var bootDevice = regexp.MustCompile(`^(ide[0-3]|sata[0-5]|scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|` +
	`efidisk0|tpmstate0|net\d+|usb\d+|hostpci\d+)$`)

func checkHotplug(v string) string {
	if v == "0" || v == "1" {
		return ""
	}
	for _, f := range SplitList(v) {
		switch f {
		case "network", "disk", "cpu", "memory", "usb", "cloudinit":
		default:
			return fmt.Sprintf("invalid hotplug feature '%s'\n", f)
		}
	}
	return ""
}

// checkCloudFiles checks the snippets that replace parts of cloud-init.
func checkCloudFiles(path, v string) string {
	file := &Param{Type: "string", Optional: float64(1), format: "pve-volume-id"}
	parts := map[string]*Param{"meta": file, "network": file, "user": file, "vendor": file}
	for _, part := range strings.Split(v, ",") {
		if k, _, keyed := strings.Cut(part, "="); keyed && k != "" && parts[k] == nil {
			return fmt.Sprintf("format error\n%s.%s: "+
				"property is not defined in schema and the schema does not allow additional properties\n", path, k)
		}
	}
	_, msg := parseObject(path, v, parts)
	return msg
}

func ipConfig() map[string]*Param {
	str := func(format, requires string) *Param {
		return &Param{Type: "string", Optional: float64(1), format: format, Requires: requires}
	}
	return map[string]*Param{"ip": str("pve-ipv4-config", ""), "gw": str("ipv4", "ip"),
		"ip6": str("pve-ipv6-config", ""), "gw6": str("ipv6", "ip6")}
}
