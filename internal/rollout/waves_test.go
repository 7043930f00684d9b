package rollout

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]string{
		"": "{0 0}", "5": "{5 0}", "25%": "{0 25}", "100%": "{0 100}", "99999": "{9999 0}",
		"0": "error", "0%": "error", "101%": "error", "-5": "error", "+5": "error", "5%%": "error", "%": "error", "five": "error",
		"99999999999999999999": "error", "25 %": "error",
	} {
		got, err := ParseSize(text)
		if is := fmt.Sprint(got); err == nil && is != want || err != nil && want != "error" {
			t.Errorf("%q is %s, %v", text, is, err)
		}
	}
}

// TestSizes: a percentage is rounded up, and a wave has at least one VM.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		size      string
		all, want int
	}{
		{"25%", 20, 5}, {"25%", 6, 2}, {"1%", 20, 1}, {"33%", 10, 4}, {"100%", 7, 7}, {"50%", 1, 1}, {"25%", 0, 1}, {"34%", 3, 2},
		{"5", 20, 5}, {"5", 3, 5}, {"", 20, 20}, {"", 0, 1},
	} {
		s, err := ParseSize(c.size)
		if got := s.Of(c.all); err != nil || got != c.want {
			t.Errorf("%s of %d is %d, %v; want %d", c.size, c.all, got, err, c.want)
		}
	}
}

func TestWaves(t *testing.T) {
	six := strings.Fields("a b c d e f")
	for name, c := range map[string]struct {
		order Order
		want  string
	}{
		"none":                {Order{}, ""},
		"all at once":         {Order{Keys: six}, "a b c d e f"},
		"by two":              {Order{Keys: six, Size: Size{N: 2}}, "a b|c d|e f"},
		"a rest":              {Order{Keys: six[:5], Size: Size{N: 2}}, "a b|c d|e"},
		"a canary":            {Order{Keys: six, Size: Size{N: 2}, Canary: []string{"c"}}, "canary c|a b|d e|f"},
		"canaries and all":    {Order{Keys: six, Canary: []string{"f", "a"}}, "canary a f|b c d e"},
		"a canary not chosen": {Order{Keys: six[:2], Canary: []string{"f"}}, "a b"},
		"only canaries":       {Order{Keys: six[:2], Canary: six}, "canary a b"},
		"percent of all":      {Order{Keys: six[2:], Size: Size{Percent: 25}, All: 6}, "c d|e f"},
		"again first":         {Order{Keys: six, Again: []string{"d", "e", "c"}, Canary: []string{"a", "c"}, Size: Size{N: 2}}, "again c d|again e|canary a|b f"},
		"again, not chosen":   {Order{Keys: six[:1], Again: []string{"b"}}, "a"},
		"a key twice":         {Order{Keys: []string{"a", "b", "a"}, Size: Size{N: 1}}, "a|b"},
	} {
		var got []string
		for _, w := range c.order.Waves() {
			text := strings.Join(w.Keys, " ")
			if w.Canary {
				text = "canary " + text
			}
			if w.Again {
				text = "again " + text
			}
			got = append(got, text)
		}
		if is := strings.Join(got, "|"); is != c.want {
			t.Errorf("%s: %q, want %q", name, is, c.want)
		}
	}
}
