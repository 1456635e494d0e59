package server_test

import (
	"testing"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
	"rankcast/server/servertest/contract"
)

func TestMain(m *testing.M) {
	redistest.Main(contract.HTTP(m), servertest.IdleConnections()...)
}

const patience = servertest.Patience
