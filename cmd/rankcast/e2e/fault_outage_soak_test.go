//go:build soak

package e2e

import "testing"

// The long forms run one after another, so that their figures are those of a quiet machine.

func TestFaultRedisRestartsMeasured(t *testing.T) { redisRestarts(t, longForm).log(t) }

func TestFaultRedisRestartsEmptyMeasured(t *testing.T) { redisRestartsEmpty(t, longForm).log(t) }

func TestFaultRedisPausesMeasured(t *testing.T) { redisPauses(t, longForm).log(t) }

func TestFaultRedisHangsMeasured(t *testing.T) { redisHangs(t, longForm).log(t) }

func TestFaultFailoverMeasured(t *testing.T) { failover(t, longForm).log(t) }

func TestFaultBlackHoleMeasured(t *testing.T) { blackHole(t, longForm).log(t) }
