package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the tag or commit of the sources. The Makefile sets it: -ldflags "-X main.version=v1.2.3".
var version string

// programVersion is the version that all of the program shows. A program that make has not built shows
// what Go has stamped: the version of go install, or the tag or commit of go build.
func programVersion() string {
	stamped := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		stamped = info.Main.Version
	}
	return cmp.Or(version, stamped)
}

func versionLine() string {
	return fmt.Sprintf("rankcast %s %s %s/%s", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

type showVersion struct{}

func (showVersion) Run() error {
	_, err := fmt.Println(versionLine())
	return err
}
