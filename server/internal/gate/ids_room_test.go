package gate

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/server/internal/problem"
)

// An id for which there is no room gets 429, with the time until there is some.
func TestTooManyIDsTellWhenToComeBack(t *testing.T) {
	t.Parallel()
	err := problem.At("updates[3]", &ranking.FieldError{Field: "id", Reason: "is one too many", Kind: ranking.ErrTooManyIDs,
		RetryAfter: 90 * time.Second})
	p := problem.Of(err)
	require.Equal(t, problem.Problem{Status: http.StatusTooManyRequests, Code: "limit_reached",
		Message: "updates[3].id: is one too many", Field: "updates[3].id"}, p)
	require.Equal(t, 90, retryAfter(p.Status, err))
	require.Zero(t, retryAfter(http.StatusInternalServerError, errors.New("other")))
}
