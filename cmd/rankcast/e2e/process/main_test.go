package process

import (
	"testing"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

func TestMain(m *testing.M) { e2etest.Main(m) }
