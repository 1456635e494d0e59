package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/server/client"
)

// roundTrip is a transport without a network, so that time can be simulated.
type roundTrip func(body string) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(f(string(body)))), Request: r}, nil
}

// A server that goes away is explained before the first line is sent. Later, nothing says that nothing was sent.
func TestServerThatGoesAwayDuringAReplay(t *testing.T) {
	t.Parallel()
	server := remote.Server{URL: "http://127.0.0.1:1"}
	c, err := client.New(server.URL, client.Config{RetryFor: -1})
	require.NoError(t, err)
	s := &sender{Command: &Command{Board: "b", Server: server}, client: c}
	batch := []record{{line: 4, update: client.Update{Member: "a", Score: 1}}}
	require.ErrorContains(t, s.send(t.Context(), batch), "Is the server running")
	s.sent = 2
	require.NotContains(t, s.send(t.Context(), batch).Error(), "Is the server running")
}

// At speed each line is sent at its time, and those of one time together.
func TestReplayAtSpeed(t *testing.T) {
	t.Parallel()
	const text = "member,score,at\na,1,2026-11-20T08:00:00Z\nb,1,2026-11-20T08:00:00.000Z\nc,1,2026-11-20T08:01:00Z\nd,1," +
		"2026-11-20T08:00:30Z\ne,1,2026-11-20T09:00:00Z\n"
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var sent []string
		c, err := client.New("http://server.test", client.Config{HTTP: &http.Client{Transport: roundTrip(func(body string) string {
			var batch struct{ Updates []client.Update }
			require.NoError(t, json.Unmarshal([]byte(body), &batch))
			members := ""
			for _, u := range batch.Updates {
				members += u.Member
			}
			sent = append(sent, fmt.Sprint(time.Since(start), " ", members))
			return `{"results":[` + strings.TrimSuffix(strings.Repeat("{},", len(batch.Updates)), ",") + `]}`
		})}})
		require.NoError(t, err)
		play := func(ctx context.Context, speed float64, batch, from int) (*sender, error) {
			start, sent = time.Now(), nil
			r := &Command{Board: "b", Speed: speed, Batch: batch, From: from, Member: "member", Score: "score"}
			s := &sender{Command: r, client: c, started: start}
			return s, s.play(ctx, func(each func(record) error) error { return r.newDecoder().decode(strings.NewReader(text), each) })
		}
		_, err = play(t.Context(), 60, 1000, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"0s ab", "1s cd", "1m0s e"}, sent)
		_, err = play(t.Context(), 0.5, 1000, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"0s ab", "2m0s cd", "2h0m0s e"}, sent)
		_, err = play(t.Context(), 60, 1, 4)
		require.NoError(t, err)
		require.Equal(t, []string{"0s c", "0s d", "59s e"}, sent)
		_, err = play(t.Context(), 0, 2, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"0s ab", "0s cd", "0s e"}, sent)

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		s, err := play(ctx, 60, 1000, 1)
		require.True(t, errors.Is(err, context.DeadlineExceeded))
		require.Equal(t, []string{"0s ab", "1s cd"}, sent)
		require.Equal(t, 6, s.next)
	})
}
