package access

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/internal/filewatch"
)

var testHash = HashKey("rck_test")

// exampleFile has each field of an access file.
var exampleFile = `
keys:
  - {name: game-server, hash: "` + testHash + `", scopes: [write], boards: [stars, "fans:*"], events: [gift], kinds: [user], rate: 5000/s}
  - {name: ops, hash: "` + HashKey("rck_ops") + `", scopes: [admin]}
  - {name: prometheus, hash: "` + HashKey("rck_prometheus") + `", scopes: [metrics]}
anonymous: {scopes: [read], boards: [stars, "fans*:*"], rate: 20/s}
tokens: {jwks: "https://keys.example/set", audience: rankcast, issuer: "https://keys.example", rate: 30/m}
`

func TestAccessFile(t *testing.T) {
	t.Parallel()
	p, err := parsePolicy([]byte(exampleFile))
	require.NoError(t, err)
	require.Len(t, p.keys, 3)
	server, ops, prometheus := p.keys[0].caller, p.keys[1].caller, p.keys[2].caller
	for _, c := range []struct {
		caller *Caller
		scope  Scope
		of     Resource
		may    bool
	}{
		{server, ScopeWrite, Board("stars"), true},
		{server, ScopeWrite, Board("fans:s17@w20261123"), true},
		{server, ScopeWrite, Board("stars2"), false},
		{server, ScopeWrite, Event("gift"), true},
		{server, ScopeWrite, Event("grant"), false},
		{server, ScopeWrite, Kind("user"), true},
		{server, ScopeWrite, Kind("star"), false},
		{server, ScopeRead, Board("stars"), false},
		{server, ScopeModerate, Board("stars"), false},
		{ops, ScopeModerate, Kind("any"), true},
		{ops, ScopeMetrics, Resource{}, true},
		{ops, ScopeWrite, Board("any"), true},
		{prometheus, ScopeMetrics, Resource{}, true},
		{prometheus, ScopeRead, Board("stars"), false},
		{p.anonymous, ScopeRead, Board("fans2:s17"), true},
		{p.anonymous, ScopeRead, Event("gift"), false},
		{p.anonymous, ScopeWrite, Event("gift"), false},
	} {
		require.Equal(t, c.may, c.caller.May(c.scope, c.of), "%s: %s of the %s", c.caller, c.scope, c.of)
	}
	require.Equal(t, tokenRate{5000, 10 * time.Second}, p.keys[0].rate)
	require.Equal(t, tokenRate{20, 10 * time.Second}, p.anonymousRate.rate)
	require.Equal(t, tokenRate{0.5, time.Minute}, p.tokenRate.rate)
	require.Equal(t, "https://keys.example/set", p.tokens.jwks)

	empty, err := parsePolicy([]byte("keys:"))
	require.NoError(t, err)
	require.Empty(t, empty.keys)
	require.False(t, empty.anonymous.HasSocketRights())
}

