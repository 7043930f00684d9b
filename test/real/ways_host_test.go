//go:build unix

package real

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"stackgen/guest"
	"stackgen/internal/pvesim"
)

// hostCommands are the commands of a Proxmox VE node and of DNS that printed lines use.
// This test binary is all of them: their command lines become requests to the simulator.
var hostCommands = []string{"qm", "pct", "pvesh", "pveum", "pvesm", "pveam", "pvecm", "ha-manager", "qmrestore", "systemctl", "nsupdate", "dig"}

// hostAddress is the variable with the address that a host command is sent to.
const hostAddress = "STACKGEN_TEST_HOST"

// A hostCommand is a command line, and its standard input.
type hostCommand struct {
	Args  []string
	Stdin string
}

// hostReply is what a host command prints, and its exit code.
type hostReply struct {
	Output string
	Code   int
}

// runHostCommand is the main function of a host command.
func runHostCommand(name string) int {
	c := hostCommand{Args: append([]string{name}, os.Args[1:]...)}
	if name == "nsupdate" {
		in, err := io.ReadAll(os.Stdin)
		if err != nil {
			panic(err)
		}
		c.Stdin = string(in)
	}
	body, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	resp, err := http.Post(os.Getenv(hostAddress), "application/json", bytes.NewReader(body)) //nolint:noctx // the test has a timeout
	if err != nil {
		panic(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var reply hostReply
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		panic(err)
	}
	fmt.Print(reply.Output)
	return reply.Code
}

// A host runs host commands as root of one node of a simulated cluster.
type host struct {
	*faultCase
	node    string // where qm runs
	guest   int    // in which systemctl runs
	tickets map[*pvesim.Server]http.Header
	update  func(script string) error // changes DNS, or nil
}

// startHost makes the host commands available to command lines.
func (w *faultCase) startHost() *host {
	w.Helper()
	h := &host{faultCase: w, node: "pve1"}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var c hostCommand
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		reply := hostReply{}
		output, err := h.run(c)
		if err != nil {
			output, reply.Code = output+err.Error()+"\n", 255
		}
		reply.Output = output
		_ = json.NewEncoder(rw).Encode(reply)
	}))
	w.Cleanup(server.Close)
	bin := w.TempDir()
	self, err := os.Executable()
	check(w.T, err)
	for _, name := range hostCommands {
		check(w.T, os.Symlink(self, filepath.Join(bin, name)))
	}
	w.tools = w.tools.With(hostAddress+"="+server.URL, "PATH="+bin+string(filepath.ListSeparator)+faultEnv(w.tools, "PATH"))
	return h
}

// cluster is the cluster of the node: the one that the environment names.
func (h *host) cluster() *pvesim.Server {
	for _, o := range h.others {
		if strings.HasPrefix(faultEnv(h.tools, "PROXMOX_VE_ENDPOINT"), o.URL()+"/") {
			return o.Server
		}
	}
	return h.sim
}

// login gets a ticket of root@pam, who may do more than a token.
func (h *host) login(sim *pvesim.Server) http.Header {
	if h.tickets[sim] != nil {
		return h.tickets[sim]
	}
	form := url.Values{"username": {"root@pam"}, "password": {"stackgen"}}
	r := sim.Do(h.Context(), pvesim.Request{Method: "POST", Path: "/api2/json/access/ticket",
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte(form.Encode())})
	var answer struct {
		Data struct{ Ticket, CSRFPreventionToken string }
	}
	if err := json.Unmarshal(r.Body, &answer); err != nil || answer.Data.Ticket == "" {
		h.Fatalf("login: %d %s %s", r.Status, r.Reason, r.Body)
	}
	if h.tickets == nil {
		h.tickets = map[*pvesim.Server]http.Header{}
	}
	h.tickets[sim] = http.Header{"Cookie": {"PVEAuthCookie=" + url.PathEscape(answer.Data.Ticket)}, "Csrfpreventiontoken": {answer.Data.CSRFPreventionToken}}
	return h.tickets[sim]
}

// api sends a request as root, and waits for its task.
func (h *host) api(method, path string, form url.Values) (string, error) {
	sim := h.cluster()
	r := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h.login(sim).Clone()}
	switch {
	case len(form) > 0 && (method == "GET" || method == "DELETE"):
		r.Path += "?" + form.Encode()
	case len(form) > 0:
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = []byte(form.Encode())
	}
	answer := sim.Do(h.Context(), r)
	if answer.Status != 200 {
		return "", fmt.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Reason)
	}
	var task struct{ Data any }
	if err := json.Unmarshal(answer.Body, &task); err != nil {
		return "", err
	}
	if upid, _ := task.Data.(string); strings.HasPrefix(upid, "UPID:") {
		return upid + "\n", h.wait(upid)
	}
	return string(answer.Body) + "\n", nil
}

