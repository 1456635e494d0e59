package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The log names each variable that nothing reads. It names neither what the program reads, nor what Kubernetes and Docker
// set for a service or a link of the name rankcast.
func TestUnknownVariablesAreTold(t *testing.T) {
	parser := newParser(t)
	for _, name := range []string{"RANKCAST_REDIS_URL", "RANKCAST_REDDIS", "RANKCAST_NODE_COLOUR"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "secret")
			var out bytes.Buffer
			warnOfUnknownVariables(slog.New(slog.NewTextHandler(&out, nil)), parser.Model)
			require.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
			require.Contains(t, out.String(), "variable="+name+"\n")
			require.NotContains(t, out.String(), "secret")
		})
	}
	t.Run("none", func(t *testing.T) {
		for _, name := range []string{
			"RANKCAST_REDIS", "RANKCAST_KEY", "RANKCAST_KEY_FILE", "RANKCAST_ACCESS_TEXT", "RANKCAST_SERVER", "RANKCAST_TLS_KEY",
			"RANKCAST_SERVICE_HOST", "RANKCAST_SERVICE_PORT", "RANKCAST_SERVICE_PORT_HTTP", "RANKCAST_PORT", "RANKCAST_PORT_80_TCP",
			"RANKCAST_PORT_80_TCP_PROTO", "RANKCAST_PORT_80_TCP_PORT", "RANKCAST_PORT_80_TCP_ADDR",
			"RANKCAST_REDIS_SERVICE_HOST", "RANKCAST_REDIS_PORT", "RANKCAST_REDIS_PORT_6379_TCP_ADDR", "OTHER_RANKCAST_X", "RANKCASTER_X",
		} {
			t.Setenv(name, "x")
		}
		var out bytes.Buffer
		warnOfUnknownVariables(slog.New(slog.NewTextHandler(&out, nil)), parser.Model)
		require.Empty(t, out.String())
	})
}
