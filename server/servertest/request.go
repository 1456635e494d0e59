package servertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/server/servertest/contract"
)

// Patience bounds every wait of a test for one event.
const Patience = time.Minute

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	t      testing.TB
}

// NewAnswer makes the Answer of a request that a test has sent by itself.
func NewAnswer(t testing.TB, status int, header http.Header, body string) Answer {
	return Answer{status, header, strings.TrimSpace(body), t}
}

// Into decodes the JSON body into v.
func (a Answer) Into(v any) {
	a.t.Helper()
	require.NoError(a.t, json.Unmarshal([]byte(a.Body), v), a.Body)
}

// Is returns an error unless the answer has a status.
func (a Answer) Is(status int) error {
	if a.Status != status {
		return fmt.Errorf("%d %s", a.Status, a.Body)
	}
	return nil
}

// RequireProblem requires a complete problem (RFC 9457) with that status, code and field.
func RequireProblem(t testing.TB, a Answer, status int, code, field string) {
	t.Helper()
	require.Equal(t, status, a.Status, a.Body)
	require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
	contract.SeeProblem([]byte(a.Body))
	var p struct {
		Type, Title, Code, Detail, Field string
		Status                           int
	}
	a.Into(&p)
	require.Equal(t, code, p.Code, a.Body)
	require.Equal(t, field, p.Field, a.Body)
	require.Equal(t, status, p.Status)
	require.NotEmpty(t, p.Detail)
	require.NotEmpty(t, p.Title)
	if status == 503 {
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
}

// Request sends a request; body is JSON text, or "" for none.
func Request(t testing.TB, method, url, body string, header ...string) Answer {
	t.Helper()
	a, err := Try(t, method, url, body, header...)
	require.NoError(t, err)
	return a
}

// Try sends a request, and returns an error if the server does not answer. The answer must be by the contract, and so
// must a request that the server accepts.
func Try(t testing.TB, method, url, body string, header ...string) (Answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Timeout: Patience}
	res, err := client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil {
		contract.CheckHTTP(t, req, []byte(body), res, b)
	}
	return NewAnswer(t, res.StatusCode, res.Header, string(b)), err
}

// Connect opens a connection to the server at addr. Reads and writes of it fail after Patience, and it closes with the
// test.
func Connect(t testing.TB, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(Patience)))
	return conn
}

// ReadAnswer reads the answer to a GET or a POST.
func ReadAnswer(t testing.TB, from io.Reader) Answer {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(from), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return NewAnswer(t, res.StatusCode, res.Header, string(body))
}

// Top reads the top of a board of the server at addr.
func Top(t testing.TB, addr, board string, limit int) (top []hubtest.Entry, total int64) {
	t.Helper()
	var body struct {
		Top   []hubtest.Entry
		Total int64
	}
	a := Request(t, "GET", fmt.Sprintf("http://%s/v1/boards/%s/top?limit=%d", addr, board, limit), "")
	require.Equal(t, 200, a.Status, a.Body)
	a.Into(&body)
	return body.Top, body.Total
}
