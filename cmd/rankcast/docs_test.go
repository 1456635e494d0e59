package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/ranking/definition"
)

// source reads a file of the repository.
func source(t *testing.T, path string) string {
	b, err := os.ReadFile(filepath.Join("../..", path))
	require.NoError(t, err)
	return string(b)
}

// found returns what the first group of a pattern matches in a file: at least so many texts.
func found(t *testing.T, path, pattern string, least int) (all []string) {
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(source(t, path), -1) {
		all = append(all, match[1])
	}
	require.GreaterOrEqual(t, len(all), least, "%s changed its form: %s", path, pattern)
	return all
}

// requireAll requires that a page names each word, as code.
func requireAll(t *testing.T, page string, words []string) {
	t.Helper()
	text := source(t, page)
	for _, word := range words {
		if !strings.Contains(text, "`"+word+"`") {
			t.Errorf("%s does not name `%s`", page, word)
		}
	}
}

// requireRow requires that a table of a page has a row whose first cell names a word, as code, and
// that this row has all of the texts.
func requireRow(t *testing.T, page, word string, texts ...string) {
	t.Helper()
	rows := regexp.MustCompile("(?m)^\\| [^|]*`"+regexp.QuoteMeta(word)+"`.*$").FindAllString(strings.ReplaceAll(source(t, page),
		"--[no-]", "--"), -1)
	if len(rows) == 0 {
		t.Errorf("no table of %s has a row for `%s`", page, word)
		return
	}
	if !slices.ContainsFunc(rows, func(row string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(row, text) })
	}) {
		t.Errorf("%s: no row of `%s` has %s", page, word, strings.Join(texts, " and "))
	}
}

func TestDocsNameEachKeyOfABoard(t *testing.T) {
	t.Parallel()
	for field := range reflect.TypeFor[definition.Board]().Fields() {
		if key, _, _ := strings.Cut(field.Tag.Get("json"), ","); key != "board" {
			requireRow(t, "web/docs/boards.md", key)
		}
	}
}

// commandOf is a command of the program, with its flags.
func commandOf(t *testing.T, name string) *kong.Node {
	parser := kong.Must(&commands{}, kong.Vars{"version": "", "addr": remote.DefaultAddr})
	command := slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == name })
	require.GreaterOrEqual(t, command, 0)
	return parser.Model.Children[command]
}

// Each flag of a command has a row of a table, with its variable and its default.
func TestDocsNameEachFlag(t *testing.T) {
	t.Parallel()
	for command, page := range map[string]string{"serve": "web/docs/operations.md", "ingest": "web/docs/ingest.md"} {
		flags := commandOf(t, command).Flags
		require.Greater(t, len(flags), 8)
		for _, flag := range flags {
			says := slices.Clone(flag.Envs)
			if flag.Default != "" {
				says = append(says, "`"+flag.Default+"`")
			}
			requireRow(t, page, "--"+flag.Name, says...)
		}
	}
}

// The flags of doctor are those of serve, with the same variables and defaults, so that an operator gives it the
// same command line.
func TestFlagsOfDoctorAreThoseOfServe(t *testing.T) {
	t.Parallel()
	flagsOf := func(command string) map[string]*kong.Flag {
		all := make(map[string]*kong.Flag)
		for _, flag := range commandOf(t, command).Flags {
			all[flag.Name] = flag
		}
		return all
	}
	serve, doctor := flagsOf("serve"), flagsOf("doctor")
	require.Len(t, doctor, 5)
	for name, flag := range doctor {
		require.Contains(t, serve, name)
		require.Equal(t, serve[name].Envs, flag.Envs, name)
		require.Equal(t, serve[name].Default, flag.Default, name)
	}
}

func TestDocsNameEachCheckOfDoctor(t *testing.T) {
	t.Parallel()
	checks := found(t, "ranking/doctor/finding.go", `(?m)^\t[A-Z]\w+ += "([a-z ]+)"$`, 12)
	for _, check := range checks {
		requireRow(t, "web/docs/operations.md", check)
	}
}

func TestDocsNameEachProblem(t *testing.T) {
	t.Parallel()
	for _, code := range found(t, "server/status/judge.go", `(?:f\.add\(.*?, |Code: |\{n\.\w+, )"([a-z_]+)"`, 20) {
		requireRow(t, "web/docs/operations.md", code)
	}
}

// The table of dead letters has each code of rankcast ingest itself. The codes that --replay-dead leaves come last.
func TestDocsNameEachCodeOfDeadLetters(t *testing.T) {
	t.Parallel()
	names := found(t, "ranking/ingest/read.go", `(?m)^(?:const |\t)(code[A-Z]\w+) += "[a-z_]+"`, 5)
	codes := found(t, "ranking/ingest/read.go", `(?m)^(?:const |\t)code[A-Z]\w+ += "([a-z_]+)"`, 5)
	rows := found(t, "web/docs/ingest.md", "(?m)^\\| `([a-z_]+)` \\| (?:has|is|was) ", 4)
	require.ElementsMatch(t, codes, rows)
	replay := source(t, "ranking/ingest/replay.go")
	var left []string
	for i, name := range names {
		if strings.Contains(replay, name) {
			left = append(left, codes[i])
		}
	}
	require.Len(t, left, 4, "the page says: the last four")
	require.ElementsMatch(t, left, rows[len(rows)-4:])
}

func TestDocsNameEachFlagOfBench(t *testing.T) {
	t.Parallel()
	bench := commandOf(t, "bench")
	require.Len(t, bench.Children, 8)
	flags := slices.Clone(bench.Flags)
	for _, work := range bench.Children {
		requireRow(t, "web/docs/terminal.md", work.Name)
		require.NotEmpty(t, work.Flags)
		flags = append(flags, work.Flags...)
	}
	for _, flag := range flags {
		var says []string
		if flag.Default != "" {
			says = append(says, "`"+flag.Default+"`")
		}
		requireRow(t, "web/docs/terminal.md", "--"+flag.Name, says...)
	}
}

func TestDocsNameEachCloseCode(t *testing.T) {
	t.Parallel()
	for _, code := range found(t, "server/live/close_codes.go", `\b([14][0-9]{3})\b`, 4) {
		if !regexp.MustCompile(`(?m)^\| .*\b` + code + `\b`).MatchString(source(t, "web/docs/live.md")) {
			t.Errorf("no table of web/docs/live.md has the close code %s", code)
		}
	}
}

func TestDocsNameTheElement(t *testing.T) {
	t.Parallel()
	const page = "web/docs/pages.md"
	for _, attributes := range found(t, "web/kit/rankcast.js", `observedAttributes = \[(.*)\]`, 1) {
		for attribute := range strings.SplitSeq(attributes, ", ") {
			requireRow(t, page, strings.Trim(attribute, "'"))
		}
	}
	const types = "web/kit/rankcast.d.ts"
	for _, event := range found(t, types, `'([a-z-]+)': CustomEvent`, 5) {
		requireRow(t, page, event)
	}
	requireAll(t, page, found(t, types, " \\* - `([a-z]+)`: ", 10)) // states and attributes
}

// The version that make upgrade starts from has its notes.
func TestDocsTellHowToUpdateFromTheVersionBefore(t *testing.T) {
	t.Parallel()
	requireAll(t, "web/docs/changes.md", found(t, "Makefile", `(?m)^PREVIOUS \?= (\S+)$`, 1))
}

func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	const most = 10 << 10
	if size := len(source(t, "README.md")); size > most {
		t.Errorf("README.md has %d bytes, %d more than it may", size, size-most)
	}
}
