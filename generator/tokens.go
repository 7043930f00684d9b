package generator

import (
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// The builders in this file space their tokens as hclwrite.Format would: to format
// a stack of thousands of VMs would take longer than to render it. TestSpacing
// compares both.

// A pair is one attribute of an object expression or a block.
type pair struct {
	key   string
	value hclwrite.Tokens
}

func token(t hclsyntax.TokenType, s string) *hclwrite.Token {
	return &hclwrite.Token{Type: t, Bytes: []byte(s)}
}

func newline() *hclwrite.Token { return token(hclsyntax.TokenNewline, "\n") }

func text(s string) hclwrite.Tokens { return hclwrite.TokensForValue(cty.StringVal(s)) }

func number(n int) hclwrite.Tokens {
	return hclwrite.Tokens{token(hclsyntax.TokenNumberLit, strconv.Itoa(n))}
}

func boolean(b bool) hclwrite.Tokens { return ident(strconv.FormatBool(b)) }

func null() hclwrite.Tokens { return ident("null") }

func ident(name string) hclwrite.Tokens { return hclwrite.TokensForIdentifier(name) }

// orNull is a string, or null where it is empty.
func orNull(s string) hclwrite.Tokens {
	if s == "" {
		return null()
	}
	return text(s)
}

// ref is a reference such as vm.name.
func ref(root string, attrs ...string) hclwrite.Tokens {
	t := hcl.Traversal{hcl.TraverseRoot{Name: root}}
	for _, a := range attrs {
		t = append(t, hcl.TraverseAttr{Name: a})
	}
	return hclwrite.TokensForTraversal(t)
}

// spaced puts n spaces before an expression.
func spaced(n int, ts hclwrite.Tokens) hclwrite.Tokens {
	if len(ts) > 0 {
		ts[0].SpacesBefore = n
	}
	return ts
}

// commas joins expressions as a list of arguments is joined.
func commas(out hclwrite.Tokens, items []hclwrite.Tokens) hclwrite.Tokens {
	for i, item := range items {
		if i > 0 {
			out = append(out, token(hclsyntax.TokenComma, ","))
			item = spaced(1, item)
		}
		out = append(out, item...)
	}
	return out
}

func list(items ...hclwrite.Tokens) hclwrite.Tokens {
	out := commas(hclwrite.Tokens{token(hclsyntax.TokenOBrack, "[")}, items)
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

func texts(items []string) hclwrite.Tokens {
	out := make([]hclwrite.Tokens, 0, len(items))
	for _, s := range items {
		out = append(out, text(s))
	}
	return list(out...)
}

func call(name string, args ...hclwrite.Tokens) hclwrite.Tokens {
	out := commas(append(ident(name), token(hclsyntax.TokenOParen, "(")), args)
	return append(out, token(hclsyntax.TokenCParen, ")"))
}

// callLines is a call with one argument on each line.
func callLines(name string, args ...hclwrite.Tokens) hclwrite.Tokens {
	out := append(ident(name), token(hclsyntax.TokenOParen, "("), newline())
	for _, arg := range args {
		out = append(append(out, arg...), token(hclsyntax.TokenComma, ","), newline())
	}
	return append(out, token(hclsyntax.TokenCParen, ")"))
}

// splat is value[*]: one element where there is a value, none where it is null.
func splat(value hclwrite.Tokens) hclwrite.Tokens {
	return append(value, token(hclsyntax.TokenOBrack, "["), token(hclsyntax.TokenStar, "*"), token(hclsyntax.TokenCBrack, "]"))
}

// index is value["key"].
func index(value hclwrite.Tokens, key string) hclwrite.Tokens {
	value = append(value, token(hclsyntax.TokenOBrack, "["))
	value = append(value, text(key)...)
	return append(value, token(hclsyntax.TokenCBrack, "]"))
}

// of is object.NAME.
func of(object hclwrite.Tokens, name string) hclwrite.Tokens {
	return append(object, token(hclsyntax.TokenDot, "."), token(hclsyntax.TokenIdent, name))
}

// comment is a line of its own.
func comment(s string) hclwrite.Tokens {
	return hclwrite.Tokens{token(hclsyntax.TokenComment, "# "+s+"\n")}
}

// stackPath is "${get_terragrunt_dir()}/PATH", in a stack file.
func stackPath(path string) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOQuote, `"`), token(hclsyntax.TokenTemplateInterp, "${")}
	out = append(out, call("get_terragrunt_dir")...)
	out = append(out, token(hclsyntax.TokenTemplateSeqEnd, "}"))
	quoted := text("/" + path)
	out = append(out, quoted[1:len(quoted)-1]...)
	return append(out, token(hclsyntax.TokenCQuote, `"`))
}
