package shell

import "strings"

// Quote is text as one word of a POSIX shell, of an interactive one too.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Word is Quote, where that is needed.
func Word(text string) string {
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return Quote(text)
}

// Path is the path of a file as one word, which no program takes for an option.
func Path(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return Word(path)
}

// In is a line that is run in a folder; in the working directory if that is empty.
func In(folder, line string) string {
	if folder == "" {
		return line
	}
	return "(cd " + Path(folder) + " && " + line + ")"
}

// special reports whether a character may mean something to a shell.
func special(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+:@,%=", c))
}
