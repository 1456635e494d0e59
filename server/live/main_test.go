package live_test

import (
	"os"
	"testing"

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
	servertest.Main(m, servertest.IdleConnections()...)
}

const patience = servertest.Patience
