package redisconn

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// kindOfRedis is what answers at a URL.
type kindOfRedis int

const (
	oneRedis kindOfRedis = iota
	sentinelRedis
	clusterRedis
)

// redisURL is a URL of Open.
type redisURL struct {
	kind                           kindOfRedis
	url                            *url.URL // of the first host, with a scheme of go-redis
	hosts                          []string // host:port of each; none for a unix socket
	master                         string   // name at Sentinel
	sentinelUser, sentinelPassword string
	ca                             string // file of the authorities; "": those of the system
}

// schemes are the kinds of Redis by the scheme of their URL without TLS. With TLS, rediss takes the
// place of redis.
var schemes = map[string]kindOfRedis{"redis": oneRedis, "unix": oneRedis, "redis-sentinel": sentinelRedis, "redis-cluster": clusterRedis}

// unsupported are parameters of go-redis that would have another part of the URL, or a replica, in their place.
var unsupported = []string{"addr", "master_name", "username", "password", "replica_only", "route_by_latency", "route_randomly",
	"use_disconnected_replicas"}

// parseRedisURL parses a URL. Its errors show no password, and no part of one.
func parseRedisURL(raw string) (*redisURL, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		want := "redis:// before it"
		if !strings.Contains(raw, "@") { // else it holds a password
			want = "redis://" + cmp.Or(raw, "localhost:6379")
		}
		return nil, fmt.Errorf("has no scheme; want %s", want)
	}
	plain := strings.Replace(scheme, "rediss", "redis", 1)
	kind, ok := schemes[plain]
	if !ok {
		return nil, fmt.Errorf("scheme %q; want redis, unix, redis-sentinel or redis-cluster; rediss, rediss-sentinel or rediss-cluster for TLS",
			scheme)
	}
	r := &redisURL{kind: kind}
	base := "redis"
	switch {
	case plain == "unix":
		base = "unix"
	case plain != scheme:
		base = "rediss"
	}
	if kind != oneRedis {
		rest = r.takeHosts(rest)
	}
	invalid := errors.New("is not valid; want redis://user:password@host:port; a password has %XX in place of each of / ? # % @")
	u, err := url.Parse(base + "://" + rest)
	// the error of url.Parse, or one of these, may show a part of the password
	if err != nil || base != "unix" && strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") {
		return nil, invalid
	}
	if kind != oneRedis {
		for i, host := range r.hosts {
			other, err := url.Parse("redis://" + host)
			if err != nil || other.Host != host || other.Hostname() == "" {
				return nil, invalid
			}
			if port := map[kindOfRedis]string{sentinelRedis: ":26379", clusterRedis: ":6379"}[kind]; other.Port() == "" {
				r.hosts[i] = host + port
			}
		}
	}
	if kind == sentinelRedis {
		path := strings.Split(strings.Trim(u.Path, "/"), "/")
		if r.master = path[0]; len(path) > 2 {
			return nil, fmt.Errorf("has the path %s; want /MASTER or /MASTER/DB", u.Path)
		}
		u.Path = strings.TrimPrefix(u.Path, "/"+r.master)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || base == "unix" && u.Host != "" {
		return nil, invalid
	}
	for _, name := range unsupported {
		if query.Has(name) && !(name == "addr" && kind == clusterRedis) {
			return nil, fmt.Errorf("has the parameter %s, which does not apply", name)
		}
	}
	if db := strings.Trim(u.Path, "/"); base != "unix" && strings.Trim(db, "0123456789") != "" {
		return nil, errors.New("has no valid number of a database behind the host")
	}
	take := func(name string) string {
		value := query.Get(name)
		query.Del(name)
		return value
	}
	if base == "rediss" {
		r.ca = take("ca")
	}
	if kind == sentinelRedis {
		r.sentinelUser, r.sentinelPassword = take("sentinel_username"), take("sentinel_password")
	}
	u.RawQuery = query.Encode()
	r.url = u
	return r, nil
}

// takeHosts takes the list of hosts from what follows the scheme, and returns the rest with the first host alone.
func (r *redisURL) takeHosts(rest string) string {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndex(rest[:end], "@") + 1
	r.hosts = strings.Split(rest[at:end], ",")
	return rest[:at] + r.hosts[0] + rest[end:]
}

// forLibrary is the URL of the first host as go-redis parses it.
func (r *redisURL) forLibrary() string { return r.url.String() }

// trust makes a configuration of TLS trust the authorities of the parameter ca. config is nil without TLS.
func (r *redisURL) trust(config *tls.Config) error {
	if r.ca == "" {
		return nil
	}
	pem, err := os.ReadFile(r.ca)
	if err != nil {
		return fmt.Errorf("ca: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return fmt.Errorf("ca: %s has no certificate in PEM", r.ca)
	}
	return nil
}

// trustEach is trust for the servers of Sentinel or of a cluster: the certificate of each names its own host.
func (r *redisURL) trustEach(config *tls.Config) error {
	if config != nil {
		config.ServerName = ""
	}
	return r.trust(config)
}
