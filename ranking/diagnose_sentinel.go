package ranking

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/diagnosis"
	"rankcast/ranking/internal/script"
)

// DiagnoseSentinels asks each Sentinel that a URL of Open names for the master. Each that does not name the
// master is a problem, or a warning if another one does. DiagnoseSentinels returns nothing for a URL of
// another kind, and the error of Open for a URL that is not valid.
func DiagnoseSentinels(ctx context.Context, rawURL string) ([]diagnosis.Finding, error) {
	u, err := parseRedisURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redis URL: %w", err)
	}
	if u.kind != sentinelRedis {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Config{}.withDefaults().CallTimeout)
	defer cancel()
	errs := make([]error, len(u.hosts))
	var asking sync.WaitGroup
	for i, host := range u.hosts {
		asking.Go(func() { errs[i] = u.askSentinel(ctx, host) })
	}
	asking.Wait()
	level, unknown := diagnosis.Problem, 0
	for _, err := range errs {
		switch {
		case err == nil:
			level = diagnosis.Warning
		case errors.Is(err, redis.Nil):
			unknown++
		}
	}
	var all []diagnosis.Finding
	if unknown == len(errs) {
		return append(all, diagnosis.Finding{Check: diagnosis.Connection, Level: level, Found: fmt.Sprintf("the Sentinels know no master %q", u.master), Fix: nameOfMaster}), nil
	}
	for i, err := range errs {
		if err != nil {
			f := u.sentinelFault(u.hosts[i], err)
			f.Level = level
			all = append(all, f)
		}
	}
	return all, nil
}

// nameOfMaster is the fix of a wrong name.
const nameOfMaster = "correct the name of the master at the end of --redis: redis-sentinel://HOST:PORT/NAME"

// askSentinel asks one Sentinel for the master. The error is redis.Nil if the Sentinel knows no such master.
func (u *redisURL) askSentinel(ctx context.Context, host string) error {
	at := url.URL{Scheme: u.url.Scheme, Host: host}
	if u.sentinelUser != "" || u.sentinelPassword != "" {
		at.User = url.UserPassword(u.sentinelUser, u.sentinelPassword)
	}
	if u.url.Query().Has("skip_verify") {
		at.RawQuery = url.Values{"skip_verify": {u.url.Query().Get("skip_verify")}}.Encode()
	}
	sentinel, err := (&redisURL{kind: oneRedis, url: &at, ca: u.ca}).openOne()
	if err != nil {
		return err
	}
	defer sentinel.Close()
	return sentinel.Do(ctx, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", u.master).Err()
}

// sentinelFault is the finding of a Sentinel that does not name the master.
func (u *redisURL) sentinelFault(host string, err error) diagnosis.Finding {
	e := endpoint{scheme: sentinelScheme, tls: u.url.Scheme == "rediss"}
	f := e.noAnswer("", err) // also of a certificate
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, redis.Nil):
		f.Found, f.Fix = fmt.Sprintf("knows no master %q", u.master), nameOfMaster
	case script.RefusalIn(err) == script.NoCommand:
		f.Found = "is no Sentinel: " + err.Error()
		f.Fix = "give the addresses of the Sentinels in --redis, with port 26379 by default; or use redis:// for one Redis"
	case isAnswer(err):
		f.Fix = "correct sentinel_username and sentinel_password in --redis"
	case !errors.As(err, &certificate):
		f.Fix = "start this Sentinel, or correct its address in --redis" + e.orTLS(err)
	}
	f.Found = host + " " + f.Found
	return f
}