// Each error names its field by the path.
func TestAccessFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	key := func(fields string) string {
		return "keys: [{name: a, hash: \"" + testHash + "\", scopes: [read], " + fields + "}]"
	}
	for text, says := range map[string]string{
		"":                              "file: is empty",
		"hello":                         "file: is a string; want an object with keys, anonymous or tokens",
		"{}\n---\n{}":                   "file: has more than one YAML document",
		"key: []":                       "key: ",
		"keys: {}":                      "keys: is an object; want a list of keys",
		"keys: [a]":                     "keys[0]: is a string; want an object with name, hash and scopes",
		"keys: [{}]":                    "keys[0].name: is missing",
		"keys: [{name: a}]":             "keys[0].hash: is missing",
		"keys: [{name: ''}]":            "keys[0].name: is empty",
		"keys: [{name: 5}]":             "keys[0].name: is a number; want a string",
		"keys: [{hash: abc}]":           "keys[0].hash: is not the hash of a key",
		"keys: [{name: \"a\\u202eb\"}]": "keys[0].name: has the character U+202E",
		"keys: [{hash: \"" + testHash[:70] + "\"}]":     "keys[0].hash: is not the hash of a key",
		"keys: [{name: a, hash: \"" + testHash + "\"}]": "keys[0].scopes: is missing",
		"keys: [{name: a, name: b}]":                    "keys[0].name",
		"keys: [{name: a, hash: \"" + testHash +
			"\", scopes: []}]": "keys[0].scopes: is a list; want a list of scopes, such as [read, write]",
		"keys: [{name: a, hash: \"" + testHash +
			"\", scopes: [read, all]}]": "keys[0].scopes[1]: is not a scope; want read, write, moderate, metrics, admin",
		"keys: [{name: a, hash: \"" + testHash + "\", scopes: read}]":                 "keys[0].scopes: is a string; want a list of scopes",
		"keys: [{name: a, hash: \"" + testHash + "\", scopes: [admin], boards: [a]}]": "keys[0].boards: has no effect beside the scope admin",
		key("board: [stars]"):                               "keys[0].board: ",
		key("boards: stars"):                                "keys[0].boards: is a string; want a list of patterns",
		key("boards: [a, \"\"]"):                            "keys[0].boards[1]: is empty",
		key("boards: [a@day]"):                              "keys[0].boards[0]: has a period",
		key("events: [5]"):                                  "keys[0].events[0]: is a number; want a string",
		key("kinds: [\"a\\x01\"]"):                          "keys[0].kinds[0]: has the control character U+0001",
		key("boards: [" + strings.Repeat("a, ", 101) + "]"): "keys[0].boards: has 101 patterns; want at most 100",
		key("boards: [" + strings.Repeat("a", 257) + "]"):   "keys[0].boards[0]: has 257 bytes",
		key("rate: 20"): "keys[0].rate: is a number; want a rate, such as 20/s or 30/m, " +
			"of more than 0 and at most 1000000/s",
		key("rate: fast"): `keys[0].rate: is "fast"; want a rate`,
		key("rate: 0/s"): `keys[0].rate: is "0/s"; want a rate, ` +
			`such as 20/s or 30/m, of more than 0`,
		key("rate: 1000001/s"): `keys[0].rate: is "1000001/s"; want a ` +
			`rate, such as 20/s or 30/m, of more than 0 and at most 1000000/s`,
		key("rate: 10000000000/s"): `keys[0].rate: is "10000000000/s"; want a ` +
			`rate, such as 20/s or 30/m, of more than 0 and at most 1000000/s`,
		key("rate: 20/h"): `keys[0].rate: is "20/h"`,
		"keys: [{name: a, hash: \"" + testHash + "\", scopes: [read]}, {name: b, hash: \"" + testHash +
			"\", scopes: [read]}]": "keys[1].hash: is the same as in keys[0]",
		"keys: [{name: a, hash: \"" + testHash + "\", scopes: [read]}, {name: a, hash: \"" + HashKey("b") +
			"\", scopes: [read]}]": `keys[1].name: is "a", as in keys[0]`,
		"keys: [" + strings.Repeat("{}, ", 1001) + "]": "keys: has 1001 keys; want at most 1000",
		"anonymous: yes":                        "anonymous: is ",
		"anonymous: {}":                         "anonymous.scopes: is missing",
		"anonymous: {scopes: [read, admin]}":    "anonymous.scopes: has admin, which needs a key",
		"anonymous: {scopes: [moderate]}":       "anonymous.scopes: has moderate, which needs a key",
		"anonymous: {name: a}":                  "anonymous.name: ",
		"tokens: []":                            "tokens: is a list; want an object",
		"tokens: {}":                            "tokens: has 0 of secret_file, key_file and jwks; want one",
		"tokens: {secret_file: a, key_file: b}": "tokens: has 2 of secret_file",
		"tokens: {secret: a}":                   "tokens.secret: ",
		"tokens: {jwks: 'http://a'}":            "tokens.jwks: want an https URL",
		"tokens: {jwks: 'https://'}":            "tokens.jwks: want an https URL",
		"tokens: {jwks: 'https://u:p@a'}":       "tokens.jwks: has a user name",
		"tokens: {jwks: 'https://a'}":           "tokens.audience: is missing",
		"tokens: {secret_file: a, rate: 0/m}":   `tokens.rate: is "0/m"; want a rate`,
		"tokens: {secret_file: ''}":             "tokens.secret_file: is empty",
	} {
		_, err := parsePolicy([]byte(text))
		require.ErrorContains(t, err, says, "%s", text)
	}
	_, err := parsePolicy([]byte("keys: [{name: a}, {hash: b}]\ntokens: {secret: a}"))
	for _, says := range []string{"keys[0].hash: ", "keys[1].hash: ", "tokens.secret: "} {
		require.ErrorContains(t, err, says, "an error names all that is wrong")
	}
}

