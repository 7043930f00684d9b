// Package real tests what the real OpenTofu, Terragrunt and providers do with
// rendered projects: against the simulator, a DNS server and an S3 server, all
// on this machine. `make test` builds these tools and runs the tests.
package real

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// repository is the path from this package's folder to the repository.
const repository = "../.."

// stackgen is the program that the tests run.
var stackgen string

func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); slices.Contains(hostCommands, name) {
		os.Exit(runHostCommand(name))
	}
	// tools/install says which environment these tools need; without it the tests
	// have not been asked for. go test shows this as "[no tests to run]".
	if !strings.HasSuffix(filepath.ToSlash(os.Getenv("TF_CLI_CONFIG_FILE")), "/.tools/tofurc") {
		fmt.Println("stackgen/test/real is not run: its tests need the tools and the environment that `make test` sets up.")
		fmt.Println("testing: warning: no tests to run")
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stackgen-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	stackgen = filepath.Join(dir, "stackgen")
	if out, err := exec.Command("go", slices.Concat([]string{"build"}, buildFlags, []string{"-o", stackgen, "stackgen/cmd/stackgen"})...).CombinedOutput(); err != nil {
		fmt.Printf("go build: %v\n%s", err, out)
		return 1
	}
	if err := installTofuOnce(dir); err != nil {
		fmt.Println("cannot prepare the tools; run make tools:", err)
		return 1
	}
	return m.Run()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// guestByHand is a VM that somebody created by hand.
func guestByHand(vmid int, node, name string) *pvesim.Guest {
	id := fmt.Sprintf("%012d", vmid)
	return &pvesim.Guest{VMID: vmid, Node: node, Running: true, Agent: pvesim.Agent{Mode: "present"}, Config: map[string]string{
		"name": name, "memory": "4096", "cores": "2", "ostype": "l26", "boot": "order=scsi0", "scsihw": "virtio-scsi-pci",
		"scsi0":   fmt.Sprintf("shared:%d/vm-%d-disk-0.qcow2,size=32G", vmid, vmid),
		"net0":    fmt.Sprintf("virtio=BC:24:11:77:%02X:%02X,bridge=vmbr0", vmid/256, vmid%256),
		"smbios1": "uuid=77777777-0000-4d1a-9c54-" + id, "vmgenid": "88888888-0000-4b52-a6de-" + id, "meta": "creation-qemu=9.2.0,ctime=1700000000",
	}}
}
