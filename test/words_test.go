package test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A wordList is words.txt: patterns, what to write instead, and exceptions.
type wordList struct {
	patterns     []*regexp.Regexp
	instead      []string
	first        *regexp.Regexp // a first word of a pattern
	here, except *regexp.Regexp
	begins       map[string]bool // what first says of the words that were seen
}

func readWordList(t *testing.T) wordList {
	t.Helper()
	list := wordList{begins: map[string]bool{}}
	var patterns, first, except []string
	for line := range strings.Lines(string(read(t, "words.txt"))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) < 2 {
			t.Fatalf("words.txt: %q has no replacement", line)
		}
		patterns, except = append(patterns, columns[0]), append(except, columns[2:]...)
		for _, one := range alternatives(columns[0]) {
			first = append(first, notFirst.ReplaceAllString(one, ""))
		}
		list.patterns = append(list.patterns, regexp.MustCompile(`(?i)^(`+columns[0]+`)$`))
		list.instead = append(list.instead, columns[1])
	}
	list.first = regexp.MustCompile(`(?i)^(?:` + strings.Join(first, "|") + `)$`)
	list.here = regexp.MustCompile(`(?i)^(?:` + strings.Join(patterns, "|") + `)\b`)
	list.except = regexp.MustCompile(`(?i)\b(?:` + strings.Join(except, "|") + `)`)
	return list
}

// alternatives are the parts of a pattern between the bars outside of its groups.
func alternatives(pattern string) (out []string) {
	depth, from := 0, 0
	for i, c := range pattern {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			out, from = append(out, pattern[from:i]), i+1
		}
	}
	return append(out, pattern[from:])
}

var (
	aWord    = regexp.MustCompile(`\w+`)
	notFirst = regexp.MustCompile(`(\\s|').*`) // of a pattern
)

// in returns where a text has words of the list.
func (l wordList) in(text string) [][]int {
	found := l.find(text)
	if len(found) == 0 {
		return nil // most texts need no look for exceptions
	}
	return l.find(l.except.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) }))
}

// find compares the patterns only where one can begin: comparing them everywhere takes ten times as long.
func (l wordList) find(text string) (out [][]int) {
	for _, at := range aWord.FindAllStringIndex(text, -1) {
		w := text[at[0]:at[1]]
		begins, seen := l.begins[w]
		if !seen {
			begins = l.first.MatchString(w)
			l.begins[w] = begins
		}
		if !begins {
			continue
		}
		if hit := l.here.FindStringIndex(text[at[0]:]); hit != nil {
			out = append(out, []int{at[0], at[0] + hit[1]})
		}
	}
	return out
}

// advice says what to write instead of a hit.
func (l wordList) advice(hit string) string {
	i := slices.IndexFunc(l.patterns, func(p *regexp.Regexp) bool { return p.MatchString(hit) })
	return l.instead[i]
}

var (
	camel  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	margin = regexp.MustCompile(`(?m)^[ \t]*(//|#)?[ \t]*`)
)

// plain is a text as its words are read: without comment marks, and with
// identifiers split into words. Line breaks stay.
func plain(text string) string {
	text = margin.ReplaceAllString(text, "")
	return camel.ReplaceAllString(strings.ReplaceAll(text, "_", " "), "$1 $2")
}

// TestWords finds words of words.txt in all text of the repository.
func TestWords(t *testing.T) {
	t.Parallel()
	list := readWordList(t)
	report := func(path, text string) {
		for _, at := range list.in(text) {
			hit := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			t.Errorf("%s:%d: %q: write %s", path, 1+strings.Count(text[:at[0]], "\n"), hit, list.advice(hit))
		}
	}
	check(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != ".." && (strings.HasPrefix(name, ".") && name != ".ci" || slices.Contains([]string{"../bin", "../dist", "../dist.files"}, filepath.ToSlash(path))) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || slices.Contains([]string{"LICENSE", "words.txt", "words_test.go"}, name) ||
			slices.Contains([]string{".json", ".jsonl", ".tfstate", ".mod", ".sum"}, filepath.Ext(name)) {
			return nil
		}
		report(path, plain(name))
		report(path, plain(string(read(t, path))))
		return nil
	}))
}

// TestWordList checks that the patterns hit whole words, and phrases across lines.
func TestWordList(t *testing.T) {
	list := readWordList(t)
	for text, want := range map[string]bool{
		"this stands for a value": false, "a stand-in for the provider": false, "we recommend to amend what we understand": false, "applies": false,
		"the datastore it lies on": true, "func letGo()": true, "type omen struct": true, "a key stands twice": true,
		"// a destroy that nobody\n\t// asked for": true, "nobody_asked": true, "what is to be done": true,
	} {
		if hit := len(list.in(plain(text))) > 0; hit != want {
			t.Errorf("%q: found %v, want %v", text, hit, want)
		}
	}
}
