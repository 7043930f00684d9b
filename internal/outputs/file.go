package outputs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"stackgen/generator"
	"stackgen/schema"
)

// A Format is one of the files of a stack.
type Format string

// The formats, each with the ending of its file.
const (
	JSON    Format = ".json"
	CSV     Format = ".csv"
	Ansible Format = ".ansible.yaml"
	SSH     Format = ".ssh_config"
	Hosts   Format = ".hosts"
)

// Base is the path of a stack's files without their endings.
func Base(s *schema.Stack) string {
	if s.Registration == "" {
		return "registration/" + s.Name
	}
	return strings.TrimSuffix(path.Clean(strings.TrimSpace(s.Registration)), string(JSON))
}

// Path is where a format is written.
func (r *Registration) Path(f Format) string { return r.base + string(f) }

// Paths are the files of a stack, that with the digest of another one after it.
func Paths(s *schema.Stack) []string {
	var out []string
	for _, f := range []Format{CSV, Ansible, SSH, Hosts, JSON} {
		out = append(out, Base(s)+string(f))
	}
	return out
}

// Files renders all files of some stacks. That with the digest of another one comes
// after it.
func Files(stacks []*Registration) ([]generator.File, error) {
	first := map[string]string{}
	var out []generator.File
	var errs []error
	for _, r := range stacks {
		if other := first[r.base]; other != "" {
			errs = append(errs, fmt.Errorf("%s and %s would both write %s; set another outputs.registration in %s",
				other, r.Stack, r.Path(JSON), r.spec))
		}
		first[r.base] = r.Stack
		files, err := r.files()
		out, errs = append(out, files...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

func (r *Registration) files() ([]generator.File, error) {
	list := generator.File{Path: r.Path(CSV)}
	inventory := generator.File{Path: r.Path(Ansible)}
	registration := generator.File{Path: r.Path(JSON)}
	var err1, err2, err3 error
	list.Body, err1 = r.csv()
	inventory.Body, err2 = r.ansible()
	registration.Body, err3 = r.json(generator.Digest(list.Path, list.Body))
	files := []generator.File{list, inventory, {Path: r.Path(SSH), Body: r.ssh()}, {Path: r.Path(Hosts), Body: r.hosts()}, registration}
	for _, f := range files {
		if f.Path != list.Path {
			generator.Sign([]generator.File{f})
		}
	}
	return files, errors.Join(err1, err2, err3)
}

// comment is the header of a file whose comments begin with #.
func (r *Registration) comment() string { return "# " + generator.OutputHeader(r.spec) + "\n" }

// csvLabel is what the registration says before the digest of the CSV, which has no
// comments.
const csvLabel = "Digest of the CSV: "

// json is the registration.
func (r *Registration) json(csv string) ([]byte, error) {
	body, err := encode(struct {
		Header string `json:"//"`
		CSV    string `json:"//csv"`
		Stack  string `json:"stack"`
		Class  string `json:"class,omitempty"`
		VMs    []VM   `json:"vms"`
	}{generator.OutputHeader(r.spec), csvLabel + csv, r.Stack, r.Class, r.VMs}, "  ")
	// The header must be in the first line, as in every other file.
	return append([]byte("{"), bytes.TrimPrefix(body, []byte("{\n "))...), err
}

// encode is a value as JSON, without escapes that only HTML needs.
func encode(value any, indent string) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(value)
	return out.Bytes(), err
}

// WroteCSV reports whether a CSV is the one that its registration names, which is nil
// if there is none. known is whether the registration names one at all.
func WroteCSV(registration []byte, path string, body []byte) (known, same bool) {
	var doc struct {
		CSV string `json:"//csv"`
	}
	if json.Unmarshal(registration, &doc) != nil {
		return false, false
	}
	digest, known := strings.CutPrefix(doc.CSV, csvLabel)
	return known, known && digest == generator.Digest(path, body)
}
