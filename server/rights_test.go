package server_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A node whose Redis user loses a right names the right, by HTTP and on a socket, and changes
// nothing until the right is back.
func TestRightsThatAreLost(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	all := []string{"~rc:*", "&rc:*", "+@all"}
	n := servertest.Start(t, r.AppURL(all...), servertest.Config{}, definition.Board{Name: "stars"})
	isReady := func() error {
		if a := n.Do("GET", "/readyz", ""); a.Status != 200 {
			return errors.New(a.Body)
		}
		return nil
	}
	redistest.Eventually(t, "the node to be ready", isReady)
	s := servertest.Dial(t, n.Addr)

	r.AppURL(append(all, "-publish")...)
	before := r.Digest()
	post := func() servertest.Answer {
		return n.Do("POST", "/v1/boards/stars/scores", `{"member":"ana","score":1,"id":"1"}`)
	}
	refused := post()
	servertest.RequireProblem(t, refused, 503, "unavailable", "")
	require.Contains(t, refused.Body, `"counted":false`)
	const reason = `redis user \"app\": PUBLISH rc:probe:*, PUBLISH rc:{*}:c, PUBLISH rc:{/}:f:*: ERR `
	redistest.Eventually(t, "the node to know the right", func() error {
		if n.Store.MissingRights() == nil {
			return errors.New("no right is missing")
		}
		return nil
	})
	for _, a := range []servertest.Answer{
		post(),
		n.Do("PUT", "/v1/boards/stars/members/ana/score", `{"score":1,"reason":"a test"}`),
		n.Do("PUT", "/v1/boards/new", `{}`),
		n.Do("PUT", "/v1/boards/stars/hidden/ana", ""),
		n.Do("PUT", "/v1/members/user/ana", `{"name":"Ana"}`),
		n.Do("POST", "/v1/boards/new/scores", `{"member":"ana","score":1}`),
		n.Do("GET", "/readyz", ""),
	} {
		servertest.RequireProblem(t, a, 503, "unavailable", "")
		require.Contains(t, a.Body, reason)
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
	s.Send(`{"type":"update","id":1,"board":"stars","update":{"member":"ana","score":1,"id":"1"}}`)
	answer, err := s.Raw()
	require.NoError(t, err)
	require.Contains(t, string(answer), `"code":"unavailable"`)
	require.Contains(t, string(answer), reason)
	require.Equal(t, before, r.Digest())

	r.AppURL(all...)
	redistest.Eventually(t, "the node to be ready by itself", isReady)
	a := post()
	require.Equal(t, 200, a.Status, a.Body)
	require.Contains(t, a.Body, `"duplicate":false`)
	require.Contains(t, post().Body, `"duplicate":true`)
	_, total := n.Top("stars", 10)
	require.EqualValues(t, 1, total)
}
