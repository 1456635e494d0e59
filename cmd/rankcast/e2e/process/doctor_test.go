//go:build !race

package process

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/certificate/certificatetest"
)

// doctorWarning is the message of a node about a setting of Redis.
const doctorWarning = "Redis needs another setting; rankcast doctor checks more"

// line returns the first line of a text that contains all words, or "".
func line(text string, words ...string) string {
	for line := range strings.Lines(text) {
		all := true
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			return strings.TrimRight(line, "\n")
		}
	}
	return ""
}

// The command prints a line for each check, what to change, and a sum. Its exit code says whether there is a problem.
func TestDoctor(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	boards := e2etest.Write(t, "boards.yaml", "boards: {laps: {period: day, timezone: Asia/Shanghai}}\n")
	access := e2etest.Write(t, "access.yaml", "anonymous: {scopes: [read], boards: ['*']}\n")
	args := []string{"doctor", "--redis", r.URL(), "--boards", boards, "--access", access}
	got := e2etest.Run(t, "", args...)
	require.Zero(t, got.Code, got.Stdout+got.Stderr)
	require.Empty(t, got.Stderr)
	require.Regexp(t, `(?m)^ok       version         (Redis|Valkey) \d+\.`, got.Stdout)
	require.Contains(t, got.Stdout, "\nok       eviction        noeviction\n")
	require.Contains(t, got.Stdout, "\nok       persistence     append-only file, appendfsync no\n")
	require.Contains(t, got.Stdout, "\nok       rights          Redis takes writes, and its user may do all that a node needs\n")
	require.Contains(t, got.Stdout, "\nok       boards file     "+boards+": 1 board, 0 events; they fit those in Redis\n")
	require.Contains(t, got.Stdout, "\nok       access file     valid\n")
	require.Regexp(t, `\n\d+ checks: .*\n$`, got.Stdout)
	require.Empty(t, r.Admin().Keys(t.Context(), "*").Val(), "the command defines nothing")

	require.NoError(t, r.Admin().ConfigSet(t.Context(), "appendonly", "no").Err())
	got = e2etest.Run(t, "", args...)
	require.Zero(t, got.Code, "a warning is no problem")
	require.Contains(t, got.Stdout,
		"\nwarning  persistence     no append-only file: a crash of Redis loses the scores since its last snapshot, or all\n"+
			"                           redis-cli CONFIG SET appendonly yes, and only then in redis.conf: appendonly yes\n")
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	got = e2etest.Run(t, "", args...)
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout,
		"\nproblem  eviction        allkeys-lru: when its memory is full, Redis deletes boards, locks or tickets\n"+
			"                           redis-cli CONFIG SET maxmemory-policy 'noeviction', and in redis.conf: maxmemory-policy noeviction\n")
	require.Regexp(t, `checks: 1 problem, \d warnings?\n$`, got.Stdout)
	require.Equal(t, "rankcast: this deployment has 1 problem\n", got.Stderr)
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())

	// A boards file that a node would not start with.
	p := e2etest.Launch(t, "--redis", r.URL(), "--boards", boards)
	p.Update("laps", `{"member":"m","score":1}`)
	got = e2etest.Run(t, "", "doctor", "--redis", r.URL(), "--boards", e2etest.Write(t, "boards.yaml", "boards: {laps: {period: week}}\n"))
	require.Equal(t, 1, got.Code)
	require.Contains(t, line(got.Stdout, "problem", "boards file"), "boards.laps.period: would change the order or the meaning of the data")
	got = e2etest.Run(t, "", "doctor", "--boards", e2etest.Write(t, "boards.yaml", "boards: {laps: {mode: most}}\n"))
	require.Equal(t, 1, got.Code)
	require.Contains(t, line(got.Stdout, "problem", "boards file"), "boards.laps.mode")
}

