package server_test

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
	"rankcast/server/servertest/contract"
)

// keyLine is a line of an access file, for the key of a name.
func keyLine(name, rest string) string {
	return "  - {name: " + name + ", hash: HASH:" + name + ", " + rest + "}\n"
}

// token is a token for a member, which is valid for a time.
func token(g *accesstest.Guard, sub string, boards, events []string, valid time.Duration) string {
	return g.Token(access.TokenContent{Sub: sub, Boards: boards, Events: events, Expires: time.Now().Add(valid)})
}

// bearer is the header of a request with credentials; "" for none.
func bearer(credentials string) []string {
	if credentials == "" {
		return nil
	}
	return []string{"Authorization", "Bearer " + credentials}
}

// untilLine reads an event stream up to a line that holds a text.
func untilLine(t *testing.T, events *bufio.Scanner, text string) {
	t.Helper()
	for events.Scan() {
		if strings.Contains(events.Text(), text) {
			return
		}
	}
	t.Fatalf("the stream ended while waiting for %s: %v", text, events.Err())
}

// code is the code of a problem, and the field that it is about.
func code(a servertest.Answer) string {
	var p struct{ Code, Field string }
	a.Into(&p)
	return strings.TrimSuffix(p.Code+" "+p.Field, " ")
}

func sum(top []hubtest.Entry) (total int64) {
	for _, e := range top {
		total += e.Score
	}
	return total
}

// readF1 reads a file of testdata/f1; see the README there for its source.
func readF1(t testing.TB, name string) [][]string {
	f, err := os.Open("testdata/f1/" + name)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

func integer(t testing.TB, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

func readSeasons(t testing.TB) map[string][]*round {
	seasons := make(map[string][]*round)
	get := func(season, number string) *round {
		n := int(integer(t, number))
		for _, r := range seasons[season] {
			if r.number == n {
				return r
			}
		}
		r := &round{number: n, standings: make(map[string]int64)}
		seasons[season] = append(seasons[season], r)
		return r
	}
	for _, e := range readF1(t, "events.csv") {
		r := get(e[0], e[1])
		r.results = append(r.results, raceResult{strings.Join([]string{e[0], e[1], e[4], e[5]}, "/"), e[0], e[5], e[6], e[7]})
	}
	for _, s := range readF1(t, "standings.csv") {
		if points := integer(t, s[3]); points > 0 {
			get(s[0], s[1]).standings[s[2]] = points
		}
	}
	for _, rounds := range seasons {
		slices.SortFunc(rounds, func(a, b *round) int { return a.number - b.number })
	}
	return seasons
}

// results are the events of some rounds, as they are sent.
func results(rounds []*round) (events []string) {
	for _, r := range rounds {
		for _, e := range r.results {
			events = append(events, fmt.Sprintf(`{"id":%q,"season":%q,"driver":%q,"constructor":%q,"tenths":%s}`, e.id, e.season,
				e.driver, e.constructor, e.tenths))
		}
	}
	return events
}

// rawRequest sends the lines of a request's head, and a body, as they are.
func rawRequest(t *testing.T, addr, head, body string) servertest.Answer {
	t.Helper()
	conn := servertest.Connect(t, addr)
	_, err := fmt.Fprintf(conn, "%s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", strings.ReplaceAll(head, "\n", "\r\n"),
		len(body), body)
	require.NoError(t, err)
	method, _, _ := strings.Cut(head, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return servertest.NewAnswer(t, res.StatusCode, res.Header, string(b))
}

// limited starts a node with limits, behind a proxy on this machine.
func limited(t *testing.T, url string, limits access.Config) *servertest.Node {
	return servertest.Start(t, url, servertest.Config{Server: server.Config{
		Limits: limits, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}}, definition.Board{Name: "b"}, definition.Board{Name: "c"})
}

// requireLimited requires a problem with a time after which to come back, and that the node has counted it.
func requireLimited(t *testing.T, n *servertest.Node, a servertest.Answer, status int, code, limit string) {
	t.Helper()
	servertest.RequireProblem(t, a, status, code, "")
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, seconds)
	require.Positive(t, maps.Collect(n.Server.Limited())[limit])
}

// dialShrunk opens a connection that accepts little by itself, and sends the head of a request.
func dialShrunk(t *testing.T, n *servertest.Node, from, head string) net.Conn {
	conn := servertest.Connect(t, n.Addr)
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	fmt.Fprintf(conn, "%s\r\nHost: %s\r\nX-Forwarded-For: %s\r\n\r\n", head, n.Addr, from)
	return conn
}

// scriptCalls counts the calls of scripts that a Redis has had.
func scriptCalls(t *testing.T, r *redistest.Redis) (calls int) {
	t.Helper()
	info, err := r.Admin().Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=(\d+)`).FindAllStringSubmatch(info, -1) {
		k, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		calls += k
	}
	return calls
}

// walk reads all pages of a list and returns their members. path is that of the first page, and has a query.
func walk(t *testing.T, n *servertest.Node, path string) (members []string) {
	t.Helper()
	type entry struct{ Member string }
	for cursor := ""; ; {
		var page struct {
			Top, Members []entry
			Cursor       *string
		}
		a := n.Require(200, "GET", path+cursor, "")
		a.Into(&page)
		for _, e := range append(page.Top, page.Members...) {
			members = append(members, e.Member)
		}
		if page.Cursor == nil {
			return members
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Cursor)
	}
}

func TestMain(m *testing.M) {
	redistest.Main(contract.HTTP(m), servertest.IdleConnections()...)
}

const patience = servertest.Patience
