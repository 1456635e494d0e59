package live_test

import (
	"os"
	"testing"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
	"rankcast/server/servertest/contract"
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
	redistest.Main(contract.Live(m), servertest.IdleConnections()...)
}

const patience = servertest.Patience
