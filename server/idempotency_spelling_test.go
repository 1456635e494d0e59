package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A retry whose JSON was written anew is a duplicate, alone, in a batch and as an event.
func TestRetryInOtherWords(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	require.Equal(t, 201, n.Do("PUT", "/v1/events/e", `{"updates":[{"board":"b","member":"m","score":1,"data":{"d":"{d}"}}]}`).Status)
	for _, c := range []struct {
		path string
		same []string
		not  string
	}{
		{"/v1/boards/b/scores", []string{
			`{"member":"m","score":1,"id":"1","data":{"x":1,"y":[2,"A"]}}`,
			`{"id":"1","data":{"y":[20e-1,"\u0041"],"x":1.0},"op":"sum","score":1,"member":"m"}`,
		}, `{"member":"m","score":1,"id":"1","data":{"x":"1","y":[2,"A"]}}`},
		{"/v1/boards/b/scores", []string{
			`{"member":"m","score":1,"id":"2"}`,
			`{"id":"2","score":1,"member":"m"}`,
		}, `{"member":"m","score":1,"id":"2","data":null}`}, // without data, those before stay; null removes them
		{"/v1/events/e", []string{
			`{"id":"3","d":{"x":9007199254740993,"y":0}}`,
			`{"d":{"y":-0.0,"x":9007199254740993.0},"id":"3"}`,
		}, `{"id":"3","d":{"x":9007199254740992,"y":0}}`},
	} {
		for i, body := range c.same {
			answer := n.Do("POST", c.path, body)
			require.Equal(t, 200, answer.Status, answer.Body)
			require.Contains(t, answer.Body, `"duplicate":`+map[bool]string{true: "true", false: "false"}[i > 0], body)
		}
		servertest.RequireProblem(t, n.Do("POST", c.path, c.not), 409, "idempotency_mismatch", "id")
	}
}
