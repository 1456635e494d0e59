//go:build dist

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packed is a file of an archive.
type packed struct {
	content []byte
	mode    fs.FileMode
}

// TestDist checks the archives that make dist has built in the folder DIST. Each has a program for its system,
// which needs no library beside what the system always has.
func TestDist(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, machine := range []string{"amd64", "arm64"} {
			t.Run(system+"_"+machine, func(t *testing.T) {
				name := "rankcast_" + os.Getenv("VERSION") + "_" + system + "_" + machine
				at := filepath.Join(os.Getenv("DIST"), name)
				binary, files := "rankcast", map[string]packed(nil)
				if system == "windows" {
					binary, files = "rankcast.exe", unzip(t, at+".zip")
				} else {
					files = untar(t, at+".tar.gz")
				}
				require.Len(t, files, 3)
				for _, text := range []string{"LICENSE", "README.md"} {
					want, err := os.ReadFile("../../" + text)
					require.NoError(t, err)
					require.Equal(t, want, files[name+"/"+text].content)
				}
				program := files[name+"/"+binary]
				require.Equal(t, fs.FileMode(0o755), program.mode.Perm())
				info, err := buildinfo.Read(bytes.NewReader(program.content))
				require.NoError(t, err)
				set := make(map[string]string)
				for _, s := range info.Settings {
					set[s.Key] = s.Value
				}
				require.Equal(t, []string{system, machine, "0", "true"}, []string{set["GOOS"], set["GOARCH"], set["CGO_ENABLED"], set["-trimpath"]})
				checkFormat(t, system, machine, program.content)
				if system == runtime.GOOS && machine == runtime.GOARCH {
					file := filepath.Join(t.TempDir(), binary)
					require.NoError(t, os.WriteFile(file, program.content, 0o700))
					out, err := exec.Command(file, "version").Output()
					require.NoError(t, err)
					require.Equal(t, os.Getenv("VERSION"), strings.Fields(string(out))[1])
				}
			})
		}
	}
}

// checkFormat checks that a program is of the format and the machine of its system.
func checkFormat(t *testing.T, system, machine string, program []byte) {
	r := bytes.NewReader(program)
	switch system {
	case "linux":
		file, err := elf.NewFile(r)
		require.NoError(t, err)
		require.Equal(t, map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[machine], file.Machine)
		for _, p := range file.Progs {
			require.NotEqual(t, elf.PT_INTERP, p.Type, "it is static")
		}
	case "darwin":
		file, err := macho.NewFile(r)
		require.NoError(t, err)
		require.Equal(t, map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[machine], file.Cpu)
		libraries, err := file.ImportedLibraries()
		require.NoError(t, err)
		for _, library := range libraries {
			require.True(t, strings.HasPrefix(library, "/usr/lib/") || strings.HasPrefix(library, "/System/"), library)
		}
	case "windows":
		file, err := pe.NewFile(r)
		require.NoError(t, err)
		require.EqualValues(t, map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[machine],
			file.Machine)
		libraries, err := file.ImportedLibraries()
		require.NoError(t, err)
		for _, library := range libraries {
			require.Equal(t, "kernel32.dll", library)
		}
	}
}

func untar(t *testing.T, file string) map[string]packed {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	require.NoError(t, err)
	all := make(map[string]packed)
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		if header.Typeflag == tar.TypeReg {
			all[path.Clean(header.Name)] = packed{content, header.FileInfo().Mode()}
		}
	}
}

func unzip(t *testing.T, file string) map[string]packed {
	archive, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer archive.Close()
	all := make(map[string]packed)
	for _, entry := range archive.File {
		content, err := fs.ReadFile(archive, entry.Name)
		require.NoError(t, err)
		all[entry.Name] = packed{content, entry.Mode()}
	}
	return all
}
