//go:build !race

package process

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// imageCommand and imagePort find the command and the port of the image in the Dockerfile.
var (
	imageCommand = regexp.MustCompile(`ENTRYPOINT \["/(rankcast)"\]\nCMD \["(serve)"\]`)
	imagePort    = regexp.MustCompile(`ENV RANKCAST_ADDR=:(\d+)\n`)
)

// ofImage returns the command and the port that the Dockerfile gives the image.
func ofImage(t *testing.T) (command []string, port string) {
	file, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "Dockerfile"))
	require.NoError(t, err)
	found := imageCommand.FindSubmatch(file)
	require.NotNil(t, found)
	return []string{string(found[1]), string(found[2])}, string(imagePort.FindSubmatch(file)[1])
}

// composeProject reads the compose file by the loader of Docker Compose, which refuses what is not in its schema.
func composeProject(t *testing.T) *types.Project {
	file := e2etest.Run(t, "", "example", "compose")
	require.Zero(t, file.Code, file.Stderr)
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: t.TempDir(), ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(file.Stdout)}},
	})
	require.NoError(t, err)
	return project
}

// composeExample returns the processes of the compose file.
func composeExample(t *testing.T) deployment {
	project := composeProject(t)
	one, two, redis := project.Services["node-1"], project.Services["node-2"], project.Services["redis"]
	require.Equal(t, one.Environment, two.Environment)
	require.Empty(t, one.Ports, "Caddy alone is public")
	require.Empty(t, redis.Ports)
	require.True(t, project.Networks["back"].Internal)
	require.Equal(t, "scores", redis.Volumes[0].Source, "a crash of the machine must not take the scores along")

	command, port := ofImage(t)
	caddyfile := project.Configs["caddyfile"].Content
	require.Contains(t, caddyfile, "http://localhost {\n")
	require.Contains(t, caddyfile, "reverse_proxy node-1:"+port+" node-2:"+port+" {")
	d := deployment{redis: redis.Command, data: redis.Volumes[0].Target, node: command, etc: one.Volumes[0].Target,
		ready: regexp.MustCompile(`health_uri (\S+)`).FindStringSubmatch(caddyfile)[1], grace: time.Duration(*one.StopGracePeriod)}
	for name, value := range one.Environment {
		d.env = append(d.env, name+"="+*value)
	}
	return d
}
