package generator

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// A pair is one attribute of an object expression.
type pair struct {
	key   string
	value hclwrite.Tokens
}

func text(s string) hclwrite.Tokens                 { return hclwrite.TokensForValue(cty.StringVal(s)) }
func number(n int) hclwrite.Tokens                  { return hclwrite.TokensForValue(cty.NumberIntVal(int64(n))) }
func boolean(b bool) hclwrite.Tokens                { return hclwrite.TokensForValue(cty.BoolVal(b)) }
func null() hclwrite.Tokens                         { return hclwrite.TokensForIdentifier("null") }
func ident(name string) hclwrite.Tokens             { return hclwrite.TokensForIdentifier(name) }
func list(items ...hclwrite.Tokens) hclwrite.Tokens { return hclwrite.TokensForTuple(items) }

func texts(items []string) hclwrite.Tokens {
	out := make([]hclwrite.Tokens, 0, len(items))
	for _, s := range items {
		out = append(out, text(s))
	}
	return list(out...)
}

// orNull is a string, or null where it is empty.
func orNull(s string) hclwrite.Tokens {
	if s == "" {
		return null()
	}
	return text(s)
}

// ref is a reference such as each.value.name.
func ref(root string, attrs ...string) hclwrite.Tokens {
	t := hcl.Traversal{hcl.TraverseRoot{Name: root}}
	for _, a := range attrs {
		t = append(t, hcl.TraverseAttr{Name: a})
	}
	return hclwrite.TokensForTraversal(t)
}

func call(name string, args ...hclwrite.Tokens) hclwrite.Tokens {
	return hclwrite.TokensForFunctionCall(name, args...)
}

// callLines is a call with one argument on each line.
func callLines(name string, args ...hclwrite.Tokens) hclwrite.Tokens {
	out := append(ident(name), token(hclsyntax.TokenOParen, "("), token(hclsyntax.TokenNewline, "\n"))
	for _, arg := range args {
		out = append(append(out, arg...), token(hclsyntax.TokenComma, ","), token(hclsyntax.TokenNewline, "\n"))
	}
	return append(out, token(hclsyntax.TokenCParen, ")"))
}

func token(t hclsyntax.TokenType, s string) *hclwrite.Token {
	return &hclwrite.Token{Type: t, Bytes: []byte(s)}
}

// key is an object's key: bare where it is an identifier, else in quotes.
func key(s string) hclwrite.Tokens {
	if hclsyntax.ValidIdentifier(s) {
		return ident(s)
	}
	return text(s)
}

// object is an object expression with one attribute on each line, in the order
// given: hclwrite's own sorts them.
func object(pairs ...pair) hclwrite.Tokens {
	if len(pairs) == 0 {
		return hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{"), token(hclsyntax.TokenCBrace, "}")}
	}
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{"), token(hclsyntax.TokenNewline, "\n")}
	for _, p := range pairs {
		out = append(out, key(p.key)...)
		out = append(out, token(hclsyntax.TokenEqual, "="))
		out = append(out, p.value...)
		out = append(out, token(hclsyntax.TokenNewline, "\n"))
	}
	return append(out, token(hclsyntax.TokenCBrace, "}"))
}

// inline is an object expression on one line.
func inline(pairs ...pair) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{")}
	for i, p := range pairs {
		if i > 0 {
			out = append(out, token(hclsyntax.TokenComma, ","))
		}
		out = append(out, key(p.key)...)
		out = append(out, token(hclsyntax.TokenEqual, "="))
		out = append(out, p.value...)
	}
	return append(out, token(hclsyntax.TokenCBrace, "}"))
}

// splat is value[*]: one element where there is a value, none where it is null.
func splat(value hclwrite.Tokens) hclwrite.Tokens {
	return append(value, token(hclsyntax.TokenOBrack, "["), token(hclsyntax.TokenStar, "*"), token(hclsyntax.TokenCBrack, "]"))
}

// index is value["key"].
func index(value hclwrite.Tokens, key string) hclwrite.Tokens {
	out := append(value, token(hclsyntax.TokenOBrack, "["))
	out = append(out, text(key)...)
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

// comment is a line of its own.
func comment(s string) hclwrite.Tokens {
	return hclwrite.Tokens{token(hclsyntax.TokenComment, "# "+s+"\n")}
}

// conditional is a ? b : c.
func conditional(a, b, c hclwrite.Tokens) hclwrite.Tokens {
	out := append(a, token(hclsyntax.TokenQuestion, "?"))
	out = append(out, b...)
	out = append(out, token(hclsyntax.TokenColon, ":"))
	return append(out, c...)
}

// stackPath is "${get_terragrunt_dir()}/PATH", in a stack file.
func stackPath(path string) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOQuote, `"`), token(hclsyntax.TokenTemplateInterp, "${")}
	out = append(out, call("get_terragrunt_dir")...)
	out = append(out, token(hclsyntax.TokenTemplateSeqEnd, "}"))
	quoted := text("/" + path)
	return append(out, append(quoted[1:len(quoted)-1:len(quoted)-1], token(hclsyntax.TokenCQuote, `"`))...)
}
