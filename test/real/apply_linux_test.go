package real

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestApplyAsks answers the question on a terminal: only yes applies, and every other
// answer leaves nothing. A destroy wants the name of the stack.
func TestApplyAsks(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(killedSpec, "vms: {a: {}, b: {}, c: {}, ", "vms: {", 1)})
	sim := p.simulate()
	p.render()
	before := p.list()
	p.asksAgain("apply", "yes\n", "not confirmed; nothing was changed")
	noWrites(t, sim)
	for _, answer := range []string{"no\n", "y\n", "YES\n", "\n", "\x04"} {
		p.answered(1, "apply", answer, "Only `yes` is accepted", "not confirmed; nothing was changed")
		noWrites(t, sim)
		if after := p.list(); !slices.Equal(after, before) {
			t.Fatalf("after %q, the files are %v, want %v", answer, after, before)
		}
	}
	p.answered(1, "apply", "\x03", "interrupted; nothing was changed")
	p.answered(0, "apply", "yes\n", "live is as its spec says")
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "defaults: {", "defaults: {tags: [late], ", 1))
	p.render()
	p.answeredAfter(3, "apply", "yes\n", func() { // somebody else applies the same
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
		sim.ResetLog()
	}, "the plan is stale: another run changed the state of this unit after it was planned", "run the same command again")
	noWrites(t, sim)
	p.deployed(0, "apply --yes", "nothing to do")
	sim.ResetLog()
	p.remove("stacks/live/.terragrunt-stack")
	p.asksAgain("destroy", "live\n", "not confirmed; nothing was changed")
	p.answered(1, "destroy", "yes\n", "To destroy live, type its name", "not confirmed; nothing was changed")
	if p.exists("stacks/live/.terragrunt-stack") {
		t.Error("a destroy that was not confirmed leaves .terragrunt-stack")
	}
	noWrites(t, sim)
	p.answered(0, "destroy", "live\n", "live is destroyed")
}

// TestDestroyOnlyConfirmed creates another VM and a pool of a stack while its destroy waits
// for the answer. Nothing is destroyed then, because nobody has seen them in the summary.
// The same command names them, and destroys them.
func TestDestroyOnlyConfirmed(t *testing.T) {
	t.Parallel()
	one := strings.Replace(killedSpec, "vms: {a: {}, b: {}, c: {}, d: {started: false}, e: {node: pve2, template: {vmid: 9002, node: pve1}}, f: {}}", "vms: {a: {started: false}}", 1)
	const pool = "pool: {id: live, create: true}\n"
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(one, pool, "", 1)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.answeredAfter(3, "destroy", "live\n", func() {
		p.write("specs/live.yaml", strings.Replace(one, "vms: {", "vms: {b: {started: false}, ", 1))
		p.render()
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
		sim.ResetLog()
	}, "VM 300 ", "type its name", "blocked: this was not in the summary that was confirmed: live: destroy 1 pool, 1 VM", "live: pool  live", "live: VM  b: VM 301 live-b on pve1", "to confirm it: `stackgen destroy`")
	noWrites(t, sim)
	p.answered(0, "destroy", "live\n", "destroy live: destroy 1 pool, 2 VMs", "live is destroyed")
}

// TestDestroyRestored: a VM that was gone when a destroy named it, and that somebody has restored before the answer, is not
// destroyed. The same command names it as one that is.
func TestDestroyRestored(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\n" +
		"defaults: {node: pve1, template: 9002, clone: linked, started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\n" +
		"vms: {a: {}, b: {}}\n"})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	was := stateOf(sim).guests[300].config
	sim.Remove(300)
	p.answeredAfter(3, "destroy", "live\n", func() {
		g := guestByHand(300, "pve1", "live-a")
		g.Running = false
		for _, key := range []string{"net0", "smbios1", "vmgenid", "meta"} {
			g.Config[key] = was[key]
		}
		check(t, sim.Add(g))
		sim.ResetLog()
	}, "VM 300 is gone already", "type its name", "blocked: this was not in the summary that was confirmed: live: destroy 1 VM", "live: VM  a: VM 300")
	noWrites(t, sim)
	p.answered(0, "destroy", "live\n", "destroy live: destroy 2 VMs", "live is destroyed")
}

// answered runs stackgen on a terminal, and types an answer after the question.
func (p *project) answered(want int, line, answer string, contains ...string) {
	p.Helper()
	p.answeredAfter(want, line, answer, func() {}, contains...)
}

// asksAgain fails unless what was typed before the question is no answer to it.
func (p *project) asksAgain(line, early string, contains ...string) {
	p.Helper()
	c := p.onTerminal(line)
	c.types(early)
	p.answer(c, 1, "no\n", func() {}, contains...)
}

// answeredAfter does the same, and something else between the question and the answer.
func (p *project) answeredAfter(want int, line, answer string, meanwhile func(), contains ...string) {
	p.Helper()
	p.answer(p.onTerminal(line), want, answer, meanwhile, contains...)
}

// answer types an answer after the question of a command, and waits for its end.
func (p *project) answer(c *terminalRun, want int, answer string, meanwhile func(), contains ...string) {
	p.Helper()
	if !asks(c.text, c.read) {
		_ = c.Process.Kill() // it may have ended
		_, text := c.ends()
		p.Fatalf("%v has ended, or was killed after 2 minutes, without a question: %v\n%s", c.Args, c.ProcessState, text)
	}
	meanwhile()
	c.types(answer)
	code, text := c.ends()
	if code != want {
		p.Fatalf("%v, answer %q: exit %d, want %d\n%s", c.Args, answer, code, want, text)
	}
	p.contains(text, contains...)
}

// A terminalRun is stackgen on a terminal of its own.
type terminalRun struct {
	*exec.Cmd
	p      *project
	master *os.File // the side of the person
	text   func() string
	read   chan struct{} // closed at the end of what it shows
}

// onTerminal starts stackgen on a terminal.
func (p *project) onTerminal(line string) *terminalRun {
	p.Helper()
	master, slave := terminal(p.T)
	p.Cleanup(func() { _ = master.Close() }) // it may be closed
	c := &terminalRun{Cmd: p.command(line), p: p, master: master, read: make(chan struct{})}
	c.Env = append(slices.Clone(c.Env), "TERM=xterm", "CI=true") // lines, not rows
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if signal.Ignored(syscall.SIGHUP) { // under nohup; a process inherits that, but not that a signal is caught
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	check(p.T, c.Start())
	check(p.T, slave.Close())
	var mu sync.Mutex
	var out bytes.Buffer
	c.text = func() string { mu.Lock(); defer mu.Unlock(); return out.String() }
	go func() {
		defer close(c.read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			mu.Lock()
			out.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return c
}

func (c *terminalRun) types(text string) {
	c.p.Helper()
	_, err := c.master.WriteString(text)
	check(c.p.T, err)
}

// ends waits for the end, and returns the exit code and everything that was shown.
func (c *terminalRun) ends() (int, string) {
	_ = c.Wait() // its status says how it ended
	<-c.read
	return c.ProcessState.ExitCode(), c.text()
}

// asks waits for a question in a text, and reports whether it was asked before the end and
// within 2 minutes.
func asks(text func() string, end <-chan struct{}) bool {
	for range 2400 {
		if s := text(); slices.ContainsFunc([]string{"accepted: ", "type its name: ", "[y/N] "}, func(asked string) bool { return strings.Contains(s, asked) }) {
			return true
		}
		select {
		case <-end:
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false
}

// terminal is a new terminal: the side of the person, and that of the program.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	check(t, err)
	check(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	check(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	check(t, err)
	return master, slave
}
