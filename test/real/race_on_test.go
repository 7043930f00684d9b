//go:build race

package real

// buildFlags are those of stackgen: with -race, the program of the tests detects races, too.
var buildFlags = []string{"-race"}
