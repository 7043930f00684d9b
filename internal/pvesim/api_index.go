package pvesim

// index returns the fixed list of subdirectories of a path.
func index(key string, names ...string) handler {
	return func(*call) (any, error) {
		out := []object{}
		for _, n := range names {
			out = append(out, object{key: n})
		}
		return out, nil
	}
}

func indexHandlers() map[string]handler {
	return map[string]handler{
		"GET /": index("subdir", "version", "cluster", "nodes", "storage", "access", "pools"),
		"GET /cluster": index("name", "acme", "backup", "backup-info", "ceph", "config", "firewall", "ha", "jobs", "log", "mapping",
			"metrics", "notifications", "nextid", "options", "replication", "resources", "status", "tasks", "sdn"),
		"GET /access": index("subdir", "users", "groups", "roles", "acl", "domains", "openid", "tfa", "ticket", "password"),
		"GET /nodes/{node}": index("name", "aplinfo", "apt", "capabilities", "ceph", "certificates", "config", "disks", "dns", "firewall",
			"hardware", "hosts", "journal", "lxc", "migrateall", "netstat", "network", "qemu", "query-url-metadata", "replication",
			"report", "rrd", "rrddata", "scan", "services", "spiceshell", "startall", "status", "stopall", "storage", "subscription",
			"suspendall", "syslog", "tasks", "termproxy", "time", "version", "vncshell", "vzdump", "wakeonlan", "sdn"),
		"GET /nodes/{node}/qemu/{vmid}": index("subdir", "config", "cloudinit", "pending", "status", "unlink", "vncproxy", "termproxy",
			"migrate", "resize", "move", "rrd", "rrddata", "monitor", "agent", "snapshot", "spiceproxy", "sendkey", "firewall",
			"mtunnel", "remote_migrate"),
		"GET /nodes/{node}/tasks/{upid}":       index("name", "log", "status"),
		"GET /nodes/{node}/qemu/{vmid}/status": index("subdir", "current", "start", "stop", "reset", "shutdown", "suspend", "reboot"),
		"GET /nodes/{node}/lxc/{vmid}": index("subdir", "config", "pending", "status", "vncproxy", "termproxy", "vncwebsocket",
			"spiceproxy", "migrate", "clone", "rrd", "rrddata", "firewall", "snapshot", "resize", "interfaces"),
		"GET /cluster/mapping":   index("name", "dir", "pci", "usb"),
		"GET /cluster/ha":        index("id", "status", "resources", "groups"),
		"GET /cluster/ha/status": index("name", "current", "manager_status"),
		"GET /cluster/config":    index("name", "nodes", "totem", "join", "qdevice", "apiversion"),
	}
}

// allHandlers joins the handler tables of all parts.
func allHandlers() map[string]handler {
	out := map[string]handler{}
	for _, part := range []map[string]handler{indexHandlers(), clusterHandlers(), haHandlers(), nodeHandlers(), storageHandlers(),
		downloadHandlers(), accessHandlers(), poolHandlers(), taskHandlers(), qemuHandlers(), lxcHandlers()} {
		for k, h := range part {
			out[k] = h
		}
	}
	return out
}
