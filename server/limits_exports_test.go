package server_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// heldExport is a node whose Redis does not answer what is about the board b, and an export of it that waits. The
// headers are of the export. end makes it fail.
func heldExport(t *testing.T, limits access.Config, header ...string) (n *servertest.Node, end func() servertest.Answer) {
	proxy := redistest.StartProxy(t, redistest.Start(t).URL())
	n = limited(t, proxy.URL(), limits)
	require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":1}`).Status)
	require.Equal(t, 200, n.Do("GET", "/v1/boards/b/export", "", header...).Status)
	proxy.Hold("{b}")
	first := make(chan servertest.Answer, 1)
	go func() {
		a, _ := servertest.Try(t, "GET", "http://"+n.Addr+"/v1/boards/b/export", "", header...)
		first <- a
	}()
	redistest.Eventually(t, "the export to wait for Redis", func() error {
		if proxy.Held() == 0 {
			return errors.New("nothing waits")
		}
		return nil
	})
	return n, func() servertest.Answer {
		proxy.Hold()
		proxy.Cut()
		return redistest.Receive(t, "a value from first", first)
	}
}

// An export keeps its place until it ends, also by an error.
func TestLimitOfExports(t *testing.T) {
	t.Parallel()
	n, end := heldExport(t, access.Config{Exports: 1})
	export := func() servertest.Answer { return n.Do("GET", "/v1/boards/b/export", "") }
	requireLimited(t, n, export(), 503, "overloaded", "exports")
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards/b/export?format=xml", ""), 400, "invalid_request", "format")
	require.Equal(t, 503, end().Status, "its connection to Redis has failed")
	redistest.Eventually(t, "the place of an export that has ended to be free", func() error {
		if a := export(); a.Status != 200 {
			return errors.New(a.Body)
		}
		return nil
	})
}

// One address gets half of the exports of a node.
func TestLimitOfExportsOfAnAddress(t *testing.T) {
	t.Parallel()
	n, end := heldExport(t, access.Config{Exports: 2}, "X-Forwarded-For", phone)
	export := func() servertest.Answer {
		return n.Do("GET", "/v1/boards/b/export", "", "X-Forwarded-For", phone)
	}
	requireLimited(t, n, export(), 429, "limit_reached", "address_exports")
	end()
	redistest.Eventually(t, "the place of an export that has ended to be free", func() error {
		if a := export(); a.Status != 200 {
			return errors.New(a.Body)
		}
		return nil
	})
}
