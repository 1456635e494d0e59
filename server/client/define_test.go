package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

func TestDefinitions(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c, ctx := newClient(t, n.Addr), t.Context()
		const family = "fans:{star}"
		d := redistest.Must(c.DefineBoard(ctx, family, []byte(`{"mode":"best","kind":"user"}`)))(t)
		read := redistest.Must(c.BoardDefinition(ctx, family))(t)
		require.Equal(t, string(d), string(read))
		require.Contains(t, string(read), `"board":"fans:{star}","mode":"best"`)
		d = redistest.Must(c.DefineBoard(ctx, family, []byte(`{"kind":"user","mode":"best"}`)))(t)
		require.Equal(t, string(read), string(d))

		d = redistest.Must(c.DefineEvent(ctx, "gift", []byte(`{"updates":[{"board":"fans:{star}","member":"{user}","score":1}]}`)))(t)
		event := redistest.Must(c.EventDefinition(ctx, "gift"))(t)
		require.Equal(t, string(event), string(d))

		_, err := c.DefineBoard(ctx, family, []byte(`{"mode":"most"}`))
		require.Equal(t, client.Error{Status: 400, Code: "invalid_request", Field: "mode"}, refusal(t, err), "%v", err)
		read2 := redistest.Must(c.BoardDefinition(ctx, family))(t)
		require.Equal(t, string(read), string(read2), "a refusal changes nothing")
		_, err = c.DefineEvent(ctx, "other", []byte(`{"updates":[{"board":"nope","member":"m","score":1}]}`))
		require.Equal(t, client.Error{Status: 400, Code: "invalid_request", Field: "updates[0].board"}, refusal(t, err), "%v", err)
		_, err = c.BoardDefinition(ctx, "nope")
		require.Equal(t, client.Error{Status: 404, Code: "unknown_board", Field: "board"}, refusal(t, err), "%v", err)
	})
}
