package client

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A definition is sent again until the server has it.
func TestDefinitionIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, a := withAnswers(t, Config{}, says(503, `{"code":"unavailable","detail":"later"}`), cut, says(201, `{"board":"b"}`))
		d, err := c.DefineBoard(t.Context(), "b", []byte(`{"mode":"best"}`))
		require.NoError(t, err)
		require.Equal(t, `{"board":"b"}`, string(d))
		require.Equal(t, []string{`{"mode":"best"}`, `{"mode":"best"}`, `{"mode":"best"}`}, a.bodies)
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := withAnswers(t, Config{RetryFor: -1}, cut)
		_, err := c.DefineEvent(t.Context(), "e", []byte(`{}`))
		require.ErrorIs(t, err, ErrOutcomeUnknown)
	})
}
