package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
)

// Updates and events of a board with shards are answered without ranks, unless the caller asks for them. What does not go with shards
// is refused, with the field.
func TestShardsOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/boards/votes", `{"shards":3,"kind":"user"}`)
		n.Require(201, "PUT", "/v1/boards/plain", `{"kind":"user"}`)
		require.Contains(t, n.Require(200, "GET", "/v1/boards/votes", "").Body, `"shards":3`)
		refuses := func(status int, field, method, path, body string) {
			t.Helper()
			require.Contains(t, n.Require(status, method, path, body).Body, fmt.Sprintf(`"field":"%s"`, field))
		}
		for _, shards := range []string{"1", "17", "-1", `"3"`, "2.5"} {
			refuses(400, "shards", "PUT", "/v1/boards/other", `{"shards":`+shards+`}`)
		}
		for field, value := range map[string]string{
			"window": `"1h"`, "limit": `10,"mode":"best"`, "member_ttl": `"1h"`, "history": `"1m"`, "ties": `"dense"`, "tie_span": `"1h"`,
		} {
			refuses(400, field, "PUT", "/v1/boards/other", fmt.Sprintf(`{"shards":2,"%s":%s}`, field, value))
		}
		refuses(400, "from_rank", "GET", "/v1/boards/votes/top?from_rank=10001", "")
		n.Require(200, "GET", "/v1/boards/plain/top?from_rank=10001", "")

		update := func(path, body string) string { return n.Require(200, "POST", path, body).Body }
		require.Contains(t, update("/v1/boards/votes/scores", `{"member":"ana","score":5}`), `"score":5,"rank":null,"previous":null`)
		refuses(409, "shards", "PUT", "/v1/boards/votes", `{"shards":4,"kind":"user"}`)
		refuses(409, "shards", "PUT", "/v1/boards/votes", `{"kind":"user"}`)
		refuses(400, "rank", "POST", "/v1/boards/votes/scores?rank=maybe", `{"member":"ana","score":5}`)
		n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"votes","member":"{to}","score":"{n}"},
			{"board":"plain","member":"{to}","score":"{n}"}]}`)
		for _, step := range []struct{ path, body, want string }{
			{"/v1/boards/votes/scores", `{"member":"bo","score":7}`, "1"},
			{"/v1/boards/votes/scores", `{"member":"ana","score":1}`, "2"},
			{"/v1/boards/votes/scores", `{"updates":[{"member":"cy","score":5},{"member":"bo","score":1},
				{"member":"","score":1},{"member":"di","score":1}]}`, "3 1 null 4"},
			{"/v1/events/gift", `{"to":"di","n":20}`, "1 1"},
			{"/v1/events/gift", `{"events":[{"to":"ana","n":1},{"to":"cy","n":0}]}`, "3 2 4 3"},
			{"/v1/boards/plain/scores", `{"member":"ana","score":1}`, "2"},
		} {
			var a answer
			n.Require(200, "POST", step.path+"?rank=true", step.body).Into(&a)
			require.Equal(t, step.want, strings.Join(a.ranks(), " "), step.body)
		}
		n.Require(204, "PUT", "/v1/boards/votes/hidden/bo", `{}`)
		var hidden answer
		n.Require(200, "POST", "/v1/boards/votes/scores?rank=true", `{"member":"bo","score":1}`).Into(&hidden)
		require.Equal(t, []string{"null"}, hidden.ranks())
	})
}

// answer is the result of an update or an event, or the results of several.
type answer struct {
	Rank    *int64
	Results []answer
}

// ranks are those of all results, or null.
func (a answer) ranks() (all []string) {
	for _, r := range a.Results {
		all = append(all, r.ranks()...)
	}
	if a.Results == nil && a.Rank != nil {
		all = []string{fmt.Sprint(*a.Rank)}
	} else if a.Results == nil {
		all = []string{"null"}
	}
	return all
}
