package real

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// simulation is a simulator and a folder in which OpenTofu with the real provider
// manages it.
type simulation struct {
	t   *testing.T
	sim *pvesim.Server
	dir string
	env []string
	bin string
}

// tools is the absolute path of the tools folder.
func tools(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(repository, ".tools"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bin", "tofu")); err != nil {
		t.Fatalf("%v: run make tools", err)
	}
	return dir
}

func newSimulation(t *testing.T) *simulation {
	t.Helper()
	dir := tools(t)
	sim, err := pvesim.New(pvesim.Options{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	w := &simulation{t: t, sim: sim, dir: t.TempDir(), bin: filepath.Join(dir, "bin", "tofu")}
	w.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + w.dir, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
		"TF_CLI_CONFIG_FILE=" + filepath.Join(dir, "tofurc")}, sim.Env()...)
	src, err := os.ReadFile(filepath.Join("testdata", "simulated", "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("main.tf", string(src))
	w.tofu("init", "-input=false")
	return w
}

func (w *simulation) write(name, body string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(body), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// tofu runs a command that must succeed.
func (w *simulation) tofu(args ...string) {
	w.t.Helper()
	if out, err := w.runs(args...); err != nil {
		w.t.Fatalf("tofu %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// runs runs a command of OpenTofu.
func (w *simulation) runs(args ...string) (out []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.bin, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd.CombinedOutput()
}

// planned returns the actions of a plan by address, without no-op.
func (w *simulation) planned(args ...string) map[string]string {
	w.t.Helper()
	w.tofu(append([]string{"plan", "-input=false", "-out=p"}, args...)...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.bin, "show", "-json", "p")
	cmd.Dir, cmd.Env = w.dir, w.env
	raw, err := cmd.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	var plan struct {
		Changes []struct {
			Address string `json:"address"`
			Change  struct {
				Actions   []string `json:"actions"`
				Importing any      `json:"importing"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(raw, &plan); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range plan.Changes {
		action := strings.Join(c.Change.Actions, "+")
		if c.Change.Importing != nil {
			action = "import " + action
		}
		if action != "no-op" {
			out[strings.TrimPrefix(c.Address, "proxmox_virtual_environment_")] = action
		}
	}
	return out
}

func (w *simulation) want(what string, got map[string]string, pairs ...string) {
	w.t.Helper()
	want := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		want[pairs[i]] = pairs[i+1]
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Fatalf("%s: the plan is %v, want %v", what, got, want)
	}
}

// api calls the API by hand and waits for the task.
func (w *simulation) api(method, path string, form url.Values) any {
	w.t.Helper()
	h := http.Header{}
	h.Set("Authorization", "PVEAPIToken="+w.sim.Token())
	r := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h}
	if form != nil && method != "DELETE" {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = []byte(form.Encode())
	} else if form != nil {
		r.Path += "?" + form.Encode()
	}
	resp := w.sim.Do(context.Background(), r)
	if resp.Status != 200 {
		w.t.Fatalf("%s %s: %d %s", method, path, resp.Status, resp.Reason)
	}
	var v struct{ Data any }
	if err := json.Unmarshal(resp.Body, &v); err != nil {
		w.t.Fatal(err)
	}
	if upid, ok := v.Data.(string); ok && strings.HasPrefix(upid, "UPID:") {
		w.wait(upid)
	}
	return v.Data
}

func (w *simulation) wait(upid string) {
	w.t.Helper()
	for range 200 {
		m := w.api("GET", "/nodes/"+strings.Split(upid, ":")[1]+"/tasks/"+upid+"/status", nil).(map[string]any)
		if m["status"] == "stopped" {
			if m["exitstatus"] != "OK" {
				w.t.Fatalf("%s: %v", upid, m["exitstatus"])
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.t.Fatalf("%s does not end", upid)
}

func (w *simulation) guests() []string {
	var out []string
	for _, x := range w.api("GET", "/cluster/resources?type=vm", nil).([]any) {
		out = append(out, x.(map[string]any)["id"].(string))
	}
	sort.Strings(out)
	return out
}

// TestProvider creates, changes, imports and destroys two guests with the real provider.
func TestProvider(t *testing.T) {
	t.Parallel()
	w := newSimulation(t)
	w.want("before anything", w.planned(), "pool.lab", "create", "vm.db", "create", "vm.web", "create")
	w.tofu("apply", "-auto-approve", "-input=false")
	w.want("after the apply", w.planned())
	if got := w.api("GET", "/nodes/pve2/qemu/202/config", nil).(map[string]any)["scsi0"]; !strings.HasPrefix(fmt.Sprint(got), "shared:9000/base-9000-disk-0.qcow2/202/") {
		t.Errorf("the linked clone's disk is %v", got)
	}
	w.want("more memory in the configuration", w.planned("-var", "memory=3072"), "vm.web", "update")
	w.tofu("apply", "-auto-approve", "-input=false", "-var", "memory=3072", "-var", "disk=12")
	w.want("after the update", w.planned("-var", "memory=3072", "-var", "disk=12"))
	w.byHand()
	w.adopt()
	w.tofu("destroy", "-auto-approve", "-input=false")
	if got, want := fmt.Sprint(w.guests()), "[qemu/123 qemu/124 qemu/125 qemu/9000 qemu/9002 qemu/9010 qemu/9011]"; got != want {
		t.Errorf("after destroy: %s, want %s", got, want)
	}
	if got := w.api("GET", "/pools", nil).([]any); len(got) != 0 {
		t.Errorf("pools after destroy: %v", got)
	}
	if n := w.sim.Writes(123); n != 0 {
		t.Errorf("%d writes to an unmanaged guest", n)
	}
}

// byHand changes guests without the provider.
func (w *simulation) byHand() {
	vars := []string{"-var", "memory=3072", "-var", "disk=12"}
	w.api("PUT", "/nodes/pve1/qemu/201/config", url.Values{"tags": {"managed;other"}})
	w.want("tags by hand", w.planned(vars...), "vm.web", "update")
	w.api("PUT", "/nodes/pve1/qemu/201/config", url.Values{"tags": {"managed;web"}})
	w.api("PUT", "/nodes/pve2/qemu/202/config", url.Values{"memory": {"777"}})
	w.api("POST", "/nodes/pve2/qemu/202/migrate", url.Values{"target": {"pve3"}})
	w.want("migrated by hand", w.planned(vars...))
	w.api("DELETE", "/nodes/pve3/qemu/202", url.Values{"purge": {"1"}})
	w.want("deleted by hand", w.planned(vars...), "vm.db", "create")
	w.tofu(append([]string{"apply", "-auto-approve", "-input=false"}, vars...)...)
	w.want("re-created", w.planned(vars...))
}

// adopt removes the state and imports everything.
func (w *simulation) adopt() {
	for _, f := range []string{"terraform.tfstate", "terraform.tfstate.backup"} {
		if err := os.Remove(filepath.Join(w.dir, f)); err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
	}
	vars := []string{"-var", "memory=3072", "-var", "disk=12"}
	w.want("state lost", w.planned(vars...), "pool.lab", "create", "vm.db", "create", "vm.web", "create")
	w.write("imports.tf", `
import {
  to = proxmox_virtual_environment_pool.lab
  id = "lab"
}
import {
  to = proxmox_virtual_environment_vm.web
  id = "pve1/201"
}
`)
	got := w.planned(vars...)
	if got["pool.lab"] != "import no-op" || !strings.HasPrefix(got["vm.web"], "import ") || strings.Contains(got["vm.web"], "delete") {
		w.t.Fatalf("import plan: %v", got)
	}
	w.api("DELETE", "/nodes/pve2/qemu/202", url.Values{"purge": {"1"}})
	w.tofu(append([]string{"apply", "-auto-approve", "-input=false"}, vars...)...)
	if err := os.Remove(filepath.Join(w.dir, "imports.tf")); err != nil {
		w.t.Fatal(err)
	}
	w.want("after the import", w.planned(vars...))
}
