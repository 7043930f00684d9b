package generator

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A File is one rendered file. Path is relative to the project, with slashes.
type File struct {
	Path string
	Body []byte

	blocks []int  // of HCL: where its parts end; each is parsed by itself
	values []span // expressions in blocks, each parsed by itself
}

// A span is a part of a file: Body[from:to].
type span struct{ from, to int }

// headed is a file with its header. Its body is formatted.
func headed(path, from string, body []byte) File {
	body = append([]byte("# "+header(from, render)+"\n\n"), bytes.TrimRight(body, "\n")...)
	body = append(body, '\n')
	return File{Path: path, Body: body, blocks: []int{len(body)}}
}

// add appends a block whose tokens are spaced already.
func (f *File) add(b part) {
	f.Body = append(f.Body, '\n')
	for _, t := range b {
		for range t.SpacesBefore {
			f.Body = append(f.Body, ' ')
		}
		from := len(f.Body)
		f.Body = append(f.Body, t.Bytes...)
		if t.Type == sealed {
			f.values = append(f.values, span{from, len(f.Body)})
		}
	}
	f.blocks = append(f.blocks, len(f.Body))
}

// Parse parses the files for which needed is true, as OpenTofu and Terragrunt will.
// Files whose bytes are on disk already were parsed before they were written.
func Parse(files []File, needed func(path string) bool) error {
	var errs []error
	for i := range files {
		if needed(files[i].Path) {
			errs = append(errs, files[i].parse())
		}
	}
	return errors.Join(errs...)
}

// parse parses each block by itself, and each value of a large block: for all VMs
// of a large stack at once, the parser would need a hundred bytes for each byte.
func (f *File) parse() error {
	var errs []error
	from, values := 0, f.values
	for _, end := range f.blocks {
		var block []byte // without its values
		for ; len(values) > 0 && values[0].to <= end; values = values[1:] {
			v := values[0]
			block = append(append(block, f.Body[from:v.from]...), "null"...)
			errs = append(errs, parse(f.Path, append([]byte("value = "), f.Body[v.from:v.to]...)))
			from = v.to
		}
		errs = append(errs, parse(f.Path, append(block, f.Body[from:end]...)))
		from = end
	}
	return errors.Join(errs...)
}

// parse parses HCL.
func parse(path string, body []byte) error {
	if _, diags := hclsyntax.ParseConfig(body, path, hcl.InitialPos); diags.HasErrors() {
		return fmt.Errorf("%s: rendered HCL does not parse: %w", path, diags)
	}
	return nil
}

// collect sorts files and refuses paths that are not local or occur twice.
func collect(files []File) ([]File, error) {
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for i, f := range files {
		if !filepath.IsLocal(f.Path) {
			return nil, fmt.Errorf("%q is not a path inside the project", f.Path)
		}
		if i > 0 && f.Path == files[i-1].Path {
			return nil, fmt.Errorf("%s would be written twice", f.Path)
		}
	}
	return files, nil
}
