package terratest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// simulated is what the simulator's own cluster is called in the variables with
// which a user names a genuine one.
var simulated = map[string]string{
	"STACKGEN_TEST_NODE": "pve1", "STACKGEN_TEST_NODE2": "pve2", "STACKGEN_TEST_TEMPLATE": "9002", "STACKGEN_TEST_STORAGE": "local-lvm",
	"STACKGEN_TEST_BRIDGE": "vmbr0", "STACKGEN_TEST_VMIDS": "6000-6099", "STACKGEN_TEST_PREFIX": "sgtest",
}

// wrapper ends the simulator when its standard input does: however this process
// ends, its pipes are closed with it.
const wrapper = `stackgen sim --listen 127.0.0.1:0 </dev/null & sim=$!
trap 'kill $sim 2>/dev/null' TERM INT HUP
cat >/dev/null
kill $sim
wait $sim`

// simulate starts `stackgen sim` as a process and takes the variables it prints.
// It returns what ends it.
func simulate() (stop func() error, err error) {
	sim := exec.Command("sh", "-c", wrapper)
	var complaint strings.Builder
	sim.Stderr = &complaint
	stdin, err := sim.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := sim.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := sim.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		err := stdin.Close()
		if wait := sim.Wait(); wait != nil {
			return fmt.Errorf("stackgen sim: %w\n%s", wait, complaint.String())
		}
		return err
	}
	for name, value := range simulated {
		if err := os.Setenv(name, value); err != nil {
			return nil, errors.Join(err, stop())
		}
	}
	if err := take(stdout); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// take sets the variables that the simulator prints, up to the last one.
func take(stdout io.Reader) error {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		name, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		if !ok {
			return fmt.Errorf("stackgen sim prints %q", lines.Text())
		}
		if err := os.Setenv(name, strings.Trim(value, "'")); err != nil {
			return err
		}
		if name == "PROXMOX_VE_INSECURE" {
			return nil
		}
	}
	return fmt.Errorf("stackgen sim prints no variables: %w", lines.Err())
}
