package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

func TestDefinitions(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{})
		c, ctx := newClient(t, n.Addr), t.Context()
		const family = "fans:{star}"
		d, err := c.DefineBoard(ctx, family, []byte(`{"mode":"best","kind":"user"}`))
		require.NoError(t, err)
		read, err := c.BoardDefinition(ctx, family)
		require.NoError(t, err)
		require.Equal(t, string(d), string(read))
		require.Contains(t, string(read), `"board":"fans:{star}","mode":"best"`)
		d, err = c.DefineBoard(ctx, family, []byte(`{"kind":"user","mode":"best"}`))
		require.NoError(t, err)
		require.Equal(t, string(read), string(d))

		d, err = c.DefineEvent(ctx, "gift", []byte(`{"updates":[{"board":"fans:{star}","member":"{user}","score":1}]}`))
		require.NoError(t, err)
		event, err := c.EventDefinition(ctx, "gift")
		require.NoError(t, err)
		require.Equal(t, string(event), string(d))

		refused := func(err error, status int, code, field string) {
			t.Helper()
			var e *client.Error
			require.ErrorAs(t, err, &e)
			require.NotErrorIs(t, err, client.ErrOutcomeUnknown)
			require.Equal(t, client.Error{Status: status, Code: code, Field: field}, client.Error{Status: e.Status, Code: e.Code,
				Field: e.Field}, "%v", err)
		}
		_, err = c.DefineBoard(ctx, family, []byte(`{"mode":"most"}`))
		refused(err, 400, "invalid_request", "mode")
		read2, err := c.BoardDefinition(ctx, family)
		require.NoError(t, err)
		require.Equal(t, string(read), string(read2), "a refusal changes nothing")
		_, err = c.DefineEvent(ctx, "other", []byte(`{"updates":[{"board":"nope","member":"m","score":1}]}`))
		refused(err, 400, "invalid_request", "updates[0].board")
		_, err = c.BoardDefinition(ctx, "nope")
		refused(err, 404, "unknown_board", "board")
	})
}
