//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// tryLock locks the root folder itself. If the root was replaced after it was opened, the error is fs.ErrNotExist.
func tryLock(root string) (attempt, error) {
	f, err := os.Open(root)
	if err != nil {
		return attempt{}, err
	}
	a, err := flock(f)
	if errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, errors.ErrUnsupported) {
		closeRead(f) // NFS and some other file systems do not lock folders
		if f, err = openLockFile(root); err != nil {
			return attempt{}, err
		}
		return flock(f)
	}
	if err != nil || a.taken {
		return a, err
	}
	opened, err := f.Stat()
	if err == nil {
		var now fs.FileInfo
		if now, err = os.Stat(root); err == nil && !os.SameFile(opened, now) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		closeRead(f)
		return attempt{}, err
	}
	return a, nil
}

// flock locks an open file or folder, and closes it unless that succeeds.
func flock(f *os.File) (attempt, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return attempt{release: f.Close}, nil
		}
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		defer closeRead(f)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return attempt{taken: true, by: holder(f)}, nil
		}
		return attempt{}, err
	}
}

// openLockFile opens the lock file for reading, and creates it if it is missing. With O_EXCL it does not follow a link
// that another user put into a shared temporary folder.
func openLockFile(root string) (*os.File, error) {
	name, err := lockFile(root)
	if err != nil {
		return nil, err
	}
	for {
		f, err := os.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// holder names the process that has the lock. It is known on Linux only, from /proc/locks.
func holder(f *os.File) string {
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	dev := uint64(stat.Dev) //nolint:unconvert // it is an int32 on darwin. glibc's makedev: minor 0-7, major 8-19, minor 20-31, major 32-63
	major := dev>>8&0xfff | dev>>32&^0xfff
	minor := dev&0xff | dev>>12&0xfff00
	id := fmt.Sprintf("%02x:%02x:%d", major, minor, stat.Ino)
	for line := range strings.Lines(string(table)) {
		// 1: FLOCK  ADVISORY  WRITE 20522 fe:00:9987274 0 EOF
		field := strings.Fields(line)
		if len(field) < 6 || field[1] != "FLOCK" || field[5] != id {
			continue
		}
		if pid, err := strconv.Atoi(field[4]); err == nil && pid > 0 {
			return fmt.Sprintf(" (pid %d)", pid)
		}
	}
	return ""
}
