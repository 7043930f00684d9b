package generator

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// key is an object's key: bare where it is an identifier, else in quotes.
func key(s string) hclwrite.Tokens {
	if plainName(s) {
		return ident(s)
	}
	return text(s)
}

// plainName reports whether a key needs no quotes. Nearly all keys are ASCII
// names, and hclsyntax.ValidIdentifier runs a whole lexer over each.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// inline is an object expression on one line. Where it does not fit into the
// line, the object around it breaks it.
func inline(pairs ...pair) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{")}
	for i, p := range pairs {
		if i > 0 {
			out = append(out, token(hclsyntax.TokenComma, ","))
		}
		out = append(out, spaced(1, key(p.key))...)
		out = append(out, spaced(1, hclwrite.Tokens{token(hclsyntax.TokenEqual, "=")})...)
		out = append(out, spaced(1, p.value)...)
	}
	end := token(hclsyntax.TokenCBrace, "}")
	if len(pairs) > 0 {
		end.SpacesBefore = 1
	}
	return append(out, end)
}

// object is an object expression with one attribute on each line, in the order
// given: hclwrite's own sorts them.
func object(pairs ...pair) hclwrite.Tokens {
	if len(pairs) == 0 {
		return inline()
	}
	return lines(attributesOf(pairs), lineWidth-vmIndent)
}

// lineWidth is how long a line may be, where HCL permits to break it. The longest
// objects are those of VMs, vmIndent deep in a stack file.
const (
	lineWidth = 120
	vmIndent  = 6
)

// lines is an object expression with one attribute on each line.
func lines(attrs []attribute, width int) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{"), newline()}
	out = append(out, aligned(attrs, width-2)...)
	return append(out, token(hclsyntax.TokenCBrace, "}"))
}

// A part is what a block holds: attributes without a blank line between them, or one block.
type part hclwrite.Tokens

// block is a block with its parts, a blank line between them.
func block(kind string, labels []string, parts ...part) part {
	out := ident(kind)
	for _, l := range labels {
		out = append(out, spaced(1, text(l))...)
	}
	out = append(out, spaced(1, hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{")})...)
	out = append(out, newline())
	for i, p := range parts {
		if i > 0 {
			out = append(out, newline())
		}
		out = append(out, p...)
	}
	return part(append(out, token(hclsyntax.TokenCBrace, "}"), newline()))
}

// nest is a part one level deeper: every line begins two spaces further in.
func nest(p part) part {
	for i, t := range p {
		if t.Type != hclsyntax.TokenNewline && (i == 0 || p[i-1].Type == hclsyntax.TokenNewline) {
			t.SpacesBefore += 2
		}
	}
	return p
}

// group is attributes of a block without a blank line between them.
func group(pairs ...pair) part { return part(aligned(attributesOf(pairs), lineWidth-2)) }

// An attribute is a name and a value, in an object or a block.
type attribute struct{ name, value hclwrite.Tokens }

func attributesOf(pairs []pair) []attribute {
	out := make([]attribute, 0, len(pairs))
	for _, p := range pairs {
		out = append(out, attribute{key(p.key), p.value})
	}
	return out
}

// aligned is one attribute a line, indented by two. The equals signs of
// neighbours are aligned, unless a value takes several lines. width is how long a
// line may be after its indentation.
func aligned(attrs []attribute, width int) hclwrite.Tokens {
	longest := 0
	for _, a := range attrs {
		longest = max(longest, columns(a.name))
	}
	for i, a := range attrs {
		if !multiline(a.value) && longest+len(" = ")+columns(a.value) > width {
			attrs[i].value = broken(a.value, width)
		}
	}
	var out hclwrite.Tokens
	for len(attrs) > 0 {
		n, longest := 1, columns(attrs[0].name)
		for n < len(attrs) && !multiline(attrs[n-1].value) && !multiline(attrs[n].value) {
			longest = max(longest, columns(attrs[n].name))
			n++
		}
		for _, a := range attrs[:n] {
			equals := token(hclsyntax.TokenEqual, "=")
			equals.SpacesBefore = 1 + longest - columns(a.name)
			out = append(append(out, spaced(2, a.name)...), equals)
			out = append(append(out, indented(2, spaced(1, a.value))...), newline())
			if a.value[0].Type == sealed && len(attrs) > 1 {
				out = append(out, newline())
			}
		}
		attrs = attrs[n:]
	}
	return out
}

// broken is an object or a tuple of one line on several lines. Other expressions
// stay as they are.
func broken(value hclwrite.Tokens, width int) hclwrite.Tokens {
	open, items := elements(value)
	switch {
	case len(items) == 0:
		return value
	case open == hclsyntax.TokenOBrace:
		var attrs []attribute
		for _, item := range items {
			equals := slices.IndexFunc(item, func(t *hclwrite.Token) bool { return t.Type == hclsyntax.TokenEqual })
			attrs = append(attrs, attribute{spaced(0, item[:equals]), item[equals+1:]})
		}
		return lines(attrs, width)
	case len(items) == 1 && items[0][0].Type == hclsyntax.TokenOBrace:
		out := append(hclwrite.Tokens{value[0]}, broken(items[0], width)...)
		return append(out, token(hclsyntax.TokenCBrack, "]"))
	}
	out := hclwrite.Tokens{value[0], newline()}
	for _, item := range items {
		if columns(item) > width-len("  ,") {
			item = broken(item, width-2)
		}
		out = append(out, indented(2, spaced(2, item))...)
		out = append(out, token(hclsyntax.TokenComma, ","), newline())
	}
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

// elements are what an object or a tuple has between its commas.
func elements(value hclwrite.Tokens) (open hclsyntax.TokenType, items []hclwrite.Tokens) {
	open = value[0].Type
	if open != hclsyntax.TokenOBrace && open != hclsyntax.TokenOBrack || len(value) == 2 {
		return open, nil
	}
	depth, from := 0, 1
	for i, t := range value {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			depth--
		}
		if end := i == len(value)-1; end || depth == 1 && t.Type == hclsyntax.TokenComma {
			items = append(items, value[from:i])
			from = i + 1
		}
	}
	return open, items
}

// indented shifts all lines of an expression but the first.
func indented(n int, ts hclwrite.Tokens) hclwrite.Tokens {
	for i, t := range ts {
		if i > 0 && ts[i-1].Type == hclsyntax.TokenNewline && t.Type != hclsyntax.TokenNewline {
			t.SpacesBefore += n
		}
	}
	return ts
}

// sealed is the type of a token that is a whole expression of several lines: a
// stack of thousands of VMs would need gigabytes for the tokens of all of them.
const sealed = hclsyntax.TokenNil

// seal makes an expression one token, indented by n.
func seal(n int, ts hclwrite.Tokens) hclwrite.Tokens {
	return hclwrite.Tokens{{Type: sealed, Bytes: indented(n, ts).Bytes()}}
}

// columns is how wide tokens are on a line, the space before them not counted.
func columns(ts hclwrite.Tokens) int {
	n := 0
	for i, t := range ts {
		n += len(t.Bytes)
		if i > 0 {
			n += t.SpacesBefore
		}
	}
	return n
}

func multiline(ts hclwrite.Tokens) bool {
	return slices.ContainsFunc(ts, func(t *hclwrite.Token) bool { return t.Type == hclsyntax.TokenNewline || t.Type == sealed })
}
