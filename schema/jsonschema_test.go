package schema

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaSays returns what the JSON Schema has against a document, read the way
// an editor does.
func schemaSays(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return err
	}
	return s.Validate(asJSON(t, doc))
}

// asJSON turns what yaml.v3 decodes into what JSON has.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			out[k] = asJSON(t, item)
		}
		return out
	case map[any]any:
		out := map[string]any{}
		for k, item := range v {
			out[fmt.Sprint(k)] = asJSON(t, item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = asJSON(t, item)
		}
		return out
	case time.Time:
		return v.Format(time.DateOnly)
	default:
		return v
	}
}

// parserSays returns what is wrong with a document by itself.
func parserSays(text string) []Problem {
	_, problems := Parse("spec.yaml", []byte(text))
	return problems
}

func TestJSONSchemaIsValid(t *testing.T) {
	text, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	if err := meta.Validate(doc); err != nil {
		t.Error(err)
	}
	again, err := JSONSchema()
	if err != nil || !bytes.Equal(text, again) {
		t.Error("two runs differ", err)
	}
}

func TestExamplesValidate(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("../specs/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("examples: %v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := schemaSays(t, s, string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, p := range parserSays(string(text)) {
			t.Errorf("%s: %v", file, p)
		}
	}
}

func TestDefaultsFit(t *testing.T) {
	for _, kind := range []string{KindProject, KindStack, KindClass} {
		eachPlace(&Field{Type: Object, Fields: fieldsOf(kind)}, map[*Field]bool{}, func(v string) string { return v }, func(f *Field, _ func(string) string) {
			if f.Default == "" {
				return
			}
			n, problems := ParseYAML("default", []byte(f.Default))
			c := newChecker()
			for _, p := range problems {
				c.Add(p)
			}
			if n != nil {
				c.check(n, f, f.Key)
			}
			for _, p := range c.problems {
				t.Error(p)
			}
		})
	}
}
