package gate_test

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/stretchr/testify/require"

	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/servertest/contract"
)

// An error that the server does not know has a code too, and tells nothing of its cause.
func TestInternalErrorIsByTheContract(t *testing.T) {
	t.Parallel()
	g := gate.New(gate.Config{Guard: access.NewOpenGuard(), Log: slog.New(slog.DiscardHandler)})
	r := httptest.NewRequest("GET", "/v1/boards", nil)
	w := httptest.NewRecorder()
	g.HandleError(echo.New().NewContext(r, w), errors.New("the cause"))
	contract.CheckHTTP(t, r, nil, w.Result(), w.Body.Bytes())
	require.Equal(t, 500, w.Code)
	require.NotContains(t, w.Body.String(), "the cause")
}
