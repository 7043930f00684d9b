package check

// Stopped are the running guests of a stack that a run from here stops, by their keys, with their VMIDs: it starts them
// again, or destroys them. Their record survives a killed run, so that the next one starts those that exist and are off.
type Stopped map[string]int

// ReadStopped reads the record of a stack.
func ReadStopped(root, stack string) (Stopped, error) {
	out := Stopped{}
	if err := readRecord(RecordFile(root, stack, "stopped"), &out); err != nil {
		return nil, err
	}
	return out, nil
}

// Write writes the record of a stack.
func (s Stopped) Write(root, stack string) error {
	return writeRecord(RecordFile(root, stack, "stopped"), s)
}
