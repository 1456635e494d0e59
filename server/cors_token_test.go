package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// A page of a named origin sends with a token what the token may, and nothing without one. A page of any other
// origin sends nothing, whatever it shows.
func TestPagesOfOtherSitesSendWithAToken(t *testing.T) {
	t.Parallel()
	const named, other = "https://example.com", "https://example.org"
	// Anybody may send the event, so that only the origin can be the reason of a refusal.
	g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+
		"anonymous: {scopes: [read, write], boards: [a], events: [gift]}\ntokens: {secret_file: secret}\n")
	key := g.Key("ops")
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Server: server.Config{Access: g.Guard, Origins: []string{named}}}, definition.Board{Name: "a"})
	a := n.Do("PUT", "/v1/events/gift", `{"updates":[{"board":"a","member":"{user}","score":1}],"sender":"user"}`,
		"Authorization", "Bearer "+key)
	require.Equal(t, 201, a.Status, "%s", a.Body)
	valid := token(g, "m", nil, []string{"gift"}, time.Hour)
	for _, c := range []struct {
		origin, credentials string
		status              int
		code, field         string
		allows              string
	}{
		{named, "", 403, "forbidden", "Origin", named},
		{named, valid, 200, "", "", named},
		{named, key, 200, "", "", named},
		{named, valid + "x", 401, "unauthorized", "", named}, // the page can read why
		{other, "", 403, "forbidden", "Origin", ""},
		{other, valid, 403, "forbidden", "Origin", ""},
		{other, key, 403, "forbidden", "Origin", ""},
		{"null", valid, 403, "forbidden", "Origin", ""},
	} {
		header := []string{"Origin", c.origin, "Sec-Fetch-Site", "cross-site"}
		if c.credentials != "" {
			header = append(header, "Authorization", "Bearer "+c.credentials)
		}
		a := n.Do("POST", "/v1/events/gift", `{"user":"m"}`, header...)
		require.Equal(t, c.status, a.Status, "%+v: %s", c, a.Body)
		if c.code != "" {
			servertest.RequireProblem(t, a, c.status, c.code, c.field)
		}
		require.Equal(t, c.allows, a.Header.Get("Access-Control-Allow-Origin"), "%+v", c)
		require.Empty(t, a.Header.Get("Access-Control-Allow-Credentials"))
		preflight := n.Do("OPTIONS", "/v1/events/gift", "", "Origin", c.origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization,content-type")
		require.Equal(t, c.allows, preflight.Header.Get("Access-Control-Allow-Origin"))
		if c.allows != "" {
			require.Equal(t, 204, preflight.Status)
			require.Contains(t, preflight.Header.Get("Access-Control-Allow-Headers"), "Authorization")
		}
	}
	_, total := n.Top("a", 1)
	require.EqualValues(t, 1, total)
	top, _ := n.Top("a", 1)
	require.EqualValues(t, 2, top[0].Score, "the two that passed")
}
