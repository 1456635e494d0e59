package request

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/stretchr/testify/require"
)

// Requests that mean the same have one key, and no others: callers with equal keys share an answer.
func TestKey(t *testing.T) {
	t.Parallel()
	key := func(address string) string {
		q := ReadQuery(echo.New().NewContext(httptest.NewRequest("GET", address, nil), nil), "limit", "min", "cursor", "q")
		q.Integer("limit", 10, 1, 100)
		q.Score("min")
		q.Cursor()
		q.Get("q")
		require.NoError(t, q.Err, address)
		return q.Key()
	}
	for _, same := range []string{"/b?limit=10", "/b?cursor=", "/b?q=&limit=%2B10", "/b?limit=010"} {
		require.Equal(t, key("/b"), key(same), same)
	}
	require.Equal(t, key("/b?limit=3&min=-4"), key("/b?min=-4&limit=3"))
	seen := make(map[string]string)
	for _, address := range []string{"/b", "/c", "/b/c", "/b%2Fc", "/b%3Flimit%223%22", "/b%22", "/b?limit=3", "/b?min=3", "/b?min=0",
		"/b?q=3", "/b?q=3%22min%223", "/b?q=3&min=3", "/b?q=%5C%223", "/b?q=%00", "/b?q=%FF", "/b?q=%EF%BF%BD"} {
		other, isSeen := seen[key(address)]
		require.False(t, isSeen, "%s and %s", address, other)
		seen[key(address)] = address
	}
}
