package schema

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// A jsonSchema is one JSON Schema: the keywords this package needs, in the
// order in which they are written.
type jsonSchema struct {
	Dialect              string        `json:"$schema,omitempty"`
	ID                   string        `json:"$id,omitempty"`
	Ref                  string        `json:"$ref,omitempty"`
	Title                string        `json:"title,omitempty"`
	Description          string        `json:"description,omitempty"`
	Type                 string        `json:"type,omitempty"`
	Const                any           `json:"const,omitempty"`
	Enum                 []string      `json:"enum,omitempty"`
	Pattern              string        `json:"pattern,omitempty"`
	MaxLength            int           `json:"maxLength,omitempty"`
	MaxItems             int           `json:"maxItems,omitempty"`
	Minimum              *int          `json:"minimum,omitempty"`
	Maximum              *int          `json:"maximum,omitempty"`
	AnyOf                []*jsonSchema `json:"anyOf,omitempty"`
	AllOf                []*jsonSchema `json:"allOf,omitempty"`
	OneOf                []*jsonSchema `json:"oneOf,omitempty"`
	If                   *jsonSchema   `json:"if,omitempty"`
	Then                 *jsonSchema   `json:"then,omitempty"`
	Else                 *jsonSchema   `json:"else,omitempty"`
	Items                *jsonSchema   `json:"items,omitempty"`
	Required             []string      `json:"required,omitempty"`
	Properties           jsonObject    `json:"properties,omitempty"`
	PropertyNames        *jsonSchema   `json:"propertyNames,omitempty"`
	AdditionalProperties any           `json:"additionalProperties,omitempty"` // false or a *jsonSchema
	Default              any           `json:"default,omitempty"`
	Defs                 jsonObject    `json:"$defs,omitempty"`
}

// A jsonObject is a JSON object whose members have an order.
type jsonObject []jsonMember

type jsonMember struct {
	key   string
	value any
}

// MarshalJSON keeps the members in order.
func (ms jsonObject) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range ms {
		if i > 0 {
			out.WriteByte(',')
		}
		key, err := encode(m.key, "")
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value, "")
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// encode writes JSON with < and > as they are: version constraints are full of
// them.
func encode(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return out.Bytes(), err
}

// nodeJSON returns what encoding/json writes as the node's value, keys in the
// node's order.
func nodeJSON(n *Node) any {
	switch n.Shape {
	case ShapeBool:
		return n.Bool()
	case ShapeInt:
		return json.Number(n.Text)
	case ShapeFloat:
		v, _ := strconv.ParseFloat(n.Text, 64) // ParseYAML lets no other text through
		return v
	case ShapeString:
		return n.Text
	case ShapeList:
		out := []any{}
		for _, item := range n.Items {
			out = append(out, nodeJSON(item))
		}
		return out
	case ShapeMap:
		out := jsonObject{}
		for i, key := range n.Keys {
			out = append(out, jsonMember{key.Text, nodeJSON(n.Items[i])})
		}
		return out
	}
	return nil
}
