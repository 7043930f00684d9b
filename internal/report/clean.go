package report

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"

	"stackgen/internal/secret"
)

// clean returns a copy of a value in which every text is harmless, so that no
// format can forget one.
func clean[T any](value T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	copyClean(out, reflect.ValueOf(&value).Elem())
	return out.Interface().(T)
}

func copyClean(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(harmless(from.String()))
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyClean(to.Index(i), from.Index(i))
		}
	case reflect.Pointer:
		if from.IsNil() {
			return
		}
		to.Set(reflect.New(from.Type().Elem()))
		copyClean(to.Elem(), from.Elem())
	case reflect.Struct:
		for i := range from.NumField() {
			copyClean(to.Field(i), from.Field(i))
		}
	default:
		to.Set(from)
	}
}

// harmless is text without secrets, and without characters that a terminal
// obeys, or that change how others are read. Lines and tabs stay.
func harmless(text string) string {
	text = secret.Redact(text)
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

// visible replaces what a terminal would obey instead of show, one character
// for one, so that columns stay. Tabs stay too.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// line is harmless text on one line: a name or a path.
func line(text string) string {
	return visible(secret.Redact(text))
}

// write writes text in which no line is a command to a CI system: GitHub Actions
// obeys lines that begin with ::, and its older form and Azure Pipelines do wherever
// a line has ##[ or ##vso[.
func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, uncommanded(text))
	return err
}

// uncommanded is text in which no line is a command to a CI system.
func uncommanded(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "::") {
			lines[i] = "| " + l
		}
	}
	marks := strings.NewReplacer("##[", "# #[", "##vso[", "# #vso[")
	return marks.Replace(strings.Join(lines, "\n"))
}

// Printf prints one message of a command: progress, a note, what it did. Its
// arguments may come from anywhere.
func Printf(w io.Writer, format string, args ...any) error {
	safe := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case error:
			safe[i] = harmless(a.Error())
		case fmt.Stringer:
			safe[i] = line(a.String())
		case string:
			safe[i] = line(a)
		default:
			safe[i] = a
		}
	}
	return write(w, fmt.Sprintf(format, safe...))
}

// Error prints why a command could not be done.
func Error(w io.Writer, err error) error { return Printf(w, "stackgen: %s\n", err) }

// JSON prints a JSON document that another program reads: it keeps its values, and
// escapes the characters that harmless would replace.
func JSON(w io.Writer, body []byte) error {
	var out strings.Builder
	for _, r := range string(body) {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// JSONLine prints a value as one line of a stream of JSON objects. Its texts are
// harmless.
func JSONLine[T any](w io.Writer, value T) error {
	var body strings.Builder
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(clean(value)); err != nil {
		return err
	}
	return JSON(w, []byte(body.String()))
}

// Line is text as it may be shown on one line of a terminal.
func Line(text string) string { return line(strings.Join(strings.Fields(text), " ")) }

// Text prints text of several lines, such as a diff.
func Text(w io.Writer, text string) error { return write(w, harmless(text)) }