// With --data, doctor checks the Redis of the node that runs in this directory. If none runs, doctor says what is
// missing.
func TestDoctorOfData(t *testing.T) {
	t.Parallel()
	dir := e2etest.DataDir(t)
	got := e2etest.Run(t, "", "doctor", "--data", dir)
	got.Succeeds(t, "unknown  redis       no Redis runs in "+dir+"\n                       start the node with --data "+dir)
	require.NoDirExists(t, dir)
	p := e2etest.Launch(t, "--data", dir, "--fsync", "always")
	got = e2etest.Run(t, "", "doctor", "--data", dir)
	got.Succeeds(t, "\nok       persistence     append-only file, appendfsync always\n")
	require.NotContains(t, got.Stdout, "problem")
	p.Update("stars", `{"member":"ana","score":1}`)

	got = e2etest.RunWith(t, []string{"PATH=" + t.TempDir()}, "", "doctor", "--data", e2etest.DataDir(t))
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout,
		"problem  redis       no redis-server is in PATH: install one (Debian, Ubuntu: apt-get install redis-server; ")
	got = e2etest.Run(t, "", "doctor", "--data", dir, "--redis", "redis://127.0.0.1:1")
	got.Fails(t, 80, "--data and --redis cannot be used together: with --data the node runs a Redis of its own")
}

// doctor reads the same variables as serve. It works without Redis, never prints a password, and says what is wrong
// with a flag.
func TestDoctorFlags(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	got := e2etest.Run(t, "", "doctor")
	require.Zero(t, got.Code, got.Stderr)
	require.Contains(t, got.Stdout,
		"no --redis and no --data: the embedded store holds all scores in memory and loses them when the node stops\n")
	require.NotEmpty(t, line(got.Stdout, "open files"))
	got = e2etest.RunWith(t, []string{"RANKCAST_REDIS=" + r.AppURL("~game:*", "&game:*", "+@all"), "RANKCAST_PREFIX=game",
		"RANKCAST_ACCESS_TEXT=keys: []"}, "", "doctor")
	require.Zero(t, got.Code, got.Stdout)
	require.NotEmpty(t, line(got.Stdout, "ok", "rights"))
	require.NotEmpty(t, line(got.Stdout, "ok", "access file"))
	require.Contains(t, got.Stderr, "it lets nobody do anything")
	got = e2etest.Run(t, "", "doctor", "--redis", strings.Replace(r.URL(), "://", "://app:guess@", 1))
	require.Equal(t, 1, got.Code)
	require.NotContains(t, got.Stdout+got.Stderr, "guess")
	require.Contains(t, line(got.Stdout, "problem", "redis"), "WRONGPASS")
	e2etest.Run(t, "", "doctor", "--prefix", "a:b").Fails(t, 80, "--prefix must have no braces")
	for url, says := range map[string]string{
		"mongodb://x":                        `scheme "mongodb"`,
		"127.0.0.1:7401":                     "has no scheme; want redis://127.0.0.1:7401",
		"redis-sentinel://127.0.0.1:1":       "has no name of a master",
		"rediss://127.0.0.1:1?ca=/none":      "/none: no such file",
		"redis://app:guess@127.0.0.1:1/main": "has no valid number of a database",
	} {
		got = e2etest.Run(t, "", "doctor", "--redis", url)
		got.Fails(t, 80, "--redis: redis URL: ", says)
		require.NotContains(t, got.Stderr, "guess")
		require.NotContains(t, got.Stdout, "checks")
	}
	require.Contains(t, e2etest.Run(t, "", "doctor", "--help").Stdout, "It exits with 0 if there is no problem")
}

// A URL of the wrong kind is one problem, with the words of the answer. The checks of Redis have nothing to say.
func TestDoctorOfWrongURL(t *testing.T) {
	t.Parallel()
	plain := strings.TrimPrefix(redistest.StartProxy(t, redistest.Start(t).URL()).URL(), "redis://")
	c := certificatetest.Valid(t)
	port := redistest.FreePort(t)
	tlsRedis(t, c, port, "")
	encrypted := fmt.Sprintf("127.0.0.1:%d", port)
	for url, says := range map[string]string{
		"redis-sentinel://" + plain + "/mymaster": "ERR unknown command",
		"redis-cluster://" + plain:                "ERR This instance has cluster support disabled",
		"rediss://" + plain:                       "context deadline exceeded",
		"redis://" + encrypted:                    "store unavailable: check Redis: ", // EOF, or a reset
		"rediss://" + encrypted:                   "tls: failed to verify certificate",
	} {
		got := e2etest.RunUntil(t, says, "doctor", "--redis", url)
		require.Equal(t, 1, got.Code, url)
		require.NotEmpty(t, line(got.Stdout, "problem", "redis", says), got.Stdout)
		require.Contains(t, got.Stdout, "correct --redis: its scheme, its host, its user or the name of its master")
		require.Contains(t, got.Stdout, "\n2 checks: 1 problem", "only the machine is checked beside it: "+got.Stdout)
	}
}

