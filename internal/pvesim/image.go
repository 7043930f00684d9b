package pvesim

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"io"
	"regexp"
)

// Image is what qemu-img and tar say about a file.
type Image struct {
	Format  string // qcow2, vmdk or raw
	Size    int64  // of the disk
	Backing bool   // it needs another file
	Data    bool   // its data is in another file
	Parts   bool   // it consists of several files
	Archive bool   // tar lists it
	OVF     bool   // it is an archive that describes a VM
}

// headerSize is how much of a file imageOf reads at most.
const headerSize = 4096

// extent is a line of the text that describes a VMDK disk.
var extent = regexp.MustCompile(`(?m)^RW (\d+) [A-Z]+ `)

// imageOf reads the header of a file of some size.
func imageOf(head []byte, size int64) Image {
	const sector = 512
	raw := Image{Format: "raw", Size: (size + sector - 1) / sector * sector}
	switch {
	case bytes.HasPrefix(head, []byte("QFI\xfb")) && len(head) >= 32:
		out := Image{Format: "qcow2", Backing: binary.BigEndian.Uint64(head[8:]) != 0, Size: int64(binary.BigEndian.Uint64(head[24:]))}
		if version := binary.BigEndian.Uint32(head[4:]); version >= 3 && len(head) >= 80 {
			out.Data = binary.BigEndian.Uint64(head[72:])&4 != 0
		}
		return out
	case bytes.HasPrefix(head, []byte("KDMV")) && len(head) >= 20:
		return Image{Format: "vmdk", Size: int64(binary.LittleEndian.Uint64(head[12:])) * sector}
	case bytes.HasPrefix(head, []byte("# Disk DescriptorFile")):
		out := Image{Format: "vmdk"}
		parts := extent.FindAllSubmatch(head, -1)
		for _, m := range parts {
			out.Size += int64(atoi(string(m[1]))) * sector
		}
		out.Parts = len(parts) > 1
		return out
	}
	return raw
}

// tarNames reads the names of the files in an archive that is written to it. Of a file
// that is no archive, it has none.
type tarNames struct {
	to    *io.PipeWriter
	names chan []string
}

func newTarNames() *tarNames {
	from, to := io.Pipe()
	t := &tarNames{to: to, names: make(chan []string, 1)}
	go func() {
		var names []string
		for archive := tar.NewReader(from); ; {
			h, err := archive.Next()
			if err != nil { // at the end, or because it is no archive
				_ = from.CloseWithError(err) // later writes return at once
				t.names <- names
				return
			}
			names = append(names, h.Name)
		}
	}()
	return t
}

func (t *tarNames) write(p []byte) { _, _ = t.to.Write(p) } // it fails after the end of the archive

func (t *tarNames) close() []string {
	_ = t.to.Close() // a pipe never fails
	return <-t.names
}

// unfit returns what the server prints and why it refuses a file that it does not trust
// as an image of a format, or as an archive. It is empty for a fit file.
func (i Image) unfit(path, format string) (printed []string, reason string) {
	switch {
	case format == "ova" && i.OVF:
		return nil, ""
	case format == "ova" && !i.Archive:
		return []string{"tar: This does not look like a tar archive", "tar: Exiting with failure status due to previous errors"},
			"command 'tar -t -f " + path + "' failed: exit code 2"
	case format == "ova":
		return nil, "ova archive has no .ovf file inside"
	case format != "" && format != "raw" && i.Format != format:
		what := "Image is not in " + format + " format"
		if format == "vmdk" {
			what = "invalid VMDK image descriptor"
		}
		return []string{"command '/usr/bin/qemu-img info '--output=json' " + path + " -f " + format + "' failed: exit code 1"},
			"qemu-img: Could not open '" + path + "': " + what
	case format == "raw":
		return nil, "" // any file is one
	case i.Data:
		return nil, path + ": 'data-file' references are not allowed!"
	case i.Parts:
		return nil, path + ": multiple children or extents are not allowed!"
	case i.Backing:
		return nil, "backing file not allowed for untrusted image '" + path + "'!"
	}
	return nil, ""
}
