package dnstest

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
)

// TestClose: nothing answers and nothing is left after it.
func TestClose(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, kind := range kinds(t) {
		s, err := Start(context.Background(), Options{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind != kind || s.Zone != "lab.test." {
			t.Errorf("got %s", s)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("a second time: %v", err)
		}
		if c, err := net.Dial("tcp", s.address()); err == nil {
			_ = c.Close()
			t.Errorf("%s still listens", s)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestBrokenNamed: a named that does not run is told, and nothing of it is left.
func TestBrokenNamed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	script := t.TempDir() + "/named"
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho it is broken\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: Addr, Zone: "lab.test.", KeyName: KeyName, Algorithm: Algorithm, Secret: "AAAA"}
	if err := s.named(context.Background(), script, nil); err == nil || !strings.Contains(err.Error(), "it has ended: it is broken") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestBadOptions: what cannot be served is said.
func TestBadOptions(t *testing.T) {
	if _, err := Start(context.Background(), Options{Records: []string{"web IN A nonsense"}, Kind: InProcess}); err == nil || !strings.Contains(err.Error(), "web IN A nonsense") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, kind := range kinds(t) {
		if s, err := Start(ctx, Options{Kind: kind}); err == nil {
			t.Errorf("%s starts although it was called off", s)
		}
	}
}
