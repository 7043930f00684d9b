package dnstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// conf is the configuration of named: one zone, one key, and no file or connection
// outside of its folder and this machine.
const conf = `options {
  directory "DIR";
  pid-file "DIR/named.pid";
  session-keyfile "DIR/session.key";
  managed-keys-directory "DIR";
  listen-on port PORT { 127.0.0.1; };
  listen-on-v6 { none; };
  query-source address 127.0.0.1;
  recursion no;
  notify no;
  dnssec-validation no;
  allow-query { 127.0.0.1; };
  allow-transfer { none; };
  max-cache-size 8m;
};
controls { };
key "KEY" { algorithm hmac-sha256; secret "SECRET"; };
zone "ZONE" {
  type primary;
  file "DIR/zone";
  update-policy { grant KEY zonesub ANY; };
};
`

// wrapper runs named while this process keeps the wrapper's standard input open, and
// then removes the folder, also if this process is killed. It stops watching when
// named has ended, so that it never kills another process with the same PID. It runs
// a copy: AppArmor restricts the installed named to the system's folders. cp creates
// the copy, because a file that this process wrote could still be open in another
// child process.
const wrapper = `trap '' HUP INT
dir=$1
cp "$2" "$dir/named"
shift 2
exec 3<&0
"$dir/named" "$@" </dev/null 3<&- & named=$!
{ cat <&3 >/dev/null; kill $named; } 2>/dev/null & watch=$!
exec 3<&-
wait $named
kill $watch 2>/dev/null
rm -rf "$dir"`

// patience is how long named may take to stop.
const patience = 10 * time.Second

// namedPath is the path of named; a user's PATH often lacks sbin.
func namedPath() (string, error) {
	for _, name := range []string{"named", "/usr/sbin/named", "/usr/local/sbin/named"} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errors.New("named is not installed")
}

// named starts named. If another process has taken the port meanwhile, it tries
// another one.
func (s *Server) named(ctx context.Context, path string, records []dns.RR) (err error) {
	for range 3 {
		s.Port = 0
		if err = s.namedOnce(ctx, path, records); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

func (s *Server) namedOnce(ctx context.Context, path string, records []dns.RR) (err error) {
	dir, err := os.MkdirTemp("", "stackgen-named-")
	if err != nil {
		return fmt.Errorf("no folder for named: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if s.Port == 0 {
		if s.Port, err = freePort(); err != nil {
			return fmt.Errorf("no port for named: %w", err)
		}
	}
	var zone strings.Builder
	for _, rr := range records {
		zone.WriteString(rr.String() + "\n")
	}
	text := strings.NewReplacer("DIR", dir, "PORT", fmt.Sprint(s.Port), "KEY", s.KeyName, "SECRET", s.Secret, "ZONE", s.Zone).Replace(conf)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "zone"), []byte(zone.String()), 0o600),
		os.WriteFile(filepath.Join(dir, "named.conf"), []byte(text), 0o600)); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	c := exec.Command("sh", "-c", wrapper, "sh", dir, path, "-g", "-4", "-n", "1", "-c", filepath.Join(dir, "named.conf"))
	c.Dir, c.Stdout, c.Stderr = dir, log, log
	hold, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // the exit code says nothing: the wrapper kills named
		close(ended)
	}()
	s.stop = func() error {
		err := hold.Close()
		if errors.Is(err, os.ErrClosed) {
			err = nil // named has ended by itself
		}
		select {
		case <-ended:
		case <-time.After(patience):
			err = errors.New("named does not stop")
		}
		return errors.Join(err, log.Close(), os.RemoveAll(dir))
	}
	if err := s.await(ctx, ended); err != nil {
		output, _ := io.ReadAll(io.NewSectionReader(log, 0, 1<<20)) // the folder may be removed already
		return errors.Join(fmt.Errorf("named: %w: %s", err, lastLines(output)), s.Close())
	}
	return nil
}

// lastLines is the end of named's output.
func lastLines(log []byte) string {
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-5):], []byte(" / ")))
}
