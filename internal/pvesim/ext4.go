package pvesim

import "fmt"

const (
	blockSize     = 4096
	groupBlocks   = 32768 // blocks of a group
	inodesInBlock = 16
)

// ext4Groups returns the groups of blocks of a file system, and how many of them have a copy
// of the superblock.
func ext4Groups(size int64) (groups int64, copies []int64) {
	groups = (size/blockSize + groupBlocks - 1) / groupBlocks
	for i := range groups {
		if i <= 1 || isPower(i, 3) || isPower(i, 5) || isPower(i, 7) {
			copies = append(copies, i)
		}
	}
	return groups, copies
}

func isPower(n, base int64) bool {
	for n > 1 && n%base == 0 {
		n /= base
	}
	return n == 1
}

// ext4Inodes returns the inodes that mkfs makes: one for 16 KiB.
func ext4Inodes(size int64) int64 { return size / (16 * kib) }

// ext4Journal returns the blocks of the journal that mkfs makes.
func ext4Journal(blocks int64) int64 {
	for _, step := range []struct{ below, journal int64 }{
		{2048, 0}, {32768, 1024}, {262144, 4096}, {524288, 8192}, {4194304, 16384}, {8388608, 32768}, {16777216, 65536},
	} {
		if blocks < step.below {
			return step.journal
		}
	}
	return 131072
}

// FileSystemTotal returns the bytes for files of the file system of a container, as its status
// shows them while it runs, by the size of its volume.
func FileSystemTotal(size Size) int64 { return ext4Total(int64(size)) }

// ext4Total returns the bytes that a file system of a size has for files, as a guest sees it:
// without the inodes, the journal, the bitmaps, and the copies of the superblock and of the
// descriptors of groups, for which mkfs reserves blocks so that it can grow.
func ext4Total(size int64) int64 {
	const descriptors = 64 // in a block
	blocks := size / blockSize
	groups, copies := ext4Groups(size)
	now := (groups + descriptors - 1) / descriptors
	most := (min(blocks*1024, 1<<32-1) + groupBlocks - 1) / groupBlocks
	reserved := min((most+descriptors-1)/descriptors-now, 1024)
	taken := ext4Inodes(size)/inodesInBlock + ext4Journal(blocks) + 2*groups + int64(len(copies))*(1+now+reserved)
	return (blocks - taken) * blockSize
}

// mkfsLines returns the output of mkfs.
func mkfsLines(size int64, uuid string) []string {
	const width = 72
	line, lines := "", []string{
		fmt.Sprintf("Creating filesystem with %d 4k blocks and %d inodes", size/blockSize, ext4Inodes(size)),
		"Filesystem UUID: " + uuid, "Superblock backups stored on blocks: "}
	_, copies := ext4Groups(size)
	for i, group := range copies {
		if group == 0 {
			continue
		}
		at := fmt.Sprint(group * groupBlocks)
		if len(line)+len(at) > width {
			lines, line = append(lines, "\t"+line), ""
		}
		line += at
		if i < len(copies)-1 {
			line += ", "
		}
	}
	if line != "" {
		lines = append(lines, "\t"+line)
	}
	return lines
}
