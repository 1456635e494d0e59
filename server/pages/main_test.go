package pages_test

import (
	"testing"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestMain(m *testing.M) {
	redistest.Main(m, servertest.IdleConnections()...)
}
