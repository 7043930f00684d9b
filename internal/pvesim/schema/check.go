package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Values are the parameters of a request: strings from a form; from a JSON body
// also numbers, booleans, lists and objects.
type Values map[string]any

// Errors maps parameters to the error messages of the server.
type Errors map[string]string

// Check validates values and returns them as strings. Null values count as
// missing.
func (m *Method) Check(in Values) (map[string]string, Errors) {
	errs := Errors{}
	out := map[string]string{}
	for name, raw := range in {
		if raw == nil {
			continue
		}
		p := m.Param(name)
		if p == nil {
			errs[name] = "property is not defined in schema and the schema does not allow additional properties"
			continue
		}
		text, msg := p.scalar(raw)
		if msg == "" {
			msg = p.check(name, text)
		}
		if msg != "" {
			errs[name] = msg
			continue
		}
		out[name] = p.normal(text)
	}
	for name, p := range m.Params {
		if strings.HasSuffix(name, "[n]") {
			continue
		}
		given := in[name] != nil
		if !given && !p.optional() {
			errs[name] = "property is missing and it is not optional"
		}
		if given && p.Requires != "" && in[p.Requires] == nil && errs[p.Requires] == "" {
			errs[p.Requires] = fmt.Sprintf("missing property - '%s' requires this property", name)
		}
	}
	if len(errs) == 0 {
		return out, nil
	}
	return out, errs
}

// scalar converts a decoded JSON value to text, as the server does.
func (p *Param) scalar(raw any) (string, string) {
	switch v := raw.(type) {
	case string:
		return v, ""
	case bool:
		if v {
			return "1", ""
		}
		return "0", ""
	case json.Number:
		return v.String(), ""
	case []any:
		if strings.HasSuffix(p.format, "-list") || strings.HasSuffix(p.format, "-alist") {
			parts := make([]string, 0, len(v))
			for _, e := range v {
				s, _ := p.scalar(e)
				parts = append(parts, s)
			}
			return strings.Join(parts, ";"), ""
		}
		return "", fmt.Sprintf("type check ('%s') failed - got ARRAY", p.typeName())
	case map[string]any:
		return "", fmt.Sprintf("type check ('%s') failed - got HASH", p.typeName())
	}
	return fmt.Sprint(raw), ""
}

func (p *Param) typeName() string {
	if p.Type == "" {
		return "string"
	}
	return p.Type
}

// normal converts booleans to their stored form.
func (p *Param) normal(v string) string {
	if p.Type != "boolean" {
		return v
	}
	if b, ok := parseBoolean(v); ok {
		return b
	}
	return v
}

func parseBoolean(v string) (string, bool) {
	switch strings.ToLower(v) {
	case "1", "on", "yes", "true":
		return "1", true
	case "0", "off", "no", "false":
		return "0", true
	}
	return "", false
}

// check validates in the order of the genuine server: type, format, pattern,
// lengths, bounds, enumeration.
func (p *Param) check(path, v string) string {
	if msg := p.checkType(v); msg != "" {
		return msg
	}
	if msg := p.checkFormat(path, v); msg != "" {
		return "invalid format - " + msg
	}
	if p.re != nil && !p.re.MatchString(v) {
		return "value does not match the regex pattern"
	}
	n := len([]rune(v))
	if p.MaxLength != nil && n > *p.MaxLength {
		return fmt.Sprintf("value may only be %d characters long", *p.MaxLength)
	}
	if p.MinLength != nil && n < *p.MinLength {
		return fmt.Sprintf("value must be at least %d characters long", *p.MinLength)
	}
	if f, err := strconv.ParseFloat(v, 64); err == nil && (p.Type == "integer" || p.Type == "number") {
		if p.Maximum != nil && f > *p.Maximum {
			return "value must have a maximum value of " + number(*p.Maximum)
		}
		if p.Minimum != nil && f < *p.Minimum {
			return "value must have a minimum value of " + number(*p.Minimum)
		}
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, v) {
		return fmt.Sprintf("value '%s' does not have a value in the enumeration '%s'", v, strings.Join(p.Enum, ", "))
	}
	return ""
}

func (p *Param) checkType(v string) string {
	ok := true
	switch p.Type {
	case "integer":
		ok = isInteger(v)
	case "number":
		f, err := strconv.ParseFloat(v, 64)
		ok = err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	case "boolean":
		ok = v == "0" || v == "1"
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("type check ('%s') failed - got '%s'", p.Type, v)
}

func isInteger(v string) bool {
	v = strings.TrimLeft(v, "+-")
	if v == "" {
		return false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func (p *Param) checkFormat(path, v string) string {
	if p.object != nil {
		_, err := parseObject(path, v, p.object)
		return err
	}
	if p.format == "" {
		return ""
	}
	return checkNamed(path, p.format, v)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