func (h *host) wait(upid string) error {
	for range 600 {
		body, err := h.api("GET", "/nodes/"+strings.Split(upid, ":")[1]+"/tasks/"+upid+"/status", nil)
		if err != nil {
			return err
		}
		var task struct {
			Data struct{ Status, Exitstatus string }
		}
		if err := json.Unmarshal([]byte(body), &task); err != nil {
			return err
		}
		if task.Data.Status == "stopped" {
			if task.Data.Exitstatus != "OK" {
				return fmt.Errorf("%s", task.Data.Exitstatus)
			}
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%s does not end", upid)
}

// run runs a host command.
func (h *host) run(c hostCommand) (string, error) {
	words, options, err := splitOptions(c.Args)
	if err != nil {
		return "", err
	}
	at := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	switch words[0] {
	case "qm":
		return h.guestTool(guest.VM, words, options)
	case "pct":
		if at(1) == "restore" {
			return "", h.restore(at(3), at(2))
		}
		return h.guestTool(guest.Container, words, options)
	case "pvesh":
		method := map[string]string{"get": "GET", "create": "POST", "set": "PUT", "delete": "DELETE"}[at(1)]
		if method == "" || at(2) == "" {
			return "", fmt.Errorf("unknown command %q", c.Args)
		}
		out, err := h.api(method, at(2), options)
		if off, found := strings.CutSuffix(at(2), "/status/shutdown"); found && err == nil {
			h.waitUntil("the lists of the cluster show what is off", func() bool { return h.listedOff(off[strings.LastIndex(off, "/")+1:]) })
		}
		return out, err
	case "pveum":
		switch at(1) + " " + at(2) {
		case "acl modify", "acl delete": // the command says which, and has no such option
			if options.Has("delete") {
				return "", fmt.Errorf("unknown command %q", c.Args)
			}
			options.Set("path", at(3))
			options.Set("delete", map[string]string{"modify": "0", "delete": "1"}[at(2)])
			return h.api("PUT", "/access/acl", options)
		case "role add", "role modify":
			if at(2) == "add" {
				options.Set("roleid", at(3))
				return h.api("POST", "/access/roles", options)
			}
			return h.api("PUT", "/access/roles/"+at(3), options)
		}
	case "pveam":
		if at(1) != "download" || at(3) == "" {
			return "", fmt.Errorf("unknown command %q", c.Args)
		}
		h.cluster().Change(func(seed *pvesim.Seed) {
			seed.Volumes = append(seed.Volumes, &pvesim.Volume{ID: at(2) + ":vztmpl/" + at(3), Node: h.node, Size: 3 << 20, Format: "txz", Content: "vztmpl"})
		})
		return "", nil
	case "pvesm":
		if at(1) != "set" {
			return "", fmt.Errorf("unknown command %q", c.Args)
		}
		return h.api("PUT", "/storage/"+at(2), options)
	case "pvecm":
		return h.api("GET", "/cluster/status", nil)
	case "ha-manager":
		switch at(1) {
		case "remove":
			return h.api("DELETE", "/cluster/ha/resources/"+at(2), options)
		case "status":
			return h.api("GET", "/cluster/ha/status/current", nil)
		}
	case "qmrestore":
		return "", h.restore(at(1), at(2))
	case "systemctl":
		h.change(h.guest, func(g *pvesim.Guest) { g.Agent.Mode = "present" })
		return "", nil
	case "nsupdate":
		if h.update == nil {
			return "", fmt.Errorf("no DNS server")
		}
		return "", h.update(c.Stdin)
	case "dig":
		return ";; a reply\n", nil
	}
	return "", fmt.Errorf("unknown command %q", c.Args)
}

// listedOff reports whether the lists of the cluster, which are some seconds old, say that a guest is off.
func (h *host) listedOff(vmid string) bool {
	var list struct{ Data []struct{ ID, Status string } }
	check(h.T, json.Unmarshal([]byte(h.get("/cluster/resources?type=vm")), &list))
	return slices.ContainsFunc(list.Data, func(g struct{ ID, Status string }) bool {
		return strings.HasSuffix(g.ID, "/"+vmid) && g.Status == "stopped"
	})
}

// splitOptions separates --name value and --name=value from words. Dashes in names of
// options are underscores in the API only where the option has them, so they are kept.
func splitOptions(args []string) (words []string, options url.Values, err error) {
	options = url.Values{}
	flags := []string{"online", "skiplock", "purge", "with-local-disks"}
	for i := 0; i < len(args); i++ {
		name, ok := strings.CutPrefix(args[i], "-")
		if !ok {
			words = append(words, args[i])
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		switch {
		case given:
		case slices.Contains(flags, name):
			value = "1"
			if i+1 < len(args) && (args[i+1] == "1" || args[i+1] == "0") {
				i, value = i+1, args[i+1]
			}
		case i+1 < len(args):
			i, value = i+1, args[i+1]
		default:
			return nil, nil, fmt.Errorf("option %s needs a value", args[i])
		}
		options.Set(name, value)
	}
	return words, options, nil
}

// wayNode is the node that a text names.
var wayNode = regexp.MustCompile(`\bon (pve\d)\b`)
