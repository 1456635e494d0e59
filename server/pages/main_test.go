package pages_test

import (
	"testing"

	"rankcast/server/servertest"
)

func TestMain(m *testing.M) {
	servertest.Main(m, servertest.IdleConnections()...)
}
