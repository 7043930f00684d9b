package disk

import (
	"errors"
	"syscall"
)

// errSharingViolation is Windows' ERROR_SHARING_VIOLATION.
const errSharingViolation = syscall.Errno(32)

// deleteOnClose is Windows' FILE_FLAG_DELETE_ON_CLOSE.
const deleteOnClose = 0x04000000

// tryLock opens the stand-in file without sharing it, which Windows allows once at a time; the file vanishes with the
// process that opened it.
func tryLock(root string) (held, error) {
	name, err := standIn(root)
	if err != nil {
		return held{}, err
	}
	wide, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return held{}, err
	}
	handle, err := syscall.CreateFile(wide, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	if errors.Is(err, errSharingViolation) {
		return held{taken: true}, nil
	}
	if err != nil {
		return held{}, err
	}
	return held{release: func() error { return syscall.CloseHandle(handle) }}, nil
}
