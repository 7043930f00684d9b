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

// inline is an object expression on one line.
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
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{"), newline()}
	out = append(out, attributes(pairs)...)
	return append(out, token(hclsyntax.TokenCBrace, "}"))
}

// A part is what a block holds: attributes that stand together, or one block.
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

// group is attributes that stand together in a block.
func group(pairs ...pair) part { return part(attributes(pairs)) }

// attributes lays out one attribute a line, one level in. The equals signs of
// neighbours line up, unless a value takes several lines.
func attributes(pairs []pair) hclwrite.Tokens {
	var out hclwrite.Tokens
	for i := 0; i < len(pairs); {
		end, width := i, 0
		var names []hclwrite.Tokens
		for end < len(pairs) && (end == i || !multiline(pairs[end-1].value) && !multiline(pairs[end].value)) {
			names = append(names, key(pairs[end].key))
			width = max(width, columns(names[end-i]))
			end++ // a value of several lines stands for itself
		}
		for k, p := range pairs[i:end] {
			name := names[k]
			equals := token(hclsyntax.TokenEqual, "=")
			equals.SpacesBefore = 1 + width - columns(name)
			spaced(2, name)
			out = append(append(out, name...), equals)
			value := spaced(1, p.value)
			for at := 1; at < len(value); at++ {
				if value[at-1].Type == hclsyntax.TokenNewline && value[at].Type != hclsyntax.TokenNewline {
					value[at].SpacesBefore += 2
				}
			}
			out = append(append(out, value...), newline())
		}
		i = end
	}
	return out
}

// columns is how wide an object's key is: quoted ones are ASCII as well.
func columns(name hclwrite.Tokens) int {
	n := 0
	for _, t := range name {
		n += len(t.Bytes)
	}
	return n
}

func multiline(ts hclwrite.Tokens) bool {
	return slices.ContainsFunc(ts, func(t *hclwrite.Token) bool { return t.Type == hclsyntax.TokenNewline })
}
