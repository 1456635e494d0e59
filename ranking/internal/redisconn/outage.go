package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/pipeline"
)

// Outage says in words why a call failed with ErrUnavailable.
type Outage struct {
	// Reason is one of a fixed set of sentences, without a full stop; "" if the error has none. Anybody may see it: it
	// holds no part of the error, so no address, user or password.
	Reason string
	// Answered reports that Redis has answered, by an error.
	Answered bool
}

// OutageOf returns the Outage of an error.
func OutageOf(err error) Outage {
	switch {
	case err == nil:
		return Outage{}
	case errors.Is(err, redis.Nil):
		return Outage{Reason: "no Sentinel knows a master of this name"}
	case IsSlotMoving(err):
		return Outage{"the slot of the board moves to another master of the cluster", true}
	case errors.Is(err, pipeline.ErrNotSent) && pipeline.IsRedirect(err): // not of a node that --redis takes for no cluster
		return Outage{"the cluster of Redis has no master for the board at the moment", true}
	}
	if answer, ok := errors.AsType[redis.Error](err); ok {
		code, _, _ := strings.Cut(answer.Error(), " ") // of the protocol: NOAUTH, LOADING, or ERR for any other error
		return Outage{"Redis answers " + code, true}
	}
	return Outage{Reason: connectionReason(err)}
}

// IsBusy reports whether Redis has refused a command because it loads its data, or runs a script for too long.
func IsBusy(err error) bool {
	return redis.HasErrorPrefix(err, "LOADING ") || redis.HasErrorPrefix(err, "BUSY ")
}

// connectionReason returns the reason for which a connection failed, or "".
func connectionReason(err error) string {
	var (
		name        *net.DNSError
		plain       tls.RecordHeaderError
		certificate *tls.CertificateVerificationError
		alert       tls.AlertError
		network     net.Error
	)
	switch {
	case errors.As(err, &name):
		return "the host of Redis is unknown"
	case errors.As(err, &plain):
		return "Redis speaks no TLS: use redis:// in place of rediss://"
	case errors.As(err, &certificate):
		return "the certificate of Redis is not valid"
	case errors.As(err, &alert):
		return "Redis refuses the TLS of this node"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "Redis refuses the connection"
	case errors.Is(err, os.ErrNotExist):
		return "the socket of Redis does not exist"
	case errors.Is(err, os.ErrPermission):
		return "this node may not use the socket of Redis"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route leads to Redis"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "Redis closes the connection: it has stopped, or wants TLS (rediss://)"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "Redis does not answer in time"
	}
	return ""
}

// IsSlotMoving reports whether Redis has refused a call because the slot of its board moves to another master of the
// cluster. Redis has not carried the call out.
func IsSlotMoving(err error) bool { return redis.HasErrorPrefix(err, "TRYAGAIN") }
