package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A definition is sent again until the server has it.
func TestDefinitionIsRetried(t *testing.T) {
	t.Parallel()
	simulate(t, Config{}, script{
		says(503, `{"code":"unavailable","detail":"later"}`), cut, says(201, `{"board":"b"}`),
	}, func(t *testing.T, c *Client, a *answers) {
		d, err := c.DefineBoard(t.Context(), "b", []byte(`{"mode":"best"}`))
		require.NoError(t, err)
		require.Equal(t, `{"board":"b"}`, string(d))
		require.Equal(t, []string{`{"mode":"best"}`, `{"mode":"best"}`, `{"mode":"best"}`}, a.bodies)
	})
	simulate(t, Config{RetryFor: -1}, script{cut}, func(t *testing.T, c *Client, _ *answers) {
		_, err := c.DefineEvent(t.Context(), "e", []byte(`{}`))
		require.ErrorIs(t, err, ErrOutcomeUnknown)
	})
}
