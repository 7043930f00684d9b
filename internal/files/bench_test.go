package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// manyFiles is a project of 10,000 files of about 1 KiB, two to a folder, as the stacks of a large project are.
func manyFiles() []File {
	body := []byte(mark + "\n" + strings.Repeat("  cpu = { cores = 2, type = \"x86-64-v2-AES\" }\n", 21))
	files := make([]File, 0, 10_000)
	for i := range 5_000 {
		for _, name := range []string{"stack.hcl", "terragrunt.stack.hcl"} {
			files = append(files, File{Path: fmt.Sprintf("stacks/s%04d/%s", i, name), Body: body})
		}
	}
	return files
}

// plainWrite is the lower bound for writing the files: no comparison, no rename.
func plainWrite(b testing.TB, root string, files []File) {
	for _, f := range files {
		p := filepath.Join(root, f.Path)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(p, f.Body, 0o666); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkCold(b *testing.B, write func(root string, files []File)) {
	files := manyFiles()
	for b.Loop() {
		b.StopTimer()
		root := b.TempDir()
		b.StartTimer()
		write(root, files)
		b.StopTimer()
		if err := os.RemoveAll(root); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkColdPlainWrite(b *testing.B) {
	benchmarkCold(b, func(root string, files []File) { plainWrite(b, root, files) })
}

func BenchmarkColdCompareAndApply(b *testing.B) {
	benchmarkCold(b, func(root string, files []File) {
		changes, err := Compare(root, files, options())
		if err != nil || len(changes) != len(files) {
			b.Fatal(len(changes), err)
		}
		if err := Apply(root, changes); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkColdCompareAndApplySync(b *testing.B) {
	benchmarkCold(b, func(root string, files []File) {
		changes, err := Compare(root, files, options())
		if err != nil {
			b.Fatal(err)
		}
		for i := range changes {
			changes[i].Sync = true
		}
		if err := Apply(root, changes); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkUnchangedPlainRead is the lower bound for a comparison: a walk for stale files, and reading every file.
func BenchmarkUnchangedPlainRead(b *testing.B) {
	files, root := manyFiles(), b.TempDir()
	plainWrite(b, root, files)
	for b.Loop() {
		err := filepath.WalkDir(root, func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range files {
			body, err := os.ReadFile(filepath.Join(root, f.Path))
			if err != nil || len(body) != len(f.Body) {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkUnchangedCompare(b *testing.B) {
	files, root := manyFiles(), b.TempDir()
	plainWrite(b, root, files)
	for b.Loop() {
		changes, err := Compare(root, files, options())
		if err != nil || len(changes) != 0 {
			b.Fatal(len(changes), err)
		}
	}
}

func BenchmarkAllChanged(b *testing.B) {
	files, root := manyFiles(), b.TempDir()
	plainWrite(b, root, files)
	for n := 0; b.Loop(); n++ {
		for i := range files {
			files[i].Body = fmt.Appendf(nil, "%s\n# %d\n", mark, n)
		}
		changes, err := Compare(root, files, options())
		if err != nil || len(changes) != len(files) {
			b.Fatal(len(changes), err)
		}
		if err := Apply(root, changes); err != nil {
			b.Fatal(err)
		}
	}
}
