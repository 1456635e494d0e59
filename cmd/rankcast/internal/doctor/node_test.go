package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/ranking/doctor"
	"rankcast/server/access"
)

// A finding stands in columns, and what to change below it. The last line counts.
func TestReport(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, report(&out, []doctor.Finding{
		{Check: "version", Found: "Redis 7.0.15"},
		{Check: "eviction", Server: "a:1", Level: doctor.Problem, Found: "allkeys-lru", Fix: "set noeviction"},
		{Check: "boards file", Level: doctor.Problem, Found: "one\ntwo\x1b", Fix: "correct it"},
		{Check: "clock", Level: doctor.Unknown, Found: "no TIME", Fix: "ask"},
	}))
	require.Equal(t, `ok       version      Redis 7.0.15
problem  eviction     a:1: allkeys-lru
                        set noeviction
problem  boards file  one
                      two�
                        correct it
unknown  clock        no TIME
                        ask
4 checks: 2 problems, 1 unknown
`, out.String())
	out.Reset()
	require.NoError(t, report(&out, []doctor.Finding{{Check: "a", Found: "b"}}))
	require.Equal(t, "ok       a  b\n1 check: all ok\n", out.String())
}

func TestOpenFiles(t *testing.T) {
	t.Parallel()
	f := openFiles(access.Capacity{OpenFiles: 1024, Sockets: 918, Connections: 969})
	require.Equal(t, doctor.Warning, f.Level)
	require.Contains(t, f.Found, "1,024 for this user: a node takes 918 sockets, and 969 connections in all")
	require.Contains(t, f.Fix, "LimitNOFILE=65536")
	require.Equal(t, doctor.OK, openFiles(access.Capacity{OpenFiles: 65536, Sockets: 58977, Connections: 62244}).Level)
	require.Equal(t, "no limit", openFiles(access.Capacity{OpenFiles: access.Unlimited, Sockets: access.Unlimited,
		Connections: access.Unlimited}).Found)
}

// A file that a node would not start with is a problem.
func TestFiles(t *testing.T) {
	t.Parallel()
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	valid, invalid := write("access.yaml", "keys: []\n"), write("access.yaml", "key: []\n")
	require.Equal(t, doctor.Finding{Check: "access file", Found: "valid"}, accessFile(&accessfile.Flag{File: valid}))
	f := accessFile(&accessfile.Flag{File: invalid})
	require.Equal(t, doctor.Problem, f.Level)
	require.Contains(t, f.Found, "--access "+invalid)
	boards := write("boards.yaml", "boards: {laps: {}, points: {}}\n")
	require.Equal(t, doctor.Finding{Check: "boards file", Found: boards + ": 2 boards, 0 events"}, boardsFile(t.Context(), boards, nil))
	require.Equal(t, doctor.Problem, boardsFile(t.Context(), write("boards.yaml", "boards: {laps: {mode: most}}\n"), nil).Level)
	require.Equal(t, doctor.Problem, boardsFile(t.Context(), "/none.yaml", nil).Level)
}
