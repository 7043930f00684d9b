package tf

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestShared: a value keeps its meaning, and is the other one where nothing differs.
func TestShared(t *testing.T) {
	const other = `{"disk":[{"size":8,"ssd":false},{"size":9}],"tags":["a","b"],"name":"a","pool":null}`
	for text, same := range map[string]bool{
		other:               true,
		`{"disk":[],"x":1}`: false,
		`{"disk":[{"size":8,"ssd":false}],"tags":["a","b"],"name":"a","pool":null}`:                      false,
		`{"disk":[{"size":8,"ssd":false},{"size":10}],"tags":["a","b"],"name":"a","pool":null}`:          false,
		`{"disk":[{"size":8,"ssd":false},{"size":9}],"tags":["a","b"],"name":"a"}`:                       false,
		`{"disk":[{"size":8,"ssd":false},{"size":9}],"tags":["a","b"],"name":["a"],"pool":null}`:         false,
		`{"disk":[{"size":8,"ssd":false},{"size":9}],"tags":["a","b"],"name":"a","pool":{"id":"lab"}}`:   false,
		`{"disk":{"size":8},"tags":"a b","name":"a","pool":null}`:                                        false,
		`{"disk":[{"size":8,"ssd":false},{"size":9}],"tags":["a","b"],"name":"a","pool":null,"id":null}`: false,
	} {
		var value, want, base any
		for to, from := range map[*any]string{&value: text, &want: text, &base: other} {
			if err := json.Unmarshal([]byte(from), to); err != nil {
				t.Fatal(err)
			}
		}
		got, is := shared(value, base)
		if is != same || !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %v, the same: %v", text, got, is)
		}
		tags := func(v any) any { return v.(map[string]any)["tags"] }
		if list, ok := tags(got).([]any); ok && len(list) == 2 && &list[0] != &tags(base).([]any)[0] {
			t.Errorf("%s has tags of its own", text)
		}
	}
}