// A node warns of each setting that loses scores, once, and serves all the same. It has nothing to say about a Redis
// that is as it should be, or about the embedded store.
func TestServeWarnsOfSettings(t *testing.T) {
	t.Parallel()
	require.NotContains(t, e2etest.Launch(t).Output(), doctorWarning)
	require.NotContains(t, e2etest.Launch(t, "--redis", redistest.Start(t).URL()).Output(), doctorWarning)

	r := redistest.Start(t, "--maxmemory-policy", "allkeys-lru", "--appendonly", "no", "--client-output-buffer-limit", "pubsub 32kb 8kb 60")
	p := e2etest.Launch(t, "--redis", r.URL())
	p.Ready()
	log := p.Output()
	require.Equal(t, 3, strings.Count(log, doctorWarning), log)
	require.Contains(t, line(log, doctorWarning, "check=eviction"), `level=WARN`)
	require.Contains(t, line(log, doctorWarning, "check=eviction"),
		`found="allkeys-lru: when its memory is full, Redis deletes boards, locks or tickets" fix="redis-cli CONFIG SET `+
			`maxmemory-policy 'noeviction'`)
	require.NotEmpty(t, line(log, doctorWarning, "check=persistence", "fix="))
	require.NotEmpty(t, line(log, doctorWarning, `check="output buffers"`, "fix="))
	p.Update("stars", `{"member":"m","score":1}`)
}

// A node that starts without Redis checks it when it first answers, and once.
func TestServeWarnsWhenRedisFirstAnswers(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	r.Kill()
	p := e2etest.Launch(t, "--redis", r.URL())
	require.NotContains(t, p.Output(), doctorWarning)
	r.Start()
	p.Ready()
	warned := func() error {
		if n := strings.Count(p.Output(), doctorWarning); n != 1 {
			return fmt.Errorf("%d warnings", n)
		}
		return nil
	}
	redistest.Eventually(t, "the warning", warned)
	r.Kill()
	p.Refuses("")
	r.Start()
	p.Ready()
	redistest.Eventually(t, "the end of the outage in the log", func() error {
		if strings.Count(p.Output(), "Redis answers; this node is ready") < 2 {
			return errors.New(p.Output())
		}
		return nil
	})
	require.NoError(t, warned())
}

// A Redis that is too old for the scripts is refused in words, at the start of a node and when Redis answers later.
func TestServeRefusesAnOldRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	info, err := r.Admin().Info(t.Context(), "server").Result()
	require.NoError(t, err)
	version := strings.TrimSpace(strings.TrimPrefix(line(info, "redis_version:"), "redis_version:"))
	proxy := redistest.StartProxy(t, r.URL())
	old := "6.2." + strings.Repeat("9", len(version)-len("6.2."))
	proxy.Rewrite("redis_version:"+version, "redis_version:"+old)
	const says = " is too old: Rankcast needs Redis 7.0 or later, or Valkey"

	got := e2etest.Run(t, "", "serve", "--addr", "127.0.0.1:0", "--redis", proxy.URL())
	got.Fails(t, 1, "rankcast: --redis: Redis "+old+says)
	require.NotContains(t, got.Stderr, "serving")
	require.Empty(t, r.Admin().Keys(t.Context(), "*").Val(), "the node has defined nothing")
	got = e2etest.Run(t, "", "doctor", "--redis", proxy.URL())
	require.Equal(t, 1, got.Code)
	require.Contains(t, line(got.Stdout, "problem", "version"), old+says)

	proxy.Redirect("")
	p := e2etest.Launch(t, "--redis", proxy.URL())
	p.Answers(200, "GET", "/healthz", "")
	proxy.Redirect(r.URL())
	p.Logs(says)
	require.Equal(t, 1, p.Ended())
}
