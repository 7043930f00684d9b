// Package browser opens pages in a real headless Chromium, and sees what they do: what they
// load, what they log, and how they look.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Find returns the path of a Chromium or Chrome, or "".
func Find() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// A Browser is a running Chromium.
type Browser struct {
	ctx   context.Context
	close []func()
}

// Start starts the Chromium at a path, with a profile of its own.
func Start(path string) (*Browser, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("disable-dev-shm-usage", true))
	if os.Getuid() == 0 { // the sandbox does not start for root
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, quit := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		quit()
		stop()
		return nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	return &Browser{ctx, []func(){quit, stop}}, nil
}

// Close ends the browser.
func (b *Browser) Close() {
	for _, f := range b.close {
		f()
	}
}

// How is how a page is opened.
type How struct {
	Width, Height int64
	Dark, Phone   bool
	NoScript      bool
}

// A Tab is an open page.
type Tab struct {
	ctx    context.Context
	close  func()
	mu     sync.Mutex
	loads  []string
	errors []string
}

// Open opens a file in a tab of its own.
func (b *Browser) Open(file string, how How) (*Tab, error) {
	ctx, cancel := chromedp.NewContext(b.ctx)
	tab := &Tab{ctx: ctx, close: cancel}
	if err := errors.Join(chromedp.Listen(ctx, tab.record), tab.set(how), chromedp.Do(ctx, chromedp.Navigate("file://"+file))); err != nil {
		cancel()
		return nil, err
	}
	return tab, nil
}

// set sets what the tab pretends to be.
func (t *Tab) set(how How) error {
	scheme := "light"
	if how.Dark {
		scheme = "dark"
	}
	_, network := chromedp.Call(t.ctx, network.Enable, network.EnableParams{})
	_, log := chromedp.Call(t.ctx, log.Enable, cdp.Empty{})
	_, runtime := chromedp.Call(t.ctx, runtime.Enable, cdp.Empty{})
	_, size := chromedp.Call(t.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: how.Width, Height: how.Height, DeviceScaleFactor: 1, Mobile: how.Phone,
	})
	_, media := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	_, script := chromedp.Call(t.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: how.NoScript})
	return errors.Join(network, log, runtime, size, media, script)
}

// record keeps what the page loads and complains about.
func (t *Tab) record(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file://") || e.Type != network.ResourceTypeDocument {
			t.loads = append(t.loads, e.Request.URL)
		}
	case *log.EventEntryAdded:
		t.errors = append(t.errors, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		t.errors = append(t.errors, fmt.Sprint("console.", e.Type))
	case *runtime.EventExceptionThrown:
		t.errors = append(t.errors, e.ExceptionDetails.Text)
	}
}

// Close closes the tab.
func (t *Tab) Close() { t.close() }

// Loads are the URLs of everything that the page asked for except for itself.
func (t *Tab) Loads() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loads
}

// Errors are what the page logged.
func (t *Tab) Errors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.errors
}

// Press presses keys.
func (t *Tab) Press(keys string) error { return chromedp.Do(t.ctx, chromedp.KeyEvent(keys)) }

// Shot is a picture of the window, or of the whole page, as PNG.
func (t *Tab) Shot(whole bool) ([]byte, error) {
	if whole {
		return chromedp.Run(t.ctx, chromedp.FullScreenshot(100))
	}
	return chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
}

// Eval returns the value of an expression of JavaScript, or that of its promise.
func Eval[T any](t *Tab, expression string) (T, error) {
	return chromedp.Run(t.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}
