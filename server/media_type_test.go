package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A body counts with each type that may stand beside JSON in UTF-8, and with no other type.
func TestTypesOfBodies(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b"})
		const update = `{"member":"ana","score":1}`
		accepted := []string{
			"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=UTF-8",
			`application/json; charset="utf8"`, "application/json; charset=US-ASCII",
			"application/json; profile=x", "application/json;", "application/vnd.game+json", "application/problem+json; charset=utf-8", "text/json",
			"application/x-www-form-urlencoded", "text/plain", "text/plain;charset=UTF-8", "",
		}
		for i, contentType := range accepted {
			a := n.Do("POST", "/v1/boards/b/scores", update, "Content-Type", contentType)
			require.Equal(t, 200, a.Status, "%q: %s", contentType, a.Body)
			require.Contains(t, a.Body, fmt.Sprintf(`"score":%d,`, i+1))
			require.Empty(t, a.Header.Get("Accept"))
		}
		a := rawRequest(t, n.Addr, "POST /v1/boards/b/scores HTTP/1.1\nHost: localhost\nContent-Encoding: Identity", update)
		require.Equal(t, 200, a.Status, a.Body)

		before := n.Do("GET", "/v1/boards/b", "").Body
		for _, contentType := range []string{"multipart/form-data; boundary=x", "application/octet-stream",
			"application/json; charset=utf-16", "application/x-ndjson", "application/json; charset", "json"} {
			a := n.Do("POST", "/v1/boards/b/scores", update, "Content-Type", contentType)
			servertest.RequireProblem(t, a, 415, "unsupported_media_type", "Content-Type")
			require.Equal(t, "application/json", a.Header.Get("Accept"))
			servertest.RequireProblem(t, n.Do("DELETE", "/v1/boards/b", update, "Content-Type", contentType), 415,
				"unsupported_media_type", "Content-Type")
		}
		zipped := n.Do("PUT", "/v1/boards/b", `{}`, "Content-Encoding", "gzip")
		servertest.RequireProblem(t, zipped, 415, "unsupported_media_type", "Content-Encoding")
		require.Equal(t, before, n.Do("GET", "/v1/boards/b", "").Body, "nothing has changed")

		// Without a body there is nothing whose type could be wrong; a missing route is missing first.
		servertest.RequireProblem(t, n.Do("DELETE", "/v1/boards/nope", "", "Content-Type", "image/png"), 404, "unknown_board", "board")
		servertest.RequireProblem(t, n.Do("POST", "/v1/nowhere", update, "Content-Type", "image/png"), 404, "not_found", "")
		servertest.RequireProblem(t, n.Do("PATCH", "/v1/boards/b", update, "Content-Type", "image/png"), 405, "method_not_allowed", "")
		foreign := n.Do("POST", "/v1/boards/b/scores", update, "Content-Type", "text/plain", "Origin", "http://evil.example",
			"Sec-Fetch-Site", "cross-site")
		servertest.RequireProblem(t, foreign, 403, "forbidden", "Origin")
	})
}
