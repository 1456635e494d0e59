package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/ranking/definition"
	"rankcast/ranking/diagnosis"
	"rankcast/server/access"
)

// A finding stands in columns, and what to change below it. The last line counts.
func TestReport(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, report(&out, []diagnosis.Finding{
		{Check: "version", Found: "Redis 7.0.15"},
		{Check: "eviction", Server: "a:1", Level: diagnosis.Problem, Found: "allkeys-lru", Fix: "set noeviction"},
		{Check: "boards file", Level: diagnosis.Problem, Found: "one\ntwo\x1b", Fix: "correct it"},
		{Check: "clock", Level: diagnosis.Unknown, Found: "no TIME", Fix: "ask"},
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
	require.NoError(t, report(&out, []diagnosis.Finding{{Check: "a", Found: "b"}}))
	require.Equal(t, "ok       a  b\n1 check: all ok\n", out.String())
}

func TestOpenFiles(t *testing.T) {
	t.Parallel()
	f := judgeFiles(access.Capacity{OpenFiles: 1024, Sockets: 918, Connections: 969})
	require.Equal(t, diagnosis.Warning, f.Level)
	require.Contains(t, f.Found, "1,024 for this user: a node takes 918 sockets, and 969 connections in all")
	require.Contains(t, f.Fix, "LimitNOFILE=65536")
	require.Equal(t, diagnosis.OK, judgeFiles(access.Capacity{OpenFiles: 65536, Sockets: 58977, Connections: 62244}).Level)
	require.Equal(t, "no limit", judgeFiles(access.Capacity{OpenFiles: access.Unlimited, Sockets: access.Unlimited, Connections: access.Unlimited}).Found)
}

// zoneData makes a folder with data of some zones.
func zoneData(t *testing.T, zones ...string) string {
	folder := t.TempDir()
	for _, zone := range zones {
		path := filepath.Join(folder, zone)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	return folder
}

// The finding says where a node has its zones from: all nodes need the same data.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	full := zoneData(t, "UTC", "Asia/Shanghai")
	require.NoError(t, os.WriteFile(filepath.Join(full, "tzdata.zi"), []byte("# version 2025b\nR d 1916 o\n"), 0o644))
	used := []string{"UTC", "Asia/Shanghai", "UTC"}
	f := judgeZones([]string{"/nowhere", full}, used)
	require.Equal(t, diagnosis.Finding{Check: "time zones", Found: "data of " + full + ", version 2025b; used: Asia/Shanghai, UTC"}, f)

	f = judgeZones([]string{"/nowhere"}, used)
	require.Equal(t, diagnosis.OK, f.Level)
	require.Contains(t, f.Found, "data of this program (go")

	part := zoneData(t, "UTC")
	f = judgeZones([]string{part}, used)
	require.Equal(t, diagnosis.Warning, f.Level)
	require.Contains(t, f.Found, "for Asia/Shanghai, which the system lacks")

	f = judgeZones([]string{full}, []string{"Mars/Olympus"})
	require.Equal(t, diagnosis.Problem, f.Level)
	require.Contains(t, f.Found, "Mars/Olympus")
	require.Equal(t, []string{"Asia/Shanghai"}, zonesOf([]definition.Board{{Name: "a"}, {Name: "b", Timezone: "Asia/Shanghai"}}))
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

// An access file that another user may change gives that user all rights, and so does a secret that another user
// may read.
func TestAccessFile(t *testing.T) {
	t.Parallel()
	const reads = "anonymous: {scopes: [read], boards: ['*']}\n"
	check := func(path string) []diagnosis.Finding { return accessFile(&accessfile.Flag{File: path}) }
	path := write(t, "access.yaml", reads, 0o644)
	require.Equal(t, []diagnosis.Finding{{Check: "access file", Found: path + " is valid"}}, check(path))

	path = write(t, "access.yaml", reads, 0o664)
	all := check(path)
	require.Len(t, all, 2)
	require.Equal(t, diagnosis.Finding{Check: "access file", Level: diagnosis.Warning, Found: "other users of this machine may change " + path + " (mode 0664)", Fix: "chmod u=rw,go=r " + path}, all[1])

	secret := write(t, "token.secret", strings.Repeat("s", 64), 0o644)
	all = check(write(t, "access.yaml", reads+"tokens: {secret_file: "+secret+"}\n", 0o600))
	require.Len(t, all, 2)
	require.Equal(t, "other users of this machine may read "+secret+" (mode 0644)", all[1].Found)
	require.NoError(t, os.Chmod(secret, 0o640))
	require.Len(t, check(write(t, "access.yaml", reads+"tokens: {secret_file: "+secret+"}\n", 0o600)), 1)

	all = check(write(t, "access.yaml", "keys: []\n", 0o600))
	require.Equal(t, diagnosis.Warning, all[0].Level)
	require.Contains(t, all[0].Found, "it lets nobody do anything")
	all = check(write(t, "access.yaml", "key: []\n", 0o600))
	require.Equal(t, diagnosis.Problem, all[0].Level)
	require.Contains(t, all[0].Found, "access.yaml: key: ")
}
