//go:build !race

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// checkDocker checks a block that needs Docker or a cloud service: bash can parse it, the files
// that it names exist, and each command of rankcast in it has flags that exist, with values of
// their types.
func (p *docPage) checkDocker(b block) {
	parse := exec.CommandContext(p.ctx, "bash", "-n", "-c", b.text)
	if out, err := parse.CombinedOutput(); err != nil {
		p.fail(b, "bash: %s", out)
	}
	for _, command := range commandsOf(b.text) {
		mounted := make(map[string]string) // by the path in the container
		for i, word := range command {
			inContainer := ""
			if i > 0 && (command[i-1] == "-v" || command[i-1] == "--volume") {
				word, inContainer, _ = strings.Cut(word, ":")
				inContainer, _, _ = strings.Cut(inContainer, ":")
			}
			file, is := namesFile(word)
			if !is {
				continue
			}
			path := filepath.Join(p.clone, file)
			if inContainer != "" {
				mounted[inContainer] = path
			}
			if _, err := os.Stat(path); err != nil {
				p.fail(b, "it names a file that the page has not: %v", err)
			}
		}
		args, is := rankcastArgs(command)
		if !is {
			continue
		}
		for i, arg := range args {
			if path, is := mounted[arg]; is {
				args[i] = path
			}
		}
		// --help prints the help if the flags before it are right.
		if code, out := p.rankcast(append(args, "--help")...); code != 0 {
			p.fail(b, "rankcast %s: %s", strings.Join(args, " "), out)
		}
	}
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

var (
	comment    = regexp.MustCompile(`(?m)(^|\s)#.*$`)
	separator  = regexp.MustCompile(`\n|;|&&|\|\|?`)
	shellWord  = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)
	localFile  = regexp.MustCompile(`^(?:\$PWD/|\$\(pwd\)/|\./)?([\w-][\w./-]*\.(?:ya?ml|csv|json|conf|html|env|service))$|^(Dockerfile)$`)
	quotes     = strings.NewReplacer(`"`, "", `'`, "")
	subcommand = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// commandsOf splits a text into commands, and those into words. It knows quotes, comments and
// continued lines, which is all that such examples need.
func commandsOf(text string) (commands [][]string) {
	text = comment.ReplaceAllString(strings.ReplaceAll(text, "\\\n", " "), "")
	for _, command := range separator.Split(text, -1) {
		var words []string
		for _, word := range shellWord.FindAllString(command, -1) {
			words = append(words, quotes.Replace(word))
		}
		if len(words) > 0 {
			commands = append(commands, words)
		}
	}
	return commands
}

// namesFile reports whether a word is a file of the reader's, and which.
func namesFile(word string) (file string, is bool) {
	found := localFile.FindStringSubmatch(word)
	if found == nil {
		return "", false
	}
	return found[1] + found[2], true
}

// rankcastArgs finds the arguments of rankcast in a command: after the program, or after an image
// of its name.
func rankcastArgs(command []string) (args []string, is bool) {
	for i, word := range command {
		name, _, _ := strings.Cut(path.Base(word), ":")
		if name == "rankcast" && i+1 < len(command) && subcommand.MatchString(command[i+1]) && !strings.HasPrefix(word, "-") &&
			(i == 0 || command[i-1] != "--name") {
			return append([]string(nil), command[i+1:]...), true
		}
	}
	return nil, false
}

func TestDocsCommands(t *testing.T) {
	t.Parallel()
	commands := commandsOf("docker build -t rankcast . # the image\ndocker run --name rankcast -v \"$PWD/boards.yaml:/boards.yaml\" \\\n  rankcast:v1 serve --origins 'https://a b' && ls\n")
	require.Equal(t, [][]string{
		{"docker", "build", "-t", "rankcast", "."},
		{"docker", "run", "--name", "rankcast", "-v", "$PWD/boards.yaml:/boards.yaml", "rankcast:v1", "serve", "--origins", "https://a b"},
		{"ls"},
	}, commands)
	for i, want := range []string{"", "[serve --origins https://a b]", ""} {
		args, is := rankcastArgs(commands[i])
		require.Equal(t, want != "", is)
		if is {
			require.Equal(t, want, fmt.Sprint(args))
		}
	}
	for word, want := range map[string]string{"$PWD/boards.yaml": "boards.yaml", "./a/b.csv": "a/b.csv", "Dockerfile": "Dockerfile", "/etc/boards.yaml": "", "https://example.com/a.yaml": "", "serve": ""} {
		file, is := namesFile(word)
		require.Equal(t, want, file, word)
		require.Equal(t, want != "", is, word)
	}
}
