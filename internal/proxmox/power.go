package proxmox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"stackgen/internal/cluster"
	"stackgen/internal/power"
)

// powerWrite starts or stops one guest, takes a snapshot of it, or goes back to one.
var powerWrite = write{
	http.MethodPost, regexp.MustCompile(`^/api2/json/nodes/[^/]+/(qemu|lxc)/[0-9]+/` +
		`(status/(start|shutdown|stop|reboot|suspend|resume)|snapshot|snapshot/[^/]+/rollback)$`),
}

// A Power starts, stops, saves and resets VMs, one call for each. It reads a VM again before that.
type Power struct{ *client }

// OpenPower connects to a cluster.
func OpenPower(ctx context.Context, c Config) (*Power, error) {
	api, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Power{api}, nil
}

// Close closes the connections.
func (p *Power) Close() { p.close() }

// A Now is what a VM does at this moment.
type Now struct {
	State  power.State
	Lock   string // that keeps an action from it, or empty
	Uptime int64  // seconds
	PID    int64  // of its process on the node: another one after a restart
	HA     bool   // the HA manager starts and stops it
}

// Now reads what a VM does.
func (p *Power) Now(ctx context.Context, g *cluster.Guest) (Now, error) {
	var s struct {
		Status string `json:"status"`
		QMP    string `json:"qmpstatus"`
		Lock   string `json:"lock"`
		Uptime number `json:"uptime"`
		PID    number `json:"pid"`
		HA     struct {
			Managed number `json:"managed"`
		} `json:"ha"`
	}
	if err := p.get(ctx, g.Path("status", "current"), &s); err != nil {
		return Now{}, err
	}
	now := Now{State: power.State(s.Status), Lock: s.Lock, Uptime: int64(s.Uptime), PID: int64(s.PID), HA: s.HA.Managed != 0}
	switch {
	case s.Lock == "suspended":
		now.State, now.Lock = power.Hibernated, ""
	case now.State == power.Running && s.QMP == "paused":
		now.State = power.Paused
	}
	return now, nil
}

// readsAtOnce is how many guests are read at the same time.
const readsAtOnce = 16

// ReadPower reads what guests do at this moment into their status. Of one that cannot be read it is as the list had it.
func ReadPower(ctx context.Context, c Config, guests []*cluster.Guest) error {
	p, err := OpenPower(ctx, c)
	if err != nil {
		return err
	}
	defer p.Close()
	var all errgroup.Group
	all.SetLimit(readsAtOnce)
	for _, g := range guests {
		all.Go(func() error {
			if now, err := p.Now(ctx, g); err == nil {
				g.Status = string(now.State)
			}
			return nil
		})
	}
	return all.Wait()
}

// ErrOther is a guest that is not the one that was read.
var ErrOther = errors.New("another guest has its VMID now: nothing was sent")

// Same reads the configuration of a VM again, without secrets and its lock. The error says that
// it is another guest, or that it is not there any more.
func (p *Power) Same(ctx context.Context, g *cluster.Guest) (entries map[string]string, err error) {
	raw, err := p.entries(ctx, configPath(g))
	if err != nil {
		return nil, err
	}
	is := safeConfig(raw)
	if g.Config == nil {
		return nil, errors.New("its configuration was not read")
	}
	if was := g.Config; !strings.EqualFold(is.UUID, was.UUID) || is.UUID == "" && !slices.Equal(is.MACs, was.MACs) {
		return nil, ErrOther
	}
	delete(is.Raw, "lock")
	return is.Raw, nil
}

// entries are the entries of a configuration.
func (p *Power) entries(ctx context.Context, path string) (map[string]string, error) {
	var entries map[string]json.RawMessage
	if err := p.get(ctx, path, &entries); err != nil {
		return nil, err
	}
	raw := map[string]string{}
	for key, value := range entries {
		raw[key] = plain(value)
	}
	return raw, nil
}

// Send sends a call, once, and returns the task that does it. part is the path below the VM.
func (p *Power) Send(ctx context.Context, g *cluster.Guest, part []string, body map[string]string) (RunningTask, error) {
	path := g.Path(part...)
	var upid string
	if err := p.api.Post(powerWrite.in(ctx), path, body, &upid); err != nil {
		return RunningTask{}, p.explain("POST "+path, err)
	}
	return RunningTask{UPID: upid, Node: g.Node, VMID: g.VMID, Kind: g.Kind}, nil
}

// Ended returns how a task has ended; empty while it runs.
func (p *Power) Ended(ctx context.Context, t RunningTask) (exit string, err error) {
	var s struct {
		Status string `json:"status"`
		Exit   string `json:"exitstatus"`
	}
	path := fmt.Sprintf("/nodes/%s/tasks/%s/status", url.PathEscape(t.Node), url.PathEscape(t.UPID))
	if err := p.get(ctx, path, &s); err != nil || s.Status != "stopped" {
		return "", err
	}
	return s.Exit, nil
}

