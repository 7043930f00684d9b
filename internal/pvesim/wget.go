package pvesim

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// wget is what the download program of a node prints, and how it ends.
type wget struct {
	lines []string
	now   time.Time
	exit  int
}

const wgetStamp = "2006-01-02 15:04:05"

func (o *wget) printf(format string, args ...any) {
	o.lines = append(o.lines, fmt.Sprintf(format, args...))
}

// run prints what the program prints for a URL that it writes to a file.
func (o *wget) run(r *Remote, file string, full bool, verify bool) {
	for i, h := range r.Hops {
		if o.hop(h, verify); o.exit != 0 {
			return
		}
		if i < len(r.Hops)-1 {
			o.printf("Location: %s [following]", r.Hops[i+1].URL)
		}
	}
	last := r.Hops[len(r.Hops)-1]
	if code, reason, _ := strings.Cut(last.Status, " "); code != "200" {
		o.printf("%s ERROR %s: %s.", o.now.Format(wgetStamp), code, reason)
		o.printf("")
		o.exit = 8
		return
	}
	o.body(r, file, full)
}

// hop prints one request.
func (o *wget) hop(h Hop, verify bool) {
	o.printf("--%s--  %s", o.now.Format(wgetStamp), h.URL)
	u, err := url.Parse(h.URL)
	if err != nil {
		o.printf("%s: Bad URL.", h.URL)
		o.exit = 1
		return
	}
	at := u.Hostname()
	if h.Name != "" {
		if h.Failure == NotResolved {
			o.printf("Resolving %s (%s)... failed: %s.", h.Name, h.Name, h.Reason)
			o.printf("wget: unable to resolve host address '%s'", h.Name)
			o.exit = 4
			return
		}
		o.printf("Resolving %s (%s)... %s", h.Name, h.Name, strings.Join(h.IPs, ", "))
		if len(h.IPs) > 0 {
			at = fmt.Sprintf("%s (%s)|%s|", h.Name, h.Name, h.IPs[0])
		}
	}
	o.connect(h, at+":"+portOf(u), u.Hostname(), verify)
}

// portOf returns the port of a URL, or that of its scheme.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// connect prints the connection to a server, and the status of its response.
func (o *wget) connect(h Hop, at, host string, verify bool) {
	if h.Failure == NotConnected {
		o.printf("Connecting to %s... failed: %s.", at, h.Reason)
		o.exit = 4
		return
	}
	o.printf("Connecting to %s... connected.", at)
	switch {
	case h.Failure == NotTrusted && verify:
		o.printf("ERROR: The certificate of '%s' is not trusted.", host)
		o.printf("ERROR: The certificate of '%s' doesn't have a known issuer.", host)
		o.exit = 5
	case h.Failure != NoFailure:
		o.printf("HTTP request sent, awaiting response... Read error (%s) in headers.", h.Reason)
		o.printf("Giving up.")
		o.printf("")
		o.exit = 4
	default:
		o.printf("HTTP request sent, awaiting response... %s", h.Status)
	}
}

// body prints the transfer of the body to a file, which fails on a full storage.
func (o *wget) body(r *Remote, file string, full bool) {
	length := "unspecified"
	if r.Length >= 0 {
		length = fmt.Sprint(r.Length)
		if r.Length >= kib {
			length += " (" + wgetSize(r.Length) + ")"
		}
	}
	mime := ""
	if r.Type != "" {
		kind, _, _ := strings.Cut(r.Type, ";")
		mime = " [" + kind + "]"
	}
	o.printf("Length: %s%s", length, mime)
	o.printf("Saving to: '%s'", file)
	o.printf("")
	if full {
		o.printf("Cannot write to '%s' (No space left on device).", file)
		o.exit = 3
		return
	}
	size := r.Content.Size
	o.dots(size, r.Length)
	of := fmt.Sprint(size)
	if r.Length >= 0 {
		of += "/" + fmt.Sprint(r.Length)
	}
	o.printf("")
	if r.Broken != "" && size < r.Length {
		o.printf("%s (1.00 GB/s) - Connection closed at byte %d. Giving up.", o.now.Format(wgetStamp), size)
		o.printf("")
		o.exit = 4
		return
	}
	o.printf("%s (1.00 GB/s) - '%s' saved [%s]", o.now.Format(wgetStamp), file, of)
	o.printf("")
}

// dots prints the progress of a transfer: a dot for each MiB, 32 in a line. The time is
// not measured.
func (o *wget) dots(size, length int64) {
	const perDot, perGroup, perLine = mib, 8 * mib, 32 * mib
	for at := int64(0); at == 0 || at < size; at += perLine {
		line := fmt.Sprintf("%6dK", at/kib)
		for group := at; group < at+perLine; group += perGroup {
			n := min(max((size-group)/perDot, 0), perGroup/perDot)
			line += " " + strings.Repeat(".", int(n)) + strings.Repeat(" ", int(perGroup/perDot-n))
		}
		last := at+perLine >= size
		if length > 0 {
			line += fmt.Sprintf("%3d%%", 100*min(size, at+perLine)/length)
		}
		if line += " 1.00G"; last {
			line += "=0s"
		} else {
			line += " 0s"
		}
		o.printf("%s", line)
	}
}

// wgetSize returns a size as the program prints it.
func wgetSize(n int64) string {
	units := "KMGTPE"
	for i := range units {
		if n/kib < kib || i == len(units)-1 {
			v := float64(n) / float64(kib)
			digits := 0
			if v < 10 {
				digits = 1
			}
			return fmt.Sprintf("%.*f%c", digits, v, units[i])
		}
		n /= kib
	}
	return ""
}

// outcome returns the lines in the log of a task, and the error of a program that
// failed: its last line, or else its exit code. The log has no empty lines.
func (o *wget) outcome() (lines []string, failure string) {
	for _, l := range o.lines {
		if l != "" {
			lines = append(lines, l)
		}
	}
	if o.exit == 0 {
		return lines, ""
	}
	if last := o.lines[len(o.lines)-1]; last != "" {
		return lines[:len(lines)-1], last
	}
	return lines, fmt.Sprintf("exit code %d", o.exit)
}
