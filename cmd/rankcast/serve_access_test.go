package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/accessfile"
)

// Without an access file no other machine can reach the server, unless --insecure allows it.
func TestAddressesThatNeedAccess(t *testing.T) {
	t.Parallel()
	for addr, refused := range map[string]bool{
		":0": true, "0.0.0.0:0": true, "[::]:0": true, "192.0.2.1:0": true, "[2001:db8::1]:0": true, "[::ffff:192.0.2.1]:0": true,
		"[fe80::1%lo]:0": true,
		"127.0.0.1:0":    false, "127.0.0.2:0": false, "localhost:0": false, "[::1]:0": false, "[::ffff:127.0.0.1]:0": false,
	} {
		err := (&serveAccess{}).checkAddr(t.Context(), addr)
		require.Equal(t, refused, err != nil, "%s: %v", addr, err)
		require.NoError(t, (&serveAccess{Insecure: true}).checkAddr(t.Context(), addr))
		require.NoError(t, (&serveAccess{Flag: accessfile.Flag{File: "access.yaml"}}).checkAddr(t.Context(), addr))
	}
}
