package engine

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The limits of following event files.
const (
	followEvery = 100 * time.Millisecond
	maxEvent    = 4 << 20 // bytes of a line; a longer one is dropped
	maxRead     = 1 << 20 // bytes of a file at a time
)

// Events are the suffix of the files that OpenTofu writes its events to, one for each
// unit: proxmox-vm.jsonl.
const Events = ".jsonl"

// Follow reads the event files in a folder while they grow, until stop is closed, and
// then to their end. The folder and its files may appear late. It calls line with the
// name of the unit and each complete line, and returns how often a file could not be
// read. A folder is for one run: a file that is written again is not noticed unless it
// is shorter.
func Follow(stop <-chan struct{}, dir string, line func(unit string, text []byte)) (failed int) {
	f := &follower{dir: dir, line: line, files: map[string]*followed{}}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			f.read()
			f.finish()
			return f.failed
		case <-tick.C:
			f.read()
		}
	}
}

type follower struct {
	dir    string
	line   func(string, []byte)
	files  map[string]*followed
	failed int
}

// A followed file was read up to offset. partial is the beginning of a line that is not
// complete; it is dropped if it is too long.
type followed struct {
	offset  int64
	partial []byte
	skip    bool
}

// read reads what was added to the files.
func (f *follower) read() {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			f.failed++
		}
		return
	}
	for _, e := range entries {
		unit, ok := strings.CutSuffix(e.Name(), Events)
		if !ok || e.IsDir() {
			continue
		}
		if f.files[unit] == nil {
			f.files[unit] = &followed{}
		}
		if err := f.readFile(unit, f.files[unit]); err != nil {
			f.failed++
		}
	}
}

func (f *follower) readFile(unit string, at *followed) (err error) {
	file, err := os.Open(filepath.Join(f.dir, unit+Events))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if info.Size() < at.offset {
		*at = followed{}
	}
	buffer := make([]byte, min(max(info.Size()-at.offset, 0), maxRead))
	for at.offset < info.Size() {
		n, err := file.ReadAt(buffer, at.offset)
		at.offset += int64(n)
		f.lines(unit, at, buffer[:n])
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			return nil
		}
	}
	return nil
}

// lines passes on the complete lines.
func (f *follower) lines(unit string, at *followed, text []byte) {
	for {
		head, rest, complete := bytes.Cut(text, []byte("\n"))
		if !complete {
			at.partial = append(at.partial, head...)
			if len(at.partial) > maxEvent {
				at.partial, at.skip = nil, true
			}
			return
		}
		whole := slices.Concat(at.partial, head)
		if !at.skip && len(bytes.TrimSpace(whole)) > 0 {
			f.line(unit, whole)
		}
		at.partial, at.skip, text = nil, false, rest
	}
}

// finish passes on last lines without an end.
func (f *follower) finish() {
	for unit, at := range f.files {
		if len(bytes.TrimSpace(at.partial)) > 0 {
			f.line(unit, at.partial)
		}
	}
}
