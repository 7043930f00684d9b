//go:build !unix

package real

// hostCommands are none here: printed lines are executed on Unix only.
var hostCommands []string

func runHostCommand(string) int { return 1 }
