//go:build soak

package e2e

import (
	"testing"
	"time"
)

func TestFaultCrowdReconnectsMeasured(t *testing.T) { crowdReconnects(t, 9000, 2*time.Second).log(t) }