func FuzzAccessFile(f *testing.F) {
	f.Add(exampleFile)
	f.Add("keys: [{name: a, hash: x, scopes: [admin], rate: 1/m}]\nanonymous: {scopes: [write], events: ['*']}")
	f.Add("tokens: {secret_file: a, rate: 7/m}")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePolicy([]byte(text))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		again, err := parsePolicy([]byte(writePolicy(t, p)))
		require.NoError(t, err)
		require.Equal(t, writePolicy(t, p), writePolicy(t, again))
	})
}

// writePolicy writes an access file of the keys of a policy.
func writePolicy(t *testing.T, p *policy) string {
	var b strings.Builder
	b.WriteString("keys:\n")
	for _, k := range p.keys {
		rate := ""
		if k.rate.saved == time.Minute {
			rate = fmt.Sprintf("%.0f/m", k.rate.perSecond*60)
		} else if k.rate.perSecond > 0 {
			rate = fmt.Sprintf("%.0f/s", k.rate.perSecond)
		}
		own := k.caller.own
		line, err := CheckKeyLine(k.name, fmt.Sprintf("sha256:%x", k.hash), strings.Split(own.scopes.String(), ", "), own.boards,
			own.events, own.kinds, rate)
		require.NoError(t, err)
		b.WriteString("  - " + line + "\n")
	}
	return b.String()
}

// The line of a key is one line, and says what was asked for, whatever the flags contain.
func TestKeyLine(t *testing.T) {
	t.Parallel()
	line, err := CheckKeyLine(`o'ps: "1" #`, testHash, []string{"read", "write"}, []string{"fans:*", "a,b]"}, nil, []string{"user"}, "30/m")
	require.NoError(t, err)
	require.NotContains(t, line, "\n")
	p, err := parsePolicy([]byte("keys:\n  - " + line + "\n"))
	require.NoError(t, err)
	require.Equal(t, `o'ps: "1" #`, p.keys[0].name)
	require.Equal(t, patterns{"fans:*", "a,b]"}, p.keys[0].caller.own.boards)
	require.Equal(t, ScopeRead|ScopeWrite, p.keys[0].caller.own.scopes)
	for says, bad := range map[string]func() (string, error){
		"name: ": func() (string, error) { return CheckKeyLine("", testHash, []string{"read"}, nil, nil, nil, "") },
		"scopes[0]: ": func() (string, error) {
			return CheckKeyLine("a", testHash, []string{"admin], x: [y"}, nil, nil, nil, "")
		},
		"boards[0]: ": func() (string, error) {
			return CheckKeyLine("a", testHash, []string{"read"}, []string{"a@b"}, nil, nil, "")
		},
		"rate: ":   func() (string, error) { return CheckKeyLine("a", testHash, []string{"read"}, nil, nil, nil, "5/s} #") },
		"scopes: ": func() (string, error) { return CheckKeyLine("a", testHash, nil, nil, nil, nil, "") },
	} {
		_, err := bad()
		require.ErrorContains(t, err, says)
		require.True(t, strings.HasPrefix(err.Error(), says), "%s", err)
	}
}

