package server_test

import (
	"testing"

	"go.uber.org/goleak"

	"rankcast/server/servertest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The connection pools of http.DefaultTransport and of test clients.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

const patience = servertest.Patience
