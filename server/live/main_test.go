package live_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"rankcast/server/servertest"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(drainEnv); spec != "" {
		drain(spec)
		return
	}
	if spec := os.Getenv(joinEnv); spec != "" {
		join(spec)
		return
	}
	goleak.VerifyTestMain(m,
		// The connection pools of http.DefaultTransport and of test clients.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

const patience = servertest.Patience
