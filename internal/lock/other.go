package lock

// An Other is the lock of another project.
type Other struct {
	File string // as shown
	*Lock
}
