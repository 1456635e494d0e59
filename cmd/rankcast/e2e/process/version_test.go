//go:build !race

package process

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/servertest"
)

// make build gives the program its version, and links nothing to it that a machine may lack.
func TestBuildIsStaticAndKnowsItsVersion(t *testing.T) {
	t.Parallel()
	require.Equal(t, "rankcast "+e2etest.BuiltVersion+" "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\n",
		e2etest.Run(t, "", "version").Stdout)
	file, err := elf.Open(e2etest.Binary)
	require.NoError(t, err)
	defer file.Close()
	for _, p := range file.Progs {
		require.NotEqual(t, elf.PT_INTERP, p.Type)
	}
}

// All places that show the version show the same one.
func TestVersionIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	version := strings.Fields(e2etest.Run(t, "", "version").Stdout)[1]
	require.Equal(t, e2etest.Run(t, "", "version").Stdout, e2etest.Run(t, "", "--version").Stdout)
	p := e2etest.Launch(t)
	require.Contains(t, p.Output(), " version="+version+"\n")
	metrics := servertest.Request(t, "GET", "http://"+p.Addr+"/metrics", "").Body
	require.Contains(t, metrics, `rankcast_build_info{goversion="`+runtime.Version()+`",version="`+version+`"} 1`)
}

// The version of make build is the tag, or else tells the commits since, and changes that are in no commit.
func TestVersionIsThatOfTheTagOrCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makefile, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "Makefile"))
	require.NoError(t, err)
	file := filepath.Join(dir, "Makefile")
	require.NoError(t, os.WriteFile(file, makefile, 0o600))
	env, err := e2etest.CleanEnvironment(dir)
	require.NoError(t, err)
	do := func(args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
	commit := func() {
		do("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--all", "--allow-empty", "-m", "m")
	}
	says := func(pattern string) {
		require.Regexp(t, `-X main\.version=`+pattern+`"`, do("make", "--dry-run", "build"))
	}

	says("devel")
	do("git", "init", "--quiet")
	do("git", "add", "Makefile")
	commit()
	says("[0-9a-f]{7,}")
	do("git", "tag", "v1.2.3")
	says(`v1\.2\.3`)
	commit()
	says(`v1\.2\.3-1-g[0-9a-f]{7,}`)
	require.NoError(t, os.WriteFile(file, append(makefile, '\n'), 0o600))
	says(`v1\.2\.3-1-g[0-9a-f]{7,}-dirty`)
}
