//go:build !race

package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/example"
)

// rankcast runs a command of the page's binary.
func (p *docPage) rankcast(args ...string) (code int, out string) {
	cmd := exec.CommandContext(p.ctx, filepath.Join(p.clone, "bin", "rankcast"), args...)
	cmd.Dir, cmd.Env = p.clone, p.env
	b, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		return -1, err.Error()
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

// checkDocker checks a block that is not run: bash can parse it, and each command builds from the Dockerfile of
// the clone, runs the image, or uses files of the clone and commands of rankcast that exist.
func (p *docPage) checkDocker(b block) {
	parse := exec.CommandContext(p.ctx, "bash", "-n", "-c", b.text)
	if out, err := parse.CombinedOutput(); err != nil {
		p.fail(b, "bash: %s", out)
	}
	_, help := p.rankcast("serve", "--help")
	for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
		line = strings.TrimPrefix(line, "sudo ")
		words := strings.Fields(line)
		fault := ""
		switch {
		case len(words) == 0:
		case strings.HasPrefix(line, "docker build "):
			if _, err := os.Stat(filepath.Join(p.clone, words[len(words)-1], "Dockerfile")); err != nil {
				fault = err.Error()
			}
		case strings.HasPrefix(line, "docker run "):
			var args []string
			if args, fault = dockerRun(words[2:], help); fault == "" {
				// --help prints the help if the flags before it are right.
				if code, out := p.rankcast(append(args, "--help")...); code != 0 {
					fault = out
				}
			}
		case words[0] == "bin/rankcast":
			if code, out := p.rankcast(append(words[1:], "--help")...); code != 0 {
				fault = out
			}
		case elsewhere[words[0]]:
			fault = p.missingFile(words[1:])
		default:
			fault = "the test does not know this command"
		}
		if fault != "" {
			p.fail(b, "%s: %s", strings.TrimSpace(line), fault)
		}
	}
}

// elsewhere are commands that the test does not run. It checks that the files of the clone that they name exist.
var elsewhere = map[string]bool{"docker": true, "kubectl": true, "systemctl": true, "apt-get": true, "install": true,
	"mkdir": true, "make": true, "sha256sum": true, "echo": true, "curl": true, "cp": true, "chown": true, "redis-cli": true}

// clonePath finds a path that is relative, alone or after an equals sign.
var clonePath = regexp.MustCompile(`^(?:--[\w-]+=)?(\w+/[\w./-]+|\w+\.yaml)$`)

// missingFile names the first file of the clone that a command names and that does not exist.
func (p *docPage) missingFile(words []string) (fault string) {
	for i, word := range words {
		found := clonePath.FindStringSubmatch(word)
		// a kind and a name
		if found == nil || slices.Contains([]string{"status", "port-forward", "image", "restart", "undo"}, words[max(i-1, 0)]) {
			continue
		}
		if _, err := os.Stat(filepath.Join(p.clone, found[1])); err != nil {
			return err.Error()
		}
	}
	return ""
}

// checkCaddyfile checks that the directives for an address are those of the compose file, whose test runs them.
func (p *docPage) checkCaddyfile(b block) {
	_, directives, found := strings.Cut(b.text, "{\n\t\t")
	compose := strings.ReplaceAll(string(example.Compose), "\n      ", "\n")
	if !found || !strings.Contains(compose, directives) {
		p.fail(b, "these are not the directives of the compose file:\n%s", directives)
	}
}

// dockerRun checks the variables of a docker run against the help of rankcast serve. It returns the
// arguments that the program gets in the container.
func dockerRun(words []string, help string) (args []string, fault string) {
	image := -1
	for i, word := range words {
		name, _, _ := strings.Cut(word, "=")
		isVariable := i > 0 && words[i-1] == "-e"
		switch {
		case isVariable && !strings.Contains(help, "$"+name+")"):
			return nil, "rankcast serve has no variable " + name
		case !isVariable && i > 0 && words[i-1] != "--name" && (word == "rankcast" || strings.HasPrefix(word, "rankcast:")):
			image = i
		}
		if image >= 0 {
			return words[image+1:], ""
		}
	}
	return nil, "it does not run the image rankcast"
}

// nginxLine is a line of a configuration of nginx: a directive, the head of a block or its end.
var nginxLine = regexp.MustCompile(`^[^{};#]*(?:;|\{[^{};]*;\s*\}|\{|\})$`)

// checkNginx checks a configuration of nginx, which the test does not need to be there: each line
// is whole, and each block that opens closes.
func (p *docPage) checkNginx(b block) {
	depth := 0
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(comment.ReplaceAllString(line, ""))
		if line != "" && !nginxLine.MatchString(line) {
			p.fail(b, "nginx would not read %q", line)
		}
		if depth += strings.Count(line, "{") - strings.Count(line, "}"); depth < 0 {
			p.fail(b, "%q closes no block", line)
		}
	}
	if depth != 0 {
		p.fail(b, "%d blocks are open at the end", depth)
	}
}

// comment is a comment of nginx.
var comment = regexp.MustCompile(`(?m)(^|\s)#.*$`)

func TestDocsDockerRun(t *testing.T) {
	t.Parallel()
	const help = "--redis=URL  Redis or Valkey. ($RANKCAST_REDIS)"
	for command, want := range map[string]string{
		"-d --name rankcast -e RANKCAST_REDIS=redis://a:6379 rankcast":   "[] ",
		"-e RANKCAST_REDIS=redis://a:6379 rankcast:v1 serve --addr :808": "[serve --addr :808] ",
		"-e RANKCAST_RED=redis://a:6379 rankcast":                        "[] rankcast serve has no variable RANKCAST_RED",
		"--name rankcast redis":                                          "[] it does not run the image rankcast",
	} {
		args, fault := dockerRun(strings.Fields(command), help)
		require.Equal(t, want, fmt.Sprint(args, " ", fault), command)
	}
}
