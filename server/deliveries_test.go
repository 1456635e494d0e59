package server_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// deliveryPage is a page of the messages that wait for the webhook.
type deliveryPage struct {
	Configured bool
	Total      int
	Deliveries []struct {
		ID, Board, Period, Error string
		Attempts                 int
		Since, Next              time.Time
	}
	Cursor *string
}

// The list of deliveries tells which messages wait, and what their receiver has said.
func TestListDeliveries(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		ends := time.Now().UTC().Add(5 * time.Second).Truncate(time.Millisecond)
		cfg := servertest.Config{Ranking: ranking.Config{Deliver: []string{ranking.AllBoards}}}
		n := servertest.Start(t, at, cfg, definition.Board{Name: "a", Ends: ends}, definition.Board{Name: "b", Ends: ends.Add(time.Millisecond)})
		require.JSONEq(t, `{"configured":true,"total":0,"deliveries":[],"cursor":null}`, n.Require(200, "GET", "/v1/deliveries", "").Body)
		for _, board := range []string{"a", "b"} {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores", `{"member":"u","score":1}`)
		}
		var page deliveryPage
		redistest.Eventually(t, "both messages", func() error {
			n.Require(200, "GET", "/v1/deliveries", "").Into(&page)
			if len(page.Deliveries) < 2 {
				return fmt.Errorf("there are %d", len(page.Deliveries))
			}
			return nil
		})
		due, err := n.Store.Deliveries(context.Background(), 1)
		require.NoError(t, err)
		require.NoError(t, n.Store.Deferred(t.Context(), due[0], time.Hour, errors.New("the receiver answers 500 \"<b>\"")))

		first, second := deliveryPage{}, deliveryPage{}
		n.Require(200, "GET", "/v1/deliveries?limit=1", "").Into(&first)
		n.Require(200, "GET", "/v1/deliveries?limit=1&cursor="+*first.Cursor, "").Into(&second)
		require.Nil(t, second.Cursor)
		require.Equal(t, []int{2, 2}, []int{first.Total, second.Total})
		found := 0
		for i, d := range append(first.Deliveries, second.Deliveries...) {
			require.Equal(t, page.Deliveries[i].ID, d.ID)
			require.False(t, d.Since.Before(ends))
			if d.ID == due[0].ID {
				require.Equal(t, []any{due[0].Board, 1, `the receiver answers 500 "<b>"`}, []any{d.Board, d.Attempts, d.Error})
				require.Greater(t, d.Next.Sub(d.Since), 30*time.Minute)
				found++
			}
		}
		require.Equal(t, 1, found)
		for query, field := range map[string]string{
			"limit=0": "limit", "limit=101": "limit", "cursor=*": "cursor", "cursor=eA": "cursor", "cursor=eyJhdCI6LTF9": "cursor",
			"board=a": "board",
		} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/deliveries?"+query, ""), 400, "invalid_request", field)
		}
	})
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	require.Contains(t, n.Require(200, "GET", "/v1/deliveries", "").Body, `"configured":false`)
}
