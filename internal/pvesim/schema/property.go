package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Property is a parsed property string, such as a drive or a network device.
type Property map[string]string

// ParseProperty parses a property string with the keys of a parameter. The
// error is the message of the server.
func (p *Param) ParseProperty(path, v string) (Property, string) {
	return parseObject(path, v, p.object)
}

func parseObject(path, v string, format map[string]*Param) (Property, string) {
	out, msg := splitProperty(v, format)
	if msg != "" {
		return nil, msg
	}
	errs := Errors{}
	for k, value := range out {
		if msg := format[k].check(path+"."+k, value); msg != "" {
			errs[path+"."+k] = msg
		}
	}
	for k, sub := range format {
		_, given := out[k]
		if !given && sub.Alias == "" && !sub.optional() {
			errs[path+"."+k] = "property is missing and it is not optional"
		}
		if given && sub.Requires != "" {
			if _, ok := out[sub.Requires]; !ok {
				errs[path+"."+sub.Requires] = fmt.Sprintf("missing property - '%s.%s' requires this property", path, k)
			}
		}
	}
	if len(errs) == 0 {
		return out, ""
	}
	text := "format error\n"
	for _, k := range slices.Sorted(maps.Keys(errs)) {
		text += k + ": " + errs[k] + "\n"
	}
	return nil, text
}

func splitProperty(v string, format map[string]*Param) (Property, string) {
	defaultKey := ""
	for k, sub := range format {
		if sub.DefaultKey != 0 {
			defaultKey = k
		}
	}
	out := Property{}
	for _, part := range strings.Split(v, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		k, value, keyed := strings.Cut(part, "=")
		switch {
		case !keyed && defaultKey == "":
			return nil, "value without key, but schema does not define a default key\n"
		case !keyed:
			if _, dup := out[defaultKey]; dup {
				return nil, "duplicate key in comma-separated list property: " + defaultKey + "\n"
			}
			out[defaultKey] = part
		case k == "" || value == "":
			return nil, "missing key in comma-separated list property\n"
		default:
			if msg := putKey(out, k, value, format); msg != "" {
				return nil, msg
			}
		}
	}
	return out, ""
}

func putKey(out Property, k, value string, format map[string]*Param) string {
	if _, dup := out[k]; dup {
		return "duplicate key in comma-separated list property: " + k + "\n"
	}
	sub := format[k]
	if sub != nil && sub.Alias != "" {
		// The compact description lacks keyAlias; only network models use it.
		if sub.Alias == "macaddr" {
			out["model"] = k
		}
		k = sub.Alias
		sub = format[k]
	}
	if sub == nil {
		return "invalid key in comma-separated list property: " + k + "\n"
	}
	if sub.Type == "boolean" {
		if b, ok := parseBoolean(value); ok {
			value = b
		}
	}
	out[k] = value
	return ""
}
