package generator

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/internal/lock"
)

// backendConfig is the backend of a stack without the key, which differs for each
// unit. Credentials come from AWS_* variables only.
func backendConfig(l *lock.Stack) []pair {
	b := l.Backend
	if b.Type != "s3" {
		return nil
	}
	out := []pair{{"bucket", text(b.Bucket)}, {"region", text(b.Region)}}
	if b.Endpoint != "" {
		out = append(out, pair{"endpoints", object(pair{"s3", text(b.Endpoint)})})
	}
	for _, s := range switches {
		if s.on(b) {
			out = append(out, pair{s.name, boolean(true)})
		}
	}
	return out
}

// A backendSwitch is true or absent in a backend.
type backendSwitch struct {
	name string
	on   func(lock.Backend) bool
}

var switches = []backendSwitch{
	{"skip_credentials_validation", elsewhere}, // other servers than AWS do not answer these checks
	{"skip_metadata_api_check", elsewhere},
	{"skip_region_validation", elsewhere},
	{"skip_requesting_account_id", elsewhere},
	{"skip_s3_checksum", elsewhere},
	{"use_path_style", func(b lock.Backend) bool { return b.PathStyle }},
	{"use_lockfile", func(b lock.Backend) bool { return b.Lock }},
}

// elsewhere reports whether a bucket is on another server than AWS.
func elsewhere(b lock.Backend) bool { return b.Endpoint != "" }

// stateKey is where a unit's state is in its backend.
func stateKey(l *lock.Stack, unit string) string { return l.StateKey + "/" + unit + "/tofu.tfstate" }

// Backend is a root module with the backend of one unit only, to read its state.
// root is the absolute path of the project.
func Backend(l *lock.Stack, unit, root string) []byte {
	config := append(backendConfig(l), pair{"key", text(stateKey(l, unit))})
	if l.Backend.Type == "local" {
		config = []pair{{"path", text(localPath(l, unit, root))}}
	}
	backend := block("backend", []string{l.Backend.Type}, group(config...))
	return hclwrite.Tokens(block("terraform", nil, nest(backend))).Bytes()
}

func localPath(l *lock.Stack, unit, root string) string {
	return root + "/" + lock.StateDir + "/" + stateKey(l, unit)
}

// An initialized backend is what init recorded in a root module.
type initialized struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
}

func readInitialized(recorded []byte) (initialized, error) {
	var init struct {
		Backend initialized `json:"backend"`
	}
	err := json.Unmarshal(recorded, &init)
	return init.Backend, err
}

// NeedsInit reports whether OpenTofu would refuse to use a unit's backend before another
// init: it has another state, or other settings.
func NeedsInit(l *lock.Stack, unit, root string, recorded []byte) bool {
	if differs, err := OtherBackend(l, unit, root, recorded); err != nil || differs != "" {
		return true
	}
	is, err := readInitialized(recorded)
	differs := func(s backendSwitch) bool { return (is.Config[s.name] == true) != s.on(l.Backend) }
	return err != nil || l.Backend.Type == "s3" && slices.ContainsFunc(switches, differs)
}

// OtherBackend compares the backend of a unit with what init recorded in the unit's
// root module. It returns the first difference, or nothing.
func OtherBackend(l *lock.Stack, unit, root string, recorded []byte) (string, error) {
	is, err := readInitialized(recorded)
	if err != nil {
		return "", err
	}
	b := l.Backend
	if is.Type != b.Type {
		return fmt.Sprintf("its type is %q, and the lock has %q", is.Type, b.Type), nil
	}
	was := func(name string) string {
		value, _ := is.Config[name].(string)
		return value
	}
	endpoint := was("endpoint")
	if all, ok := is.Config["endpoints"].(map[string]any); ok && all["s3"] != nil {
		endpoint, _ = all["s3"].(string)
	}
	want := [][3]string{
		{"bucket", was("bucket"), b.Bucket},
		{"key", was("key"), stateKey(l, unit)},
		{"region", was("region"), b.Region},
		{"endpoint", endpoint, b.Endpoint},
	}
	if b.Type == "local" {
		want = [][3]string{{"path", path.Clean(was("path")), path.Clean(localPath(l, unit, root))}, {"workspace_dir", was("workspace_dir"), ""}}
	}
	for _, w := range want {
		if w[1] != w[2] {
			return fmt.Sprintf("its %s is %q, and the lock has %q", w[0], w[1], w[2]), nil
		}
	}
	return "", nil
}
