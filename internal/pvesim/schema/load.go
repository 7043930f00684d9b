package schema

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

//go:embed data
var data embed.FS

// Param describes one parameter as the API description gives it.
type Param struct {
	Ref        string          `json:"$ref"`
	Type       string          `json:"type"`
	Enum       []string        `json:"enum"`
	Minimum    *float64        `json:"minimum"`
	Maximum    *float64        `json:"maximum"`
	MinLength  *int            `json:"minLength"`
	MaxLength  *int            `json:"maxLength"`
	Pattern    string          `json:"pattern"`
	Optional   any             `json:"optional"`
	Requires   string          `json:"requires"`
	Alias      string          `json:"alias"`
	DefaultKey int             `json:"default_key"`
	RawFormat  json.RawMessage `json:"format"`

	format string
	object map[string]*Param
	re     *regexp.Regexp
}

// Format returns the name of a format, or "" for none or for a property string.
func (p *Param) Format() string { return p.format }

// Object returns the keys of a property string, or nil for a plain value.
func (p *Param) Object() map[string]*Param { return p.object }

// Permission is the permission rule of one call.
type Permission struct {
	Check []any  `json:"check"`
	User  string `json:"user"`
	Root  int    `json:"root_only"`
}

// Method is one call: an HTTP method on a path.
type Method struct {
	Params     map[string]*Param `json:"params"`
	Permission *Permission       `json:"permissions"`
	ProxyTo    string            `json:"proxyto"`
	Protected  int               `json:"protected"`
	NoToken    int               `json:"no_token"` // it needs a ticket

	Path    string `json:"-"`
	Verb    string `json:"-"`
	indexed map[string]*Param
}

// API is the API description of one version.
type API struct {
	Version string                        `json:"version"`
	Shared  map[string]*Param             `json:"shared"`
	Paths   map[string]map[string]*Method `json:"paths"`

	root *node
}

// descriptions are the embedded descriptions by version, each decoded once: nothing changes them.
var descriptions = map[string]func() (*API, error){
	"8.4": sync.OnceValues(func() (*API, error) { return decode("8.4") }),
	"9":   sync.OnceValues(func() (*API, error) { return decode("9") }),
}

// Load returns the embedded description of version "8.4" or "9".
func Load(version string) (*API, error) {
	decoded, ok := descriptions[version]
	if !ok {
		return nil, fmt.Errorf("API version %q is not one of 8.4, 9", version)
	}
	return decoded()
}

func decode(version string) (*API, error) {
	raw, err := data.ReadFile("data/api-" + version + ".json")
	if err != nil {
		return nil, fmt.Errorf("API description: %w", err)
	}
	api := &API{}
	if err := json.Unmarshal(raw, api); err != nil {
		return nil, fmt.Errorf("API description %s: %w", version, err)
	}
	if err := api.complete(); err != nil {
		return nil, err
	}
	for _, p := range api.Shared {
		if err := p.compile(); err != nil {
			return nil, err
		}
	}
	api.root = &node{}
	for path, methods := range api.Paths {
		for verb, m := range methods {
			m.Path, m.Verb = path, verb
			if err := m.compile(api); err != nil {
				return nil, fmt.Errorf("%s %s: %w", verb, path, err)
			}
		}
		api.root.add(strings.Split(strings.Trim(path, "/"), "/"), methods)
	}
	return api, nil
}

// complete adds calls that the compact descriptions lack and clients use.
func (a *API) complete() error {
	raw, err := data.ReadFile("data/extra.json")
	if err != nil {
		return fmt.Errorf("API description: %w", err)
	}
	extra := map[string]map[string]*Method{}
	if err := json.Unmarshal(raw, &extra); err != nil {
		return fmt.Errorf("API description extra: %w", err)
	}
	for path, methods := range extra {
		if a.Paths[path] == nil {
			a.Paths[path] = map[string]*Method{}
		}
		for verb, m := range methods {
			if a.Paths[path][verb] == nil {
				a.Paths[path][verb] = m
			}
		}
	}
	return nil
}

func (m *Method) compile(api *API) error {
	m.indexed = map[string]*Param{}
	for name, p := range m.Params {
		if p.Ref != "" {
			shared, ok := api.Shared[p.Ref]
			if !ok {
				return fmt.Errorf("unknown reference %q", p.Ref)
			}
			p = shared
			m.Params[name] = p
		}
		if err := p.compile(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if base, ok := strings.CutSuffix(name, "[n]"); ok {
			m.indexed[base] = p
		}
	}
	return nil
}

func (p *Param) compile() error {
	if p.re == nil && p.Pattern != "" {
		re, err := regexp.Compile("^(?:" + perlPattern(p.Pattern) + ")$")
		if err != nil {
			return fmt.Errorf("pattern %q: %w", p.Pattern, err)
		}
		p.re = re
	}
	if len(p.RawFormat) == 0 || p.format != "" || p.object != nil {
		return nil
	}
	if p.RawFormat[0] == '"' {
		return json.Unmarshal(p.RawFormat, &p.format)
	}
	if err := json.Unmarshal(p.RawFormat, &p.object); err != nil {
		return err
	}
	for _, sub := range p.object {
		if err := sub.compile(); err != nil {
			return err
		}
	}
	return nil
}

// hugeRepeat matches a repeat count above the limit of RE2.
var hugeRepeat = regexp.MustCompile(`\{(\d+),\d{4,}\}`)

// perlPattern rewrites the Perl syntax that RE2 lacks.
func perlPattern(s string) string {
	s = strings.ReplaceAll(s, "(?^:", "(?:")
	s = strings.ReplaceAll(s, "(?^i:", "(?i:")
	s = strings.ReplaceAll(s, "{,", "{0,")
	return hugeRepeat.ReplaceAllString(s, "{$1,}")
}

// Param returns the parameter with a name, including indexed names such as
// net0.
func (m *Method) Param(name string) *Param {
	if p, ok := m.Params[name]; ok && !strings.HasSuffix(name, "[n]") {
		return p
	}
	base := strings.TrimRight(name, "0123456789")
	if base == name || (len(name)-len(base) > 1 && name[len(base)] == '0') {
		return nil
	}
	p, ok := m.indexed[base]
	if !ok || !indexAllowed(base, name[len(base):]) {
		return nil
	}
	return p
}

// indexAllowed checks the bounds of an indexed key, which the compact
// description lacks.
func indexAllowed(base, index string) bool {
	limits := map[string]int{"ide": 4, "sata": 6, "virtio": 16, "scsi": 31, "net": 32, "serial": 4, "parallel": 3,
		"usb": 14, "hostpci": 16, "numa": 8, "ipconfig": 32, "unused": 256, "virtiofs": 10, "mp": 256, "dev": 256}
	limit, ok := limits[base]
	if !ok {
		return true
	}
	n := 0
	for _, c := range index {
		n = n*10 + int(c-'0')
		if n > limit {
			return false
		}
	}
	return n < limit
}

func (p *Param) optional() bool {
	switch v := p.Optional.(type) {
	case float64:
		return v != 0
	case bool:
		return v
	case string:
		return v != "" && v != "0"
	}
	return false
}
