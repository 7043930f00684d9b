package finding

import (
	"fmt"
	"strings"
)

// A Code says which sentence a reason is. Package report has the sentences.
type Code string

// A Reason says why a finding is what it is: by codes and values, so that another wording of a
// sentence decides nothing. It is empty without a code.
type Reason struct {
	Code  Code
	Args  []string // the values of the sentence
	About *Reason  // the reason that the sentence ends with
	More  []Reason // what else is so
}

// Why is a reason with the values of its sentence.
func Why(code Code, args ...any) Reason {
	r := Reason{Code: code}
	for _, a := range args {
		r.Args = append(r.Args, fmt.Sprint(a))
	}
	return r
}

// Of is the reason with another one at the end of its sentence.
func (r Reason) Of(about Reason) Reason {
	r.About = &about
	return r
}

// And is the reason with another one after it.
func (r Reason) And(more Reason) Reason {
	if r.Code == "" {
		return more
	}
	r.More = append(r.More[:len(r.More):len(r.More)], more)
	return r
}

// String is the same for reasons that are the same. It is not for people.
func (r Reason) String() string {
	parts := append([]string{string(r.Code)}, r.Args...)
	if r.About != nil {
		parts = append(parts, "of", r.About.String())
	}
	for _, more := range r.More {
		parts = append(parts, "and", more.String())
	}
	return strings.Join(parts, " ")
}
