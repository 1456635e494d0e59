package faults

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A node dies while the receiver of its webhook is down. The next one tells what has
// closed, under the id that the first has tried.
func TestWebhookOutlivesItsNode(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	var works atomic.Bool
	r := &servertest.Receiver{T: t, Answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}}
	s := httptest.NewServer(r)
	defer s.Close()
	args := []string{"--redis", redis.URL(), "--webhook", s.URL, "--webhook-secret", servertest.WebhookSecret, "--webhook-top",
		"1", "--webhook-boards", "cup"}
	dies := e2etest.Launch(t, args...)
	ends := time.Now().Add(5 * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
	for _, board := range []string{"cup", "other"} {
		answer := servertest.Request(t, "PUT", "http://"+dies.Addr+"/v1/boards/"+board, fmt.Sprintf(`{"ends":%q}`, ends))
		require.Less(t, answer.Status, 300, answer.Body)
		answer = dies.Post(board, `{"updates":[{"member":"a","score":1},{"member":"b","score":2}]}`)
		require.Equal(t, 200, answer.Status, answer.Body)
	}
	redistest.Eventually(t, "a try", func() error {
		next, err := redis.Admin().ZScore(t.Context(), "rc:{/}:deliveries:cup/0", "cup").Result()
		if err != nil || len(r.Messages()) == 0 {
			return fmt.Errorf("none yet: %v", err)
		}
		// Killed before it has noted that, its claim would have to run out first.
		if left := time.Until(time.UnixMicro(int64(next))); left > 10*time.Second {
			return fmt.Errorf("under way, for %v", left)
		}
		return nil
	})
	dies.Logs("the receiver answers 503") // the node logs that after it has noted the try
	dies.Kill()
	require.NotContains(t, dies.Output(), servertest.WebhookSecret)
	works.Store(true)
	failed := len(r.Messages())
	e2etest.Launch(t, args...)
	redistest.Eventually(t, "another try", func() error {
		if len(r.Messages()) == failed {
			return errors.New("none yet")
		}
		return nil
	})
	messages := r.Messages()
	last := messages[len(messages)-1]
	require.Equal(t, messages[0], last)
	require.Equal(t, "cup", last.Board)
	require.EqualValues(t, 2, last.Total)
	require.Equal(t, "[{1 b 2}]", fmt.Sprint(last.Top))
	_, ids := r.Tries()
	require.Equal(t, map[string]int{"cup": 1}, ids)
}
