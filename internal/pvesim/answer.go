package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// apiError is an error response.
type apiError struct {
	status int
	msg    string
	fields map[string]string
	bare   bool          // no body, as for 401 and 595
	plain  bool          // body is the message as text
	bodied bool          // body without the trailing newline of the message
	delay  time.Duration // before the response is sent
}

func (e *apiError) Error() string { return e.msg }

func fail(status int, format string, args ...any) *apiError {
	return &apiError{status: status, msg: fmt.Sprintf(format, args...)}
}

// failf returns the usual error: 500 with a message.
func failf(format string, args ...any) *apiError { return fail(500, format, args...) }

// badParam returns the error for one parameter.
func badParam(name, format string, args ...any) *apiError {
	return badParams(map[string]string{name: fmt.Sprintf(format, args...)})
}

func badParams(fields map[string]string) *apiError {
	return &apiError{status: 400, msg: "Parameter verification failed.", fields: fields}
}

// oneLine returns the error as the log of a task shows it.
func (e *apiError) oneLine() error {
	line := fmt.Sprintf("%d %s", e.status, e.msg)
	for _, k := range slices.Sorted(maps.Keys(e.fields)) {
		line += " " + k + ": " + e.fields[k]
	}
	return failf("%s", strings.ReplaceAll(line, "\n", " "))
}

func denied(format string, args ...any) *apiError {
	if format == "" {
		return &apiError{status: 403, msg: "Permission check failed"}
	}
	return fail(403, "Permission check failed (%s)", fmt.Sprintf(format, args...))
}

// unauthorizedDelay is the time after which a server answers 401.
const unauthorizedDelay = 3 * time.Second

func unauthorized(msg string) *apiError {
	return &apiError{status: 401, msg: msg, bare: true, delay: unauthorizedDelay}
}

// waiting tells the dispatcher to run the call again after the next event,
// until the timeout.
type waiting struct {
	timeout time.Duration
	err     error
}

func (e *waiting) Error() string { return e.err.Error() }

// object is a JSON object in a response.
type object = map[string]any

// counted is a list with its total.
type counted struct {
	data  any
	total int
}

// text is a response that is not JSON.
type text string

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