// StartAfter returns the start of a VM that began with a task of it or later, with its exit;
// nil if the credentials see none.
func (p *Power) StartAfter(ctx context.Context, of RunningTask) (*RunningTask, error) {
	var tasks []task
	path := fmt.Sprintf("/nodes/%s/tasks?source=all&typefilter=%s&vmid=%d&since=%d",
		url.PathEscape(of.Node), of.Kind.Task("start"), of.VMID, of.began())
	if err := p.get(ctx, path, &tasks); err != nil || len(tasks) == 0 {
		return nil, err
	}
	// The list has those that run first. One whose end the node has not noticed yet is among them.
	start := &RunningTask{UPID: tasks[0].UPID, Node: of.Node, Type: tasks[0].Type, VMID: of.VMID, Kind: of.Kind}
	start.Exit, _ = p.Ended(ctx, *start) // of one that cannot be read, it is not known that it has ended
	return start, nil
}

// Stopped reports whether one of the last tasks of a VM has stopped its QEMU.
func (p *Power) Stopped(ctx context.Context, g *cluster.Guest) (bool, error) {
	var tasks []task
	path := fmt.Sprintf("/nodes/%s/tasks?source=all&vmid=%d&limit=5", url.PathEscape(g.Node), g.VMID)
	err := p.get(ctx, path, &tasks)
	return slices.ContainsFunc(tasks, func(t task) bool { return slices.Contains([]string{"qmreboot", "qmstop", "qmshutdown"}, t.Type) }), err
}

// Working reports whether a task of a guest runs that the credentials see.
func (p *Power) Working(ctx context.Context, g *cluster.Guest) bool {
	var tasks []task
	path := fmt.Sprintf("/nodes/%s/tasks?source=active&vmid=%d", url.PathEscape(g.Node), g.VMID)
	return p.get(ctx, path, &tasks) == nil && len(tasks) > 0
}

// Succeeded reports whether a task that ended so has done its work.
func Succeeded(exit string) bool { return exit == "OK" || strings.HasPrefix(exit, "WARNINGS") }

// lockTimeout is what a task or call says if another process kept the lock of the configuration of a guest.
// OpenTofu breaks long lines, so any space may be a line break.
var lockTimeout = regexp.MustCompile(
	`can't\s+lock\s+file\s+'/(?:var/lock/qemu-server/lock-\d+\.conf|run/lock/lxc/pve-config-\d+\.lock)'\s+-\s+got\s+timeout`)

// MeetsLock reports whether the text of an error says that another process kept the lock of the configuration
// of a guest, so that what was asked for has not begun: `qm cleanup` of qemu-server 9.2 keeps it for
// up to 30 seconds after a restart.
func MeetsLock(text string) bool { return lockTimeout.MatchString(text) }

// LockTimeout reports whether a task ended because another process had the file lock of the
// configuration of its guest for ten seconds. A task that takes that lock once has done nothing
// then. Source: lock_file_full of PVE::Tools.
func LockTimeout(exit string, t RunningTask) bool {
	return strings.TrimSpace(exit) == "can't lock file '"+t.Kind.LockFile(t.VMID)+"' - got timeout"
}

// log is the first lines of the log of a task that has ended. Without an answer there are none:
// the log is still where it was.
func (p *Power) log(ctx context.Context, t RunningTask) []string {
	lines, err := (&Tasks{client: p.client}).Log(ctx, t, 0)
	if err != nil {
		return nil
	}
	return lines
}

// Terminated reports whether a shutdown ended with a stop, as its log says. Source: _do_vm_stop
// of PVE::QemuServer.
func (p *Power) Terminated(ctx context.Context, t RunningTask) bool {
	return slices.ContainsFunc(p.log(ctx, t), func(line string) bool { return strings.Contains(line, "terminating now with SIG") })
}

// Warnings are the lines of the log of a task that warn.
func (p *Power) Warnings(ctx context.Context, t RunningTask) []string {
	var out []string
	for _, l := range p.log(ctx, t) {
		if text, warns := strings.CutPrefix(l, "WARN: "); warns {
			out = append(out, text)
		}
	}
	return out
}

// Pending are the entries of the configuration of a VM that wait for a restart.
func (p *Power) Pending(ctx context.Context, g *cluster.Guest) ([]cluster.Pending, error) {
	_, pending, err := (&reader{client: p.client}).readSettings(ctx, g)
	return pending, err
}

// Gone reports whether an error says that the node has no such VM.
func Gone(err error) bool {
	var s *Status
	return errors.As(err, &s) && s.Code >= http.StatusInternalServerError && strings.Contains(s.Reason, "does not exist")
}

// noSnapshot reports whether an error says that a VM has no such snapshot.
func noSnapshot(err error) bool {
	var s *Status
	return errors.As(err, &s) && strings.HasPrefix(s.Reason, "snapshot '") && strings.Contains(s.Reason, "does not exist")
}

// Forbidden reports whether an error says that a privilege is missing.
func Forbidden(err error) bool { return statusCode(err) == http.StatusForbidden }
