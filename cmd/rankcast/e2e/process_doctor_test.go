//go:build !race

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/certificate/certificatetest"
	"rankcast/server/servertest"
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
	boards := write(t, "boards.yaml", "boards: {laps: {period: day, timezone: Asia/Shanghai}}\n")
	access := write(t, "access.yaml", "anonymous: {scopes: [read], boards: ['*']}\n")
	args := []string{"doctor", "--redis", r.URL(), "--boards", boards, "--access", access}
	got := run(t, "", args...)
	require.Zero(t, got.code, got.stdout+got.stderr)
	require.Empty(t, got.stderr)
	require.Regexp(t, `(?m)^ok       version         (Redis|Valkey) \d+\.`, got.stdout)
	require.Contains(t, got.stdout, "\nok       eviction        noeviction\n")
	require.Contains(t, got.stdout, "\nok       persistence     append-only file, appendfsync no\n")
	require.Contains(t, got.stdout, "\nok       rights          Redis takes writes, and its user may do all that a node needs\n")
	require.Contains(t, got.stdout, "\nok       boards file     "+boards+": 1 board, 0 events; they fit those in Redis\n")
	require.Contains(t, got.stdout, "\nok       access file     valid\n")
	require.Regexp(t, `\n\d+ checks: .*\n$`, got.stdout)
	require.Empty(t, r.Admin().Keys(t.Context(), "*").Val(), "the command defines nothing")

	require.NoError(t, r.Admin().ConfigSet(t.Context(), "appendonly", "no").Err())
	got = run(t, "", args...)
	require.Zero(t, got.code, "a warning is no problem")
	require.Contains(t, got.stdout,
		"\nwarning  persistence     no append-only file: a crash of Redis loses the scores since its last snapshot, or all\n"+
			"                           redis-cli CONFIG SET appendonly yes, and only then in redis.conf: appendonly yes\n")
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	got = run(t, "", args...)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stdout,
		"\nproblem  eviction        allkeys-lru: when its memory is full, Redis deletes boards, locks or tickets\n"+
			"                           redis-cli CONFIG SET maxmemory-policy 'noeviction', and in redis.conf: maxmemory-policy noeviction\n")
	require.Regexp(t, `checks: 1 problem, \d warnings?\n$`, got.stdout)
	require.Equal(t, "rankcast: this deployment has 1 problem\n", got.stderr)
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())

	// A boards file that a node would not start with.
	p := launch(t, "--redis", r.URL(), "--boards", boards)
	require.Equal(t, 200, p.post("laps", `{"member":"m","score":1}`).Status)
	got = run(t, "", "doctor", "--redis", r.URL(), "--boards", write(t, "boards.yaml", "boards: {laps: {period: week}}\n"))
	require.Equal(t, 1, got.code)
	require.Contains(t, line(got.stdout, "problem", "boards file"), "boards.laps.period: would change the order or the meaning of the data")
	got = run(t, "", "doctor", "--boards", write(t, "boards.yaml", "boards: {laps: {mode: most}}\n"))
	require.Equal(t, 1, got.code)
	require.Contains(t, line(got.stdout, "problem", "boards file"), "boards.laps.mode")
}

// With --data, doctor checks the Redis of the node that runs in this directory. If none runs, doctor says what is
// missing.
func TestDoctorOfData(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	got := run(t, "", "doctor", "--data", dir)
	require.Zero(t, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "unknown  redis       no Redis runs in "+dir+"\n                       start the node with --data "+dir)
	require.NoDirExists(t, dir)
	p := launch(t, "--data", dir, "--fsync", "always")
	got = run(t, "", "doctor", "--data", dir)
	require.Zero(t, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "\nok       persistence     append-only file, appendfsync always\n")
	require.NotContains(t, got.stdout, "problem")
	require.Equal(t, 200, p.post("stars", `{"member":"ana","score":1}`).Status)

	got = runWith(t, []string{"PATH=" + t.TempDir()}, "", "doctor", "--data", dataDir(t))
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stdout,
		"problem  redis       no redis-server is in PATH: install one (Debian, Ubuntu: apt-get install redis-server; ")
	got = run(t, "", "doctor", "--data", dir, "--redis", "redis://127.0.0.1:1")
	require.Equal(t, 80, got.code)
	require.Contains(t, got.stderr, "--data and --redis cannot be used together: with --data the node runs a Redis of its own")
}

