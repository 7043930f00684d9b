package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// visible are how many changes are shown, and how many of them match a condition on their
// data and text.
const visible = `((matches) => {
	const rows = [...document.querySelectorAll('tr[id]')].filter((r) => !r.hidden && !r.closest('article').hidden)
	return [rows.length, rows.filter((r) => matches(r.dataset, r.closest('article').textContent.toLowerCase())).length]
})`

// TestFilters presses each filter: the changes that are shown are as many as the button
// says, and all of them have its value.
func TestFilters(t *testing.T) {
	tab := open(t, page(t, 500, 200), How{Width: 1024, Height: 768})
	type button struct {
		Filter, Value string
		N             int
	}
	buttons := eval[[]button](t, tab, `[...document.querySelectorAll('[data-filter]')].map((b) => ({ filter: b.dataset.filter, value: b.dataset.value, n: Number(b.textContent.match(/\d+/g).at(-1)) }))`)
	kinds := map[string]int{}
	for _, b := range buttons {
		kinds[b.Filter]++
		press := fmt.Sprintf(`document.querySelector('[data-filter=%q][data-value=%q]').click()`, b.Filter, b.Value)
		got := eval[[]int](t, tab, fmt.Sprintf(`%s, %s((d) => d[%q] === %q)`, press, visible, b.Filter, b.Value))
		status := eval[string](t, tab, `document.getElementById('status').textContent`)
		if got[0] != b.N || got[1] != b.N || status != fmt.Sprintf("%d of 200 changes", b.N) {
			t.Errorf("%+v: shown %d, of which %d have the value; %q", b, got[0], got[1], status)
		}
		eval[int](t, tab, press+", 1")
	}
	if kinds["class"] < 4 || kinds["kind"] < 15 || kinds["cause"] < 4 || kinds["stack"] != 2 {
		t.Errorf("filters: %v", kinds)
	}
	// Values of one kind add up, and kinds restrict each other.
	got := eval[[]int](t, tab, `['live', 'restart'].forEach((v) => document.querySelector('[data-value=' + v + ']').click()), document.querySelector('[data-value=k3s]').click(),
		`+visible+`((d) => (d.kind === 'live' || d.kind === 'restart') && d.stack === 'k3s')`)
	if got[0] == 0 || got[0] != got[1] {
		t.Errorf("two verdicts of a stack: shown %d, of which %d match", got[0], got[1])
	}
	quiet(t, tab)
}

// TestPicture: a mark shows the changes of its VM only, and all of them.
func TestPicture(t *testing.T) {
	tab := open(t, page(t, 40, 60), How{Width: 1024, Height: 768})
	wrong := eval[[]string](t, tab, `[...document.querySelectorAll('a[data-thing]')].filter((cell) => {
		cell.click()
		const all = [...document.querySelectorAll('tr[id]')]
		const of = (r) => r.dataset.thing === cell.dataset.thing || r.dataset.unit === cell.dataset.thing
		const ok = all.some(of) && all.every((r) => of(r) === !r.hidden) && !cell.classList.contains('dim') && document.activeElement.matches('article.card')
		cell.click()
		return !ok || all.some((r) => r.hidden)
	}).map((cell) => cell.title)`)
	if len(wrong) > 0 {
		t.Errorf("wrong: %q", wrong)
	}
}

// TestKeyboard uses the page without a mouse.
func TestKeyboard(t *testing.T) {
	tab := open(t, page(t, 500, 40), How{Width: 1024, Height: 768})
	press := func(keys, what, want string) {
		t.Helper()
		check(t, tab.Press(keys))
		if got := eval[string](t, tab, what); !strings.Contains(got, want) {
			t.Errorf("%q: %s is %q, want %q", keys, what, got, want)
		}
	}
	const focus, status, search = `document.activeElement.id`, `document.getElementById('status').textContent`, `document.getElementById('search').value`
	press(kb.Tab, `document.activeElement.className`, "skip")
	press("/", focus, "search")
	press(kb.Escape, search, "") // the driver sends the character although the page has taken the key
	press("TAGS root", search, "TAGS root")
	if got := eval[[]int](t, tab, visible+`((d, text) => text.includes('tags') && text.includes('root'))`); got[0] == 0 || got[0] != got[1] || got[0] == 40 {
		t.Errorf("search: shown %d, of which %d match", got[0], got[1])
	}
	press(kb.Enter, `document.activeElement.tagName`, "ARTICLE")
	first := eval[string](t, tab, focus)
	press(kb.Escape, status, "33 changes and 7 that need nothing")
	press("k", `document.activeElement.tagName`, "ARTICLE")
	press("j", focus, first)
	press(kb.Escape, search, "")
	if outline := eval[string](t, tab, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("the focus has the outline %q", outline)
	}
	press("/nothing-has-this", `String(document.getElementById('none').checkVisibility())`, "true")
	press(kb.Escape, `String(document.getElementById('none').checkVisibility())`, "false")
	// Everything that a mouse can press is reached by the tab key.
	unreached := eval[[]string](t, tab, `[...document.querySelectorAll('a, button, input, summary')].filter((e) => e.checkVisibility() && e.tabIndex < 0).map((e) => e.outerHTML)`)
	if len(unreached) > 0 {
		t.Errorf("the tab key does not reach %q", unreached)
	}
	eval[int](t, tab, `document.querySelector('[data-filter]').focus(), 1`)
	press(" ", status, " of 40 changes")
	quiet(t, tab)
}

// TestCopy copies the lines of a step.
func TestCopy(t *testing.T) {
	tab := open(t, page(t, 12, 6), How{Width: 1024, Height: 768})
	want := eval[string](t, tab, `document.querySelector('.copy').previousElementSibling.textContent`)
	got := eval[string](t, tab, `new Promise((done) => {
		navigator.clipboard.writeText = async (text) => { done(text) }
		document.querySelector('.copy').click()
	})`)
	said := eval[string](t, tab, `new Promise((done) => setTimeout(() => done(document.querySelector('.copy').textContent + document.getElementById('said').textContent), 50))`)
	if got != want || want == "" || said != "CopiedCopied" {
		t.Errorf("copied %q of %q, and said %q", got, want, said)
	}
}

// TestPaint logs how long a keystroke in the search box takes: until all is filtered, laid
// out, and painted, which a frame in which nothing changes takes, too.
func TestPaint(t *testing.T) {
	for _, c := range [][2]int{{500, 40}, {500, 2000}} {
		tab := open(t, page(t, c[0], c[1]), How{Width: 1024, Height: 768})
		got := eval[[]float64](t, tab, `(async () => {
			const search = document.getElementById('search')
			search.scrollIntoView()
			const worst = [0, 0, 0, 0]
			const took = (i, start) => { worst[i] = Math.max(worst[i], performance.now() - start) }
			for (const text of [null, null, 'w', 'we', 'web', 'web0', 'web03', 'web0', 'web', '', null]) {
				await new Promise((done) => setTimeout(done, 150))
				const start = performance.now()
				if (text !== null) {
					search.value = text
					search.dispatchEvent(new Event('input'))
					took(0, start)
					document.body.getBoundingClientRect()
					took(1, start)
				}
				await new Promise((done) => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0) }))
				took(text === null ? 3 : 2, start)
			}
			return worst
		})()`)
		fmt.Printf("Browser: %d VMs, %d changes: a keystroke filters in at most %.0f ms, lays out in %.0f ms and paints in %.0f ms; an idle frame takes %.0f ms.\n", c[0], c[1], got[0], got[1], got[2], got[3])
	}
}
