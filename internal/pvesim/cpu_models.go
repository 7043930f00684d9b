package pvesim

import (
	"cmp"
	"slices"
	"strings"
)

// cpuModels are the CPU models of the emulator by vendor.
var cpuModels = map[string]string{
	"GenuineIntel": "486 Broadwell Broadwell-IBRS Broadwell-noTSX Broadwell-noTSX-IBRS Cascadelake-Server Cascadelake-Server-noTSX " +
		"Cascadelake-Server-v2 Cascadelake-Server-v4 Cascadelake-Server-v5 Conroe Cooperlake Cooperlake-v2 GraniteRapids Haswell " +
		"Haswell-IBRS Haswell-noTSX Haswell-noTSX-IBRS Icelake-Client Icelake-Client-noTSX Icelake-Server Icelake-Server-noTSX " +
		"Icelake-Server-v3 Icelake-Server-v4 Icelake-Server-v5 Icelake-Server-v6 IvyBridge IvyBridge-IBRS KnightsMill Nehalem " +
		"Nehalem-IBRS Penryn SandyBridge SandyBridge-IBRS SapphireRapids SapphireRapids-v2 Skylake-Client Skylake-Client-IBRS " +
		"Skylake-Client-noTSX-IBRS Skylake-Client-v4 Skylake-Server Skylake-Server-IBRS Skylake-Server-noTSX-IBRS Skylake-Server-v4 " +
		"Skylake-Server-v5 Westmere Westmere-IBRS core2duo coreduo pentium pentium2 pentium3",
	"AuthenticAMD": "EPYC EPYC-Genoa EPYC-IBPB EPYC-Milan EPYC-Milan-v2 EPYC-Rome EPYC-Rome-v2 EPYC-Rome-v3 EPYC-Rome-v4 EPYC-v3 " +
		"EPYC-v4 Opteron_G1 Opteron_G2 Opteron_G3 Opteron_G4 Opteron_G5 athlon phenom",
	"default": "host kvm32 kvm64 max qemu32 qemu64 x86-64-v2 x86-64-v2-AES x86-64-v3 x86-64-v4",
}

func nodeCPUModels(c *call) (any, error) {
	out := []object{}
	if c.w.allowed(c.who, "/nodes", "Sys.Audit") {
		for _, n := range c.w.seed.CPUs {
			out = append(out, object{"custom": 1, "name": "custom-" + n, "vendor": "default"})
		}
	}
	for vendor, names := range cpuModels {
		for _, n := range strings.Fields(names) {
			out = append(out, object{"custom": 0, "name": n, "vendor": vendor})
		}
	}
	return out, nil
}

// cpuModel is the CPU model of a configuration.
func cpuModel(conf map[string]string) string {
	kind, _, _ := strings.Cut(conf["cpu"], ",")
	return strings.TrimPrefix(kind, "cputype=")
}

// useModel returns the error of a guest that gets a CPU model of the administrator. Source: check_cpu_model_access of
// PVE::API2::Qemu.
func (c *call) useModel(name string) error {
	if c.w.seed.Version == "9" {
		return c.w.require(c.who, "/mapping/cpu/"+name, "Mapping.Use")
	}
	return c.w.require(c.who, "/nodes", "Sys.Audit")
}

// checkModels checks the models of the CPU and of the display. A CPU model of the
// administrator must exist, and a guest gets it only from somebody who may see such models.
func (c *call) checkModels(set, was map[string]string) error {
	if name, custom := strings.CutPrefix(cpuModel(set), "custom-"); custom {
		if !slices.Contains(c.w.seed.CPUs, name) {
			return badParam("cpu", "invalid format - Custom cputype '%s' not found\n", name)
		}
		if cpuModel(was) != cpuModel(set) {
			if err := c.useModel(name); err != nil {
				return err
			}
		}
	}
	d := parseDrive(set["vga"])
	kind := cmp.Or(d.opts["type"], d.file)
	if d.opts["clipboard"] == "vnc" && (kind == "none" || strings.HasPrefix(kind, "serial")) {
		return failf("vga type %s is not compatible with VNC clipboard", kind)
	}
	return nil
}