// doctor reads the same variables as serve. It works without Redis, never prints a password, and says what is wrong
// with a flag.
func TestDoctorFlags(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	got := run(t, "", "doctor")
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stdout,
		"no --redis and no --data: the embedded store holds all scores in memory and loses them when the node stops\n")
	require.NotEmpty(t, line(got.stdout, "open files"))
	got = runWith(t, []string{"RANKCAST_REDIS=" + r.AppURL("~game:*", "&game:*", "+@all"), "RANKCAST_PREFIX=game",
		"RANKCAST_ACCESS_TEXT=keys: []"}, "", "doctor")
	require.Zero(t, got.code, got.stdout)
	require.NotEmpty(t, line(got.stdout, "ok", "rights"))
	require.NotEmpty(t, line(got.stdout, "ok", "access file"))
	require.Contains(t, got.stderr, "it lets nobody do anything")
	got = run(t, "", "doctor", "--redis", strings.Replace(r.URL(), "://", "://app:guess@", 1))
	require.Equal(t, 1, got.code)
	require.NotContains(t, got.stdout+got.stderr, "guess")
	require.Contains(t, line(got.stdout, "problem", "redis"), "WRONGPASS")
	got = run(t, "", "doctor", "--prefix", "a:b")
	require.Equal(t, 80, got.code)
	require.Contains(t, got.stderr, "--prefix must have no braces")
	for url, says := range map[string]string{
		"mongodb://x":                        `scheme "mongodb"`,
		"127.0.0.1:7401":                     "has no scheme; want redis://127.0.0.1:7401",
		"redis-sentinel://127.0.0.1:1":       "has no name of a master",
		"rediss://127.0.0.1:1?ca=/none":      "/none: no such file",
		"redis://app:guess@127.0.0.1:1/main": "has no valid number of a database",
	} {
		got = run(t, "", "doctor", "--redis", url)
		require.Equal(t, 80, got.code, url)
		require.Contains(t, got.stderr, "--redis: redis URL: ")
		require.Contains(t, got.stderr, says)
		require.NotContains(t, got.stderr, "guess")
		require.NotContains(t, got.stdout, "checks")
	}
	require.Contains(t, run(t, "", "doctor", "--help").stdout, "It exits with 0 if there is no problem")
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
		got := runUntil(t, says, "doctor", "--redis", url)
		require.Equal(t, 1, got.code, url)
		require.NotEmpty(t, line(got.stdout, "problem", "redis", says), got.stdout)
		require.Contains(t, got.stdout, "correct --redis: its scheme, its host, its user or the name of its master")
		require.Contains(t, got.stdout, "\n2 checks: 1 problem", "only the machine is checked beside it: "+got.stdout)
	}
}

// A node warns of each setting that loses scores, once, and serves all the same. It has nothing to say about a Redis
// that is as it should be, or about the embedded store.
func TestServeWarnsOfSettings(t *testing.T) {
	t.Parallel()
	require.NotContains(t, launch(t).output(), doctorWarning)
	require.NotContains(t, launch(t, "--redis", redistest.Start(t).URL()).output(), doctorWarning)

	r := redistest.Start(t, "--maxmemory-policy", "allkeys-lru", "--appendonly", "no", "--client-output-buffer-limit", "pubsub 32kb 8kb 60")
	p := launch(t, "--redis", r.URL())
	p.ready()
	log := p.output()
	require.Equal(t, 3, strings.Count(log, doctorWarning), log)
	require.Contains(t, line(log, doctorWarning, "check=eviction"), `level=WARN`)
	require.Contains(t, line(log, doctorWarning, "check=eviction"),
		`found="allkeys-lru: when its memory is full, Redis deletes boards, locks or tickets" fix="redis-cli CONFIG SET `+
			`maxmemory-policy 'noeviction'`)
	require.NotEmpty(t, line(log, doctorWarning, "check=persistence", "fix="))
	require.NotEmpty(t, line(log, doctorWarning, `check="output buffers"`, "fix="))
	require.Equal(t, 200, p.post("stars", `{"member":"m","score":1}`).Status)
}

// A node that starts without Redis checks it when it first answers, and once.
func TestServeWarnsWhenRedisFirstAnswers(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	r.Kill()
	p := launch(t, "--redis", r.URL())
	require.NotContains(t, p.output(), doctorWarning)
	r.Start()
	p.ready()
	warned := func() error {
		if n := strings.Count(p.output(), doctorWarning); n != 1 {
			return fmt.Errorf("%d warnings", n)
		}
		return nil
	}
	redistest.Eventually(t, "the warning", warned)
	r.Kill()
	p.refuses("")
	r.Start()
	p.ready()
	redistest.Eventually(t, "the end of the outage in the log", func() error {
		if strings.Count(p.output(), "Redis answers; this node is ready") < 2 {
			return errors.New(p.output())
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

	got := run(t, "", "serve", "--addr", "127.0.0.1:0", "--redis", proxy.URL())
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "rankcast: --redis: Redis "+old+says)
	require.NotContains(t, got.stderr, "serving")
	require.Empty(t, r.Admin().Keys(t.Context(), "*").Val(), "the node has defined nothing")
	got = run(t, "", "doctor", "--redis", proxy.URL())
	require.Equal(t, 1, got.code)
	require.Contains(t, line(got.stdout, "problem", "version"), old+says)

	proxy.Redirect("")
	p := launch(t, "--redis", proxy.URL())
	require.Equal(t, 200, servertest.Request(t, "GET", "http://"+p.addr+"/healthz", "").Status)
	proxy.Redirect(r.URL())
	redistest.Eventually(t, "the node to refuse this Redis", func() error {
		if !strings.Contains(p.output(), says) {
			return errors.New(p.output())
		}
		return nil
	})
	require.Equal(t, 1, p.ended())
}
