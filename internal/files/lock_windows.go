package files

import (
	"errors"
	"syscall"
)

// errSharingViolation is Windows' ERROR_SHARING_VIOLATION.
const errSharingViolation = syscall.Errno(32)

// deleteOnClose is Windows' FILE_FLAG_DELETE_ON_CLOSE.
const deleteOnClose = 0x04000000

// tryLock opens the lock file without sharing it, which only one process at a time can do. Windows deletes the file when
// that process ends.
func tryLock(root string) (attempt, error) {
	name, err := lockFile(root)
	if err != nil {
		return attempt{}, err
	}
	wide, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return attempt{}, err
	}
	handle, err := syscall.CreateFile(wide, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	if errors.Is(err, errSharingViolation) {
		return attempt{taken: true}, nil
	}
	if err != nil {
		return attempt{}, err
	}
	return attempt{release: func() error { return syscall.CloseHandle(handle) }}, nil
}