// The server reads its files each second, so their sizes are bounded.
func TestFilesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("#", 2<<20)
	file := writeFiles(t, map[string]string{"access.yaml": large, "secret.yaml": "tokens: {secret_file: s}",
		"key.yaml": "tokens: {key_file: s}", "s": large})
	for name, says := range map[string]string{
		"access.yaml": "read the access file: " + file,
		"secret.yaml": "tokens.secret_file: " + filepath.Join(filepath.Dir(file), "s"),
		"key.yaml":    "tokens.key_file: " + filepath.Join(filepath.Dir(file), "s"),
	} {
		_, err := NewGuard(GuardConfig{File: filepath.Join(filepath.Dir(file), name)})
		require.EqualError(t, err, says+" has more than 1048576 bytes")
	}
}

// A changed file, and a changed file that it names, come into force within two seconds; one that is not valid
// leaves the last good one in force, until it is corrected.
func TestAccessFileIsReloaded(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		key, other := NewKey(), NewKey()
		line := func(name, key string) string {
			line, err := CheckKeyLine(name, HashKey(key), []string{"write"}, []string{"stars"}, nil, nil, "1/s")
			require.NoError(t, err)
			return "\n  - " + line
		}
		file := writeFiles(t, map[string]string{"access.yaml": "tokens: {secret_file: s}\nkeys:" + line("a", key), "s": testSecret})
		replace := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), name), []byte(text), 0o600))
			time.Sleep(2*filewatch.Interval + 1)
		}
		log := new(redistest.Log)
		g := runGuard(t, GuardConfig{File: file, Log: newTestLog(log)})
		server, viewer := requireValid(t, g, key), requireValid(t, g, signHS256(claims(nil)))
		version := g.Version()
		_, err := g.Take(server, client(1), 10, 0)
		require.NoError(t, err)
		time.Sleep(5 * filewatch.Interval)
		require.Equal(t, version, g.Version(), "nothing has changed")

		replace("s", "another secret of thirty-two bytes")
		require.Greater(t, g.Version(), version)
		_, err = g.Renew(viewer)
		require.ErrorIs(t, err, ErrExpired)
		_, err = g.Authenticate(t.Context(), signHS256(claims(nil)))
		require.ErrorIs(t, err, ErrUnauthorized)

		for _, bad := range []struct{ name, text, says string }{{"access.yaml", "keys: [", "file: "},
			{"access.yaml", "keys: []\nkey: []", "key: "}} {
			good, err := os.ReadFile(file)
			require.NoError(t, err)
			version = g.Version()
			replace(bad.name, bad.text)
			time.Sleep(5 * filewatch.Interval)
			require.ErrorContains(t, g.Status().Fault, bad.says)
			require.Equal(t, version, g.Version())
			require.Same(t, server.key, requireValid(t, g, key).key)
			replace("access.yaml", string(good))
			require.NoError(t, g.Status().Fault)
		}
		// A program that writes the file in place has written its first half at one look.
		good, err := os.ReadFile(file)
		require.NoError(t, err)
		version = g.Version()
		require.NoError(t, os.WriteFile(file, []byte("keys: []\n"), 0o600))
		time.Sleep(filewatch.Interval)
		replace("access.yaml", string(good))
		require.Equal(t, version, g.Version())
		replace("s", "short")
		require.ErrorContains(t, g.Status().Fault, "tokens.secret_file: holds 5 bytes")
		require.Equal(t, 1, strings.Count(log.String(), "holds 5 bytes"))
		replace("s", testSecret)
		require.NoError(t, g.Status().Fault)
		_, err = g.Renew(viewer)
		require.NoError(t, err, "the secret is back, and so is the token")

		server = requireValid(t, g, key)
		for range 20 {
			if _, err = g.Take(server, client(1), 1, 0); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, ErrRateLimited)
		replace("access.yaml", "keys:"+line("renamed", key)+line("b", other))
		server, err = g.Renew(server)
		require.NoError(t, err)
		require.Equal(t, "renamed", server.KeyName())
		_, err = g.Take(server, client(1), 3, 0)
		require.ErrorIs(t, err, ErrRateLimited, "a reload gives no tokens away")
		_, err = g.Authenticate(t.Context(), signHS256(claims(nil)))
		require.ErrorContains(t, err, "the server accepts no tokens")

		replace("access.yaml", "keys:"+line("b", other))
		gone, err := g.Renew(server)
		require.NoError(t, err)
		require.False(t, gone.HasSocketRights(), "its key has left the file")
		_, err = g.Authenticate(t.Context(), key)
		require.ErrorIs(t, err, ErrUnauthorized)
		requireNoSecrets(t, log.String(), key)
		require.False(t, errors.Is(err, ErrExpired))
	})
}

