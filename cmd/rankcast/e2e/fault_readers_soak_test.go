//go:build soak

package e2e

import (
	"testing"
	"time"
)

func TestFaultClientsThatNeverReadMeasured(t *testing.T) {
	clientsThatNeverRead(t, 5000, 1000, 10*time.Second, 20*time.Second).log(t)
}
