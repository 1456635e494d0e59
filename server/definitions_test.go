package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// A list of definitions is read and encoded once for each version of the definitions.
func TestDefinitionsAreEncodedOnce(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		rdb, err := ranking.Open(url)
		require.NoError(t, err)
		t.Cleanup(func() { rdb.Close() })
		store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
		t.Cleanup(store.Close)
		s, cache, reads := &Server{store: store}, new(definitionsCache), 0
		get := func() string {
			t.Helper()
			answer := httptest.NewRecorder()
			c := echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), answer)
			c.Response().Writer = &waitingWriter{ResponseWriter: answer, caller: access.NewOpenGuard().Anonymous()}
			require.NoError(t, s.okDefinitions(c, cache, "boards", func(ctx context.Context, to *namedList) error {
				reads++
				boards, err := store.Boards(ctx)
				for range boards {
					require.NoError(t, to.add(access.Resource{}, 1))
				}
				return err
			}))
			require.Equal(t, http.StatusOK, answer.Code)
			require.Equal(t, echo.MIMEApplicationJSON, answer.Header().Get(echo.HeaderContentType))
			return answer.Body.String()
		}
		for i, want := range []string{"1", "1,1"} {
			require.NoError(t, store.DefineBoard(t.Context(), definition.Board{Name: fmt.Sprint("b", i)}, ranking.Moderator{}))
			for range 3 {
				require.Equal(t, `{"boards":[`+want+"]}\n", get())
				require.Equal(t, i+1, reads)
			}
		}
	})
}
