package dnstest

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
)

// TestClose checks that nothing listens and no file remains after Close.
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
		t.Errorf("files remain: %v %v", left, err)
	}
}

// TestBrokenNamed checks the error of a named that does not start, and that no file remains.
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
		t.Errorf("files remain: %v %v", left, err)
	}
}

// TestBadOptions checks the errors of invalid records and of a cancelled context.
func TestBadOptions(t *testing.T) {
	if _, err := Start(context.Background(), Options{Records: []string{"web IN A nonsense"}, Kind: InProcess}); err == nil || !strings.Contains(err.Error(), "web IN A nonsense") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, kind := range kinds(t) {
		if s, err := Start(ctx, Options{Kind: kind}); err == nil {
			t.Errorf("%s starts with a cancelled context", s)
		}
	}
}
