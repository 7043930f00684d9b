package pvesim

import (
	"fmt"
	"time"
)

func nodeHandlers() map[string]handler {
	return map[string]handler{
		"GET /nodes":                              nodeList,
		"GET /nodes/{node}/status":                nodeStatus,
		"GET /nodes/{node}/version":               version,
		"GET /nodes/{node}/network":               nodeNetwork,
		"GET /nodes/{node}/dns":                   nodeDNS,
		"GET /nodes/{node}/rrddata":               nodeRRD,
		"GET /nodes/{node}/time":                  nodeTime,
		"GET /nodes/{node}/certificates/info":     nodeCertificates,
		"POST /nodes/{node}/vzdump":               nodeBackup,
		"POST /nodes/{node}/termproxy":            nodeShell("termproxy"),
		"POST /nodes/{node}/vncshell":             nodeShell("vncshell"),
		"GET /nodes/{node}/capabilities/qemu/cpu": nodeCPUModels,

		"GET /nodes/{node}/capabilities/qemu/machines": nodeMachines,
		"GET /nodes/{node}/qemu/{vmid}/rrddata":        nodeRRD,
		"POST /nodes/{node}/network":                   networkCreate,
		"PUT /nodes/{node}/network":                    networkReload,
	}
}

func nodeList(c *call) (any, error) {
	out := []object{}
	for _, n := range c.w.nodes {
		out = append(out, c.nodeResource(n, true))
	}
	return out, nil
}

func nodeStatus(c *call) (any, error) {
	n := c.w.node(c.node)
	cpu, mem := c.w.nodeLoad(n)
	used := int64(n.Load.Disk)
	load := fmt.Sprintf("%.2f", cpu*float64(n.CPUs))
	_, ver, repo := release(c.w.seed.Version)
	kernel := object{"machine": "x86_64", "release": "6.8.12-9-pve", "sysname": "Linux",
		"version": "#1 SMP PREEMPT_DYNAMIC PMX 6.8.12-9 (2025-03-16T19:18Z)"}
	memory := object{"free": int64(n.Memory) - mem, "total": int64(n.Memory), "used": mem}
	if c.w.seed.Version == "9" {
		memory["available"] = int64(n.Memory) - mem
	}
	return object{
		"boot-info": object{"mode": "legacy-bios"}, "cpu": cpu,
		"cpuinfo": object{"cores": n.CPUs, "cpus": n.CPUs,
			"flags": "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov sse sse2 ht syscall nx aes avx2",
			"hvm":   "1", "mhz": "2000.000", "model": "Simulated Processor", "sockets": 1, "user_hz": 100},
		"current-kernel": kernel, "idle": 0, "ksm": object{"shared": 0},
		"kversion": "Linux 6.8.12-9-pve #1 SMP PREEMPT_DYNAMIC PMX 6.8.12-9 (2025-03-16T19:18Z)",
		"loadavg":  []string{load, load, load},
		"memory":   memory, "pveversion": "pve-manager/" + ver + "/" + repo,
		"rootfs": object{"avail": int64(n.Disk) - used, "free": int64(n.Disk) - used, "total": int64(n.Disk), "used": used},
		"swap":   object{"free": 0, "total": 0, "used": 0}, "uptime": int64(c.w.now.Sub(n.boot).Seconds()), "wait": 0,
	}, nil
}

// resolvers returns the name servers of a node.
func (n *Node) resolvers() []string {
	if len(n.DNS) > 0 {
		return n.DNS
	}
	return []string{"192.0.2.53"}
}

func nodeDNS(c *call) (any, error) {
	out := object{}
	for i, a := range c.w.node(c.node).resolvers() {
		out[fmt.Sprintf("dns%d", i+1)] = a
	}
	return out, nil
}

func nodeTime(c *call) (any, error) {
	return object{"localtime": c.w.now.Unix(), "time": c.w.now.Unix(), "timezone": "UTC"}, nil
}

func nodeRRD(c *call) (any, error) {
	if id := c.p["vmid"]; id != "" && c.w.published[atoi(id)] == nil {
		return nil, failf("RRD error: rrdcached@unix:/var/run/rrdcached.sock: rrd_fetch_r failed: "+
			"opening '/var/lib/rrdcached/db/pve2-vm/%s': No such file or directory", id)
	}
	step := map[string]time.Duration{"hour": time.Minute, "day": 30 * time.Minute, "week": 3 * time.Hour,
		"month": 12 * time.Hour, "year": 7 * 24 * time.Hour}[c.p["timeframe"]]
	if step == 0 {
		step = time.Minute
	}
	out := []object{}
	end := c.w.now.Truncate(step)
	for i := 69; i >= 0; i-- {
		o := object{"time": end.Add(-time.Duration(i) * step).Unix()}
		if n := c.w.node(c.node); n != nil && i < 10 && !c.has("vmid") {
			cpu, mem := c.w.nodeLoad(n)
			for k, v := range (object{"cpu": cpu, "iowait": 0, "loadavg": cpu * float64(n.CPUs), "maxcpu": n.CPUs, "memtotal": int64(n.Memory),
				"memused": mem, "netin": 0, "netout": 0, "roottotal": int64(n.Disk), "rootused": int64(n.Load.Disk), "swaptotal": 0, "swapused": 0}) {
				o[k] = v
			}
		}
		out = append(out, o)
	}
	return out, nil
}
