package ranking

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/diagnosis"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/script"
)

// The schemes of a URL without TLS, but that of a socket.
const (
	oneScheme      = "redis"
	sentinelScheme = "redis-sentinel"
	clusterScheme  = "redis-cluster"
)

// endpoint describes the Redis of a client for a finding. It holds no password.
type endpoint struct {
	scheme  string // one of the constants above
	tls     bool
	socket  string // path of the socket of one Redis, or ""
	address string // host:port of one Redis, or ""
}

// failoverAddr is the address in the options of a client that asks Sentinels for the address.
const failoverAddr = "FailoverClient"

// endpointOf returns the endpoint of a client of Open.
func endpointOf(client *pipeline.Client) endpoint {
	switch rdb := client.Unwrap().(type) {
	case *redis.ClusterClient:
		return endpoint{scheme: clusterScheme, tls: rdb.Options().TLSConfig != nil}
	case *redis.Client:
		o := rdb.Options()
		switch usesTLS := o.TLSConfig != nil; {
		case o.Addr == failoverAddr:
			return endpoint{scheme: sentinelScheme, tls: usesTLS}
		case o.Network == "unix":
			return endpoint{scheme: oneScheme, socket: o.Addr}
		default:
			return endpoint{scheme: oneScheme, tls: usesTLS, address: o.Addr}
		}
	}
	return endpoint{scheme: oneScheme}
}

// withTLS returns the scheme that a URL needs in place of another one to speak TLS.
func withTLS(scheme string) string { return strings.Replace(scheme, "redis", "rediss", 1) + "://" }

// cli is the call of redis-cli for the server at an address, or for the one Redis where address is empty.
// Without any address, the call has HOST:PORT in its place.
func (e endpoint) cli(address string) string {
	if e.socket != "" {
		return "redis-cli -s " + e.socket
	}
	scheme := oneScheme + "://"
	if e.tls {
		scheme = withTLS(oneScheme)
	}
	return "redis-cli -u " + scheme + cmp.Or(address, e.address, "HOST:PORT")
}

// noAnswer is the finding of a server that does not answer, or that refuses the connection. name is the
// address of a master of a cluster, or "".
func (e endpoint) noAnswer(name string, err error) diagnosis.Finding {
	f := diagnosis.Finding{Check: diagnosis.Connection, Server: name, Level: diagnosis.Problem}
	var certificate *tls.CertificateVerificationError
	switch {
	case e.scheme == clusterScheme && isNoCluster(err):
		f.Found = "is no node of a cluster: " + err.Error()
		f.Fix = "for one Redis use redis:// in --redis, or rediss:// with TLS; for Sentinels redis-sentinel://"
	case isBusy(err), redis.HasErrorPrefix(err, "CLUSTERDOWN"):
		f.Found, f.Fix = "refuses this node: "+err.Error(), "wait until Redis is ready, and check again"
	case e.scheme == sentinelScheme && (errors.Is(err, redis.Nil) || script.RefusalIn(err) == script.NoCommand): // DiagnoseSentinels says more
		f.Found, f.Fix = "no Sentinel names the master: "+err.Error(), "correct the addresses of the Sentinels, and the name of the master, in --redis"
	case isAnswer(err):
		f.Found, f.Fix = "refuses this node: "+err.Error(), "change what the answer names, and check again"
		for _, prefix := range []string{"WRONGPASS", "NOAUTH", "NOPERM", "AUTH ", "invalid password", "Client sent AUTH"} {
			if redis.HasErrorPrefix(err, prefix) {
				f.Fix = "correct the user and the password in --redis"
			}
		}
	case errors.As(err, &certificate):
		f.Found = "has a certificate that this machine does not trust: " + err.Error()
		f.Fix = "name the file of its authority in --redis: " + withTLS(e.scheme) + "…?ca=FILE; or use the host that the certificate names"
	default:
		f.Found, f.Fix = "does not answer: "+err.Error(), "start Redis, or correct the address in --redis"+e.orTLS(err)
	}
	return f
}

// orTLS is the end of a fix, for a server that may speak TLS where the URL does not, or the other way round.
// A server that was not reached may not.
func (e endpoint) orTLS(err error) string {
	var failed *net.OpError
	var waited net.Error
	switch {
	case e.socket != "", errors.As(err, &failed) && failed.Op == "dial":
		return ""
	case e.tls:
		return "; if this port speaks no TLS, use " + e.scheme + ":// in place of " + withTLS(e.scheme)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &waited) && waited.Timeout(): // a port with TLS ends the connection at once
		return ""
	}
	return "; if this port speaks TLS, use " + withTLS(e.scheme) + " in place of " + e.scheme + "://"
}

// isAnswer reports whether an error is an answer of Redis.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// isNoCluster reports whether an error is the answer of a Redis without a cluster, or of a Sentinel, to a
// question about the cluster.
func isNoCluster(err error) bool {
	return isAnswer(err) && strings.Contains(err.Error(), "cluster support disabled") || script.RefusalIn(err) == script.NoCommand
}
