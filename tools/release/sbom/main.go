// Command sbom writes the CycloneDX bill of materials of a Go program: the program and
// the modules that the Go command has recorded in it. `make release` runs it for every
// program that it builds.
package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: sbom PROGRAM FILE")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	if len(info.Deps) == 0 {
		return fmt.Errorf("%s records no modules", args[0])
	}
	file, err := os.Create(args[1])
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	return errors.Join(encoder.Encode(billOf(filepath.Base(args[0]), info)), file.Close())
}

// billOf is the bill of a program. It has no serial number and no time, so that two
// builds of one commit have the same.
func billOf(program string, info *buildinfo.BuildInfo) *cyclonedx.BOM {
	main := component(cyclonedx.ComponentTypeApplication, info.Main.Path, info.Main.Version, "")
	main.Name = program
	components := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", info.GoVersion, "")}
	needs := []string{components[0].BOMRef}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cyclonedx.ComponentTypeLibrary, m.Path, m.Version, m.Sum)
		components, needs = append(components, c), append(needs, c.BOMRef)
	}
	bill := cyclonedx.NewBOM()
	bill.Metadata = &cyclonedx.Metadata{Component: &main}
	bill.Components = &components
	bill.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &needs}}
	return bill
}

// component is one module, with the checksum of go.sum as a property: it is the hash of a
// list of files, and not of one file as the hashes of CycloneDX are.
func component(kind cyclonedx.ComponentType, path, version, sum string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cyclonedx.Component{Type: kind, BOMRef: url, PackageURL: url, Name: path, Version: version}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}
