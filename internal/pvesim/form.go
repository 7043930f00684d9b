package pvesim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"stackgen/internal/pvesim/schema"
)

// readValues merges the parameters of query and body.
func readValues(r *request) (schema.Values, *reply) {
	values := parseForm(r.query)
	if len(r.body) > 0 && r.method == "DELETE" {
		return nil, plainReply(501, "Unexpected content for method 'DELETE'")
	}
	kind := strings.TrimSpace(strings.SplitN(r.header.Get("Content-Type"), ";", 2)[0])
	if r.method == "GET" || r.method == "DELETE" || kind == "" && len(r.body) == 0 {
		return values, nil
	}
	var body schema.Values
	switch kind {
	case "application/x-www-form-urlencoded", "":
		body = parseForm(string(r.body))
	case "application/json":
		var early *reply
		if body, early = readJSON(r.body); early != nil {
			return nil, early
		}
	case "multipart/form-data":
		body = readParts(r)
	default:
		return nil, plainReply(506, fmt.Sprintf("upload 'Content-Type '%s' not implemented", kind))
	}
	for k, v := range body {
		values[k] = v
	}
	return values, nil
}

// readParts returns the fields of a form with a file: of the file, its name, and the name
// of the temporary file that it is in.
func readParts(r *request) schema.Values {
	out := schema.Values{}
	_, params, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err != nil {
		return out
	}
	parts := multipart.NewReader(bytes.NewReader(r.body), params["boundary"])
	for {
		p, err := parts.NextPart()
		if err != nil {
			return out
		}
		if f := p.FileName(); f != "" {
			out[p.FormName()] = f
			file := newReading()
			if _, err := io.Copy(file, p); err != nil {
				return out
			}
			r.file = file.content()
			out["tmpfilename"] = "/var/tmp/pveupload-" + r.file.Sums["md5"]
			continue
		}
		if value, err := io.ReadAll(io.LimitReader(p, 4096)); err == nil {
			out[p.FormName()] = string(value)
		}
	}
}

func readJSON(src []byte) (schema.Values, *reply) {
	const file = "/usr/share/perl5/PVE/APIServer/AnyEvent.pm"
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		msg := fmt.Sprintf("malformed JSON string, neither tag, array, object, number, string or atom, "+
			"at character offset %d (before \"(end of string)\") at %s line 917.", len(src), file)
		return nil, &reply{status: 500, reason: msg, body: []byte(msg + "\n")}
	}
	m, ok := v.(map[string]any)
	if !ok {
		msg := "Not a HASH reference at " + file + " line 957."
		return nil, &reply{status: 500, reason: msg, body: []byte(msg + "\n")}
	}
	return m, nil
}
