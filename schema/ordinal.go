package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ordinal is {n}, with arithmetic and the digits to pad to: {10+n}, {n:02}.
var ordinal = regexp.MustCompile(`\{` + arithmetic + `\}`)

const arithmetic = `[0-9+ -]*n[0-9+ -]*(:0[1-9])?`

// hasOrdinal reports whether any text in a tree contains {n}.
func hasOrdinal(n *Node) bool {
	return n.Shape == ShapeString && ordinal.MatchString(n.Text) || slices.ContainsFunc(n.Items, hasOrdinal)
}

// numbered replaces {n} in a member's own properties and checks the result,
// which could not be checked before. It returns nil where the result has errors.
func (e *expander) numbered(m member, n *Node) *Node {
	e.vm = &subject{e.stack.Name, m.path, m.key, m.kind}
	errors := e.errors
	out := e.check(e.substitute(n, m.n), guestField(m.kind), m.path)
	if e.errors > errors {
		return nil
	}
	return out
}

func (e *expander) substitute(n *Node, ord int) *Node {
	out := *n
	if n.Shape == ShapeString {
		if text, ok := e.withOrdinal(n, n.Text, ord); ok {
			out.Text = text
		}
	}
	out.Items = make([]*Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = e.substitute(item, ord)
	}
	return &out
}

// withOrdinal replaces {n} and its arithmetic.
func (e *expander) withOrdinal(at *Node, text string, n int) (string, bool) {
	ok := true
	out := ordinal.ReplaceAllStringFunc(text, func(expr string) string {
		sum, width, _ := strings.Cut(expr[1:len(expr)-1], ":")
		v, err := evaluate(sum, n)
		if err != nil {
			ok = false
			e.errorAt(at, "", CodePlaceholder, "write {n}, {10+n}, {n-1} or {n:02}", "%q is not arithmetic with the ordinal n", expr)
		}
		return padded(v, width)
	})
	return out, ok
}

// padded writes a number with zeros before it, to the width in {n:02}.
func padded(v int, width string) string {
	digits, _ := strconv.Atoi(width) // the expression has the form of ordinal; without a width, 0
	return fmt.Sprintf("%0*d", digits, v)
}

// evaluate adds up terms such as 10+n or n-1.
func evaluate(expr string, n int) (int, error) {
	sum, expr := 0, strings.ReplaceAll(strings.ReplaceAll(expr, " ", ""), "-", "+-")
	for i, term := range strings.Split(expr, "+") {
		sign := 1
		if strings.HasPrefix(term, "-") {
			sign, term = -1, term[1:]
		}
		switch v, err := strconv.Atoi(term); {
		case term == "n":
			sum += sign * n
		case term == "" && i == 0 && sign == 1:
		case err != nil || v < 0 || v > 1<<30:
			return 0, fmt.Errorf("%q is not a number", term)
		default:
			sum += sign * v
		}
	}
	return sum, nil
}