// A key or a secret that stands at a wrong place of an access file shows in no error.
func TestErrorsOfAnAccessFileShowNoSecrets(t *testing.T) {
	t.Parallel()
	secret := NewKey()
	for _, text := range []string{
		"keys:\n  - {name: a, hash: %s, scopes: [admin]\n", "keys:\n  - {name: a, hash: %s, scopes: [admin]}\n",
		"keys:\n  - name: %s\n    scopes: [admin]\n",
		"keys:\n  - {%s: a}\n", "keys:\n  %s\n", "keys: [%s]\n", "%s\n", "%s: 1\n", "keys:\n  - {name: a, rate: %s}\n",
		"keys:\n- {name: a, scopes: [%s]}\n",
		"tokens: {secret: \"%s\"\n", "tokens: {secret: %s}\n", "tokens: {secret_file: %s}\n", "tokens: {secret_file: a, %s}\n",
		"tokens: {jwks: \"%s\"}\n", "tokens:\n\tsecret: %s\n",
		"anonymous: {scopes: [read], boards: [\"%s@1\"]}\n", "keys:\n  - {name: %s, hash: a, hash: b}\n",
	} {
		file := writeFiles(t, map[string]string{"access.yaml": fmt.Sprintf(text, secret)})
		_, err := NewGuard(GuardConfig{File: file, Log: slog.New(slog.DiscardHandler)})
		require.Error(t, err, text)
		for part := range len(secret) - 8 {
			require.NotContains(t, err.Error(), secret[part:part+8], text)
		}
	}
}

// Files that say less, or more, than their author may think are loaded, and the log says so.
func TestWarningsAboutAnAccessFile(t *testing.T) {
	t.Parallel()
	hash := HashKey(NewKey())
	for text, want := range map[string]string{
		"keys:\n": "it lets nobody do anything",
		"keys: [{name: a, hash: \"" + hash +
			"\", scopes: [write, metrics]}]": `the key \"a\" has no grants`,
		"anonymous: {scopes: [read]}":                                            "anonymous has no grants",
		"anonymous: {scopes: [write], events: [gift]}\ntokens: {secret_file: s}": "in the name of any viewer",
		"keys: [{name: a, hash: \"" + hash +
			"\", scopes: [admin]}]\nanonymous: {scopes: [read], kinds: [user]}\ntokens: {secret_file: s}": "",
		"keys: [{name: a, hash: \"" + hash + "\", scopes: [metrics]}, {name: b, hash: \"" + HashKey(NewKey()) +
			"\", scopes: [moderate], events: [gift]}]": "",
	} {
		var log redistest.Log
		_, err := NewGuard(GuardConfig{File: writeFiles(t, map[string]string{"access.yaml": text, "s": testSecret}), Log: newTestLog(&log)})
		require.NoError(t, err, text)
		if want == "" {
			require.Empty(t, log.String())
		} else {
			require.Contains(t, log.String(), want)
		}
	}
}
