package faults

import (
	"os"
	"testing"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(attackEnv); spec != "" {
		attack(spec)
		return
	}
	e2etest.Main(m)
}
