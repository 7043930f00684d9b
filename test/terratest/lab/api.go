package lab

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Cluster is the API of a Proxmox VE cluster.
type Cluster struct {
	Settings
	DryRun bool // a sweep changes nothing
	client *http.Client
}

// Open prepares access to a cluster without a request.
func Open(s Settings) *Cluster {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: s.Insecure}, //nolint:gosec // PROXMOX_VE_INSECURE is set
		MaxIdleConnsPerHost: 4,
	}
	return &Cluster{Settings: s, client: &http.Client{Transport: transport, Timeout: time.Minute}}
}

// Client is the HTTP client of the cluster.
func (c *Cluster) Client() *http.Client { return c.client }

// Call makes a request and returns the answer's data. It waits for a task that the
// request starts; a failed task is an error.
func (c *Cluster) Call(ctx context.Context, method, path string, form url.Values) (json.RawMessage, error) {
	address := c.Endpoint + "/api2/json" + path
	var body io.Reader
	if method == http.MethodGet || method == http.MethodDelete {
		if len(form) > 0 {
			address += "?" + form.Encode()
		}
	} else {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "PVEAPIToken="+string(c.Token))
	if body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &StatusError{Method: method, Path: path, Status: resp.StatusCode, Reason: resp.Status}
	}
	var answer struct{ Data json.RawMessage }
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	var upid string
	if method != http.MethodGet && json.Unmarshal(answer.Data, &upid) == nil && strings.HasPrefix(upid, "UPID:") {
		return nil, c.await(ctx, upid)
	}
	return answer.Data, nil
}

// A StatusError is an answer that is not 200.
type StatusError struct {
	Method, Path string
	Status       int
	Reason       string // status and message, as the server puts them in the status line
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s %s: %s", e.Method, e.Path, e.Reason) }

// get makes a GET request and decodes the data.
func (c *Cluster) get(ctx context.Context, path string, into any) error {
	data, err := c.Call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// await polls a task until it has ended.
func (c *Cluster) await(ctx context.Context, upid string) error {
	parts := strings.Split(upid, ":")
	if len(parts) < 6 {
		return fmt.Errorf("%q is not a task", upid)
	}
	path := "/nodes/" + parts[1] + "/tasks/" + url.PathEscape(upid) + "/status"
	for {
		var task struct{ Status, ExitStatus string }
		if err := c.get(ctx, path, &task); err != nil {
			return err
		}
		if task.Status == "stopped" {
			if task.ExitStatus != "OK" && !strings.HasPrefix(task.ExitStatus, "WARNINGS") {
				return fmt.Errorf("task %s of VM %s: %s", parts[5], parts[6], task.ExitStatus)
			}
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause is the time between two polls.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(200 * time.Millisecond):
		return nil
	}
}

// A Guest is a VM or container in the cluster's list.
type Guest struct {
	VMID     int
	Node     string
	Type     string // qemu or lxc
	Status   string
	Pool     string
	Template int
}

// Guests returns the guests in the range of the settings. The list is current except
// for names; Config has those.
func (c *Cluster) Guests(ctx context.Context) ([]Guest, error) {
	all, err := c.All(ctx)
	var in []Guest
	for _, g := range all {
		if g.VMID >= c.First && g.VMID <= c.Last {
			in = append(in, g)
		}
	}
	return in, err
}

// All returns the cluster's guests.
func (c *Cluster) All(ctx context.Context) ([]Guest, error) {
	var all []Guest
	err := c.get(ctx, "/cluster/resources?type=vm", &all)
	return all, err
}

// Config is a VM's configuration in Proxmox VE: every value is text.
type Config map[string]string

// Config reads the configuration of a guest.
func (c *Cluster) Config(ctx context.Context, g Guest) (Config, error) {
	var raw map[string]any
	if err := c.get(ctx, g.path()+"/config", &raw); err != nil {
		return nil, err
	}
	config := Config{}
	for key, value := range raw {
		config[key] = fmt.Sprint(value)
	}
	return config, nil
}

// Status reads the current status of a guest, which the list may lack.
func (c *Cluster) Status(ctx context.Context, g Guest) (string, error) {
	var now struct{ Status string }
	err := c.get(ctx, g.path()+"/status/current", &now)
	return now.Status, err
}

// Tags returns the VM's tags.
func (c Config) Tags() []string {
	return strings.FieldsFunc(c["tags"], func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
}

// Property returns a part of a value such as virtio=MAC,bridge=vmbr0.
func (c Config) Property(key, name string) string {
	for _, part := range strings.Split(c[key], ",") {
		if value, ok := strings.CutPrefix(part, name+"="); ok {
			return value
		}
	}
	return ""
}

func (g Guest) path() string { return fmt.Sprintf("/nodes/%s/%s/%d", g.Node, g.Type, g.VMID) }

// Migrate moves a VM that is stopped to another node.
func (c *Cluster) Migrate(ctx context.Context, g Guest, target string) error {
	_, err := c.Call(ctx, http.MethodPost, g.path()+"/migrate", url.Values{"target": {target}})
	return err
}

// A Pool is a resource pool.
type Pool struct {
	ID      string `json:"poolid"`
	Comment string
}

// Pools returns the pools whose id begins with the prefix of the settings.
func (c *Cluster) Pools(ctx context.Context) ([]Pool, error) {
	var all, ours []Pool
	if err := c.get(ctx, "/pools", &all); err != nil {
		return nil, err
	}
	for _, p := range all {
		if strings.HasPrefix(p.ID, c.Prefix+"-") {
			ours = append(ours, p)
		}
	}
	return ours, nil
}
