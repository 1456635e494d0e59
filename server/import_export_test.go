package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

const ndjson, commas = "application/x-ndjson", "text/csv"

// imports sends an import and requires that it is taken whole.
func imports(t *testing.T, n *servertest.Node, board, form, body string) {
	t.Helper()
	a := n.Require(200, "POST", "/v1/boards/"+board+"/import", body, "Content-Type", form)
	require.Contains(t, a.Body, `"refused":0,"first_errors":[]`)
}

// A board goes out and in again in both forms, whatever its members are called.
func TestExportAndImportOverHTTP(t *testing.T) {
	setup := servertest.With(servertest.Config{}, definition.Board{Name: "b"},
		definition.Board{Name: "copy:{n}", Ties: definition.Shared}, definition.Board{Name: "week", Period: "week"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		const lines = `{"member":"é  \"q\", \\ <b>","score":9007199254740991}
{"member":"z","score":5,"data":{"a":"x,\"y\""}}
{"member":" a","score":5}
{"member":"\\.","score":5,"data":"\u2028"}
{"member":"#c,d","score":-5,"data":[1,null]}
`
		const csv = "member,score,data\n" + "\"é  \"\"q\"\", \\ <b>\",9007199254740991,\n" +
			`z,5,"{""a"":""x,\""y\""""}"` + "\n\" a\",5,\n\"\\.\",5,\"\"\"\u2028\"\"\"\n\"#c,d\",-5,\"[1,null]\"\n"
		imports(t, n, "b", ndjson, lines)
		for i, c := range []struct{ query, contentType, want, form string }{
			{"", ndjson, lines, ndjson}, {"?format=ndjson", ndjson, lines, "Application/X-NDJSON; charset=UTF-8"},
			{"?format=csv", "text/csv; charset=utf-8", csv, commas},
		} {
			a := n.Require(200, "GET", "/v1/boards/b/export"+c.query, "")
			require.Equal(t, c.contentType, a.Header.Get("Content-Type"))
			require.Equal(t, strings.TrimSpace(c.want), a.Body)
			copied := fmt.Sprint("copy:", i)
			imports(t, n, copied, c.form, a.Body)
			require.Equal(t, a.Body, n.Do("GET", "/v1/boards/"+copied+"/export"+c.query, "").Body)
		}
		head := n.Do("HEAD", "/v1/boards/b/export?format=csv", "")
		require.Equal(t, [2]any{200, ""}, [2]any{head.Status, head.Body})

		require.Empty(t, n.Do("GET", "/v1/boards/week@-1/export", "").Body)
		require.Equal(t, "member,score,data", n.Do("GET", "/v1/boards/week@-1/export?format=csv", "").Body)
		a := n.Do("POST", "/v1/boards/week/import", "\xef\xbb\xbfdata,score,member\r\n\r\n,7,a\r\n \"7\",7,b\r\n", "Content-Type", commas)
		servertest.RequireProblem(t, a, 400, "invalid_request", "line")
		a = n.Do("POST", "/v1/boards/week/import", "\xef\xbb\xbfdata,score,member\r\n\r\n,7,a\r\n\"7\",7,b", "Content-Type", commas)
		require.Regexp(t, `^{"board":"week","period":"\d{4}-W\d\d","imported":2,"refused":0,"first_errors":\[\]}$`, a.Body)
		imports(t, n, "week", commas, "member,score\na,8\nb,8")
		require.Equal(t, `{"member":"a","score":8}`+"\n"+`{"member":"b","score":8,"data":7}`, n.Do("GET", "/v1/boards/week/export", "").Body)
		imports(t, n, "week", ndjson, `{"member":"b","score":8,"data":null}`)
		require.NotContains(t, n.Do("GET", "/v1/boards/week/export", "").Body, "data")
		imports(t, n, "week", ndjson, "")
	})
}

// What is wrong with an import is told with its line, and what was done before it.
func TestImportRefusesOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		n := servertest.Start(t, at, servertest.Config{}, definition.Board{Name: "b", Max: new(int64(100))},
			definition.Board{Name: "week", Period: "week"})
		const good = `{"member":"a","score":1}` + "\n"
		for _, c := range []struct {
			name, board, form, body, code, field string
			status, line, imported, refused      int
		}{
			{"unknown board", "nope", ndjson, good, "unknown_board", "board", 404, 0, 0, 0},
			{"a period", "week@-1", ndjson, good, "not_open", "board", 409, 0, 0, 0},
			{"a family", "fans:%7Bstar%7D", ndjson, good, "invalid_request", "board", 400, 0, 0, 0},
			{"not JSON", "b", ndjson, good + "\n" + `{"member":"b"`, "invalid_request", "line", 400, 3, 1, 0},
			{"CSV for NDJSON", "b", ndjson, "member,score\na,1", "invalid_request", "line", 400, 1, 0, 0},
			{"not an object", "b", ndjson, "[]", "invalid_request", "line", 400, 1, 0, 0},
			{"two on a line", "b", ndjson, `{"member":"a","score":1}{"member":"b","score":1}`, "invalid_request", "line", 400, 1, 0, 0},
			{"no score", "b", ndjson, `{"member":"a"}`, "invalid_request", "score", 400, 1, 0, 0},
			{"a fraction", "b", ndjson, `{"member":"a","score":1.5}`, "invalid_request", "score", 400, 1, 0, 0},
			{"an op", "b", ndjson, `{"member":"a","score":1,"op":"sum"}`, "invalid_request", "op", 400, 1, 0, 0},
			{"data too long", "b", ndjson, `{"member":"a","score":1,"data":"` + strings.Repeat("x", 256) + `"}`, "invalid_request",
				"data", 400, 1, 0, 0},
			{"data that is not UTF-8", "b", ndjson, "{\"member\":\"a\",\"score\":1,\"data\":\"\xff\"}", "invalid_request", "data", 400, 1, 0, 0},
			{"a line too long", "b", ndjson, good + strings.Repeat(" ", 5000) + good, "too_large", "line", 413, 2, 1, 0},
			{"a line without end", "b", ndjson, good + strings.Repeat("x", 1<<20), "too_large", "line", 413, 2, 1, 0},
			{"out of range before", "b", ndjson, good + `{"member":"b","score":101}` + "\n" + `{"member":"b","score":1e9}`,
				"invalid_request", "score", 400, 3, 1, 1},
			{"no columns", "b", commas, "a,1\n", "invalid_request", "line", 400, 1, 0, 0},
			{"a column too many", "b", commas, "member,score,rank\na,1,1", "invalid_request", "line", 400, 1, 0, 0},
			{"a column twice", "b", commas, "member,score,score\na,1,1", "invalid_request", "line", 400, 1, 0, 0},
			{"a column too few", "b", commas, "member\na", "invalid_request", "line", 400, 1, 0, 0},
			{"a value too many", "b", commas, "member,score\na,1\nb,1,2", "invalid_request", "line", 400, 3, 1, 0},
			{"an open quote", "b", commas, "member,score\n\"a,1\nb\",1", "invalid_request", "line", 400, 2, 0, 0},
			{"a bare quote", "b", commas, "member,score\na\"b,1", "invalid_request", "line", 400, 2, 0, 0},
			{"no number", "b", commas, "member,score\na,\n", "invalid_request", "score", 400, 2, 0, 0},
			{"data that is not JSON", "b", commas, "member,score,data\na,1,x\n", "invalid_request", "data", 400, 2, 0, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				a := n.Do("POST", "/v1/boards/"+c.board+"/import", c.body, "Content-Type", c.form)
				servertest.RequireProblem(t, a, c.status, c.code, c.field)
				var p struct {
					Detail                  string
					Line, Imported, Refused int
					FirstErrors             []struct {
						Line                 int
						Code, Message, Field string
					} `json:"first_errors"`
				}
				a.Into(&p)
				require.Equal(t, [3]int{c.line, c.imported, c.refused}, [3]int{p.Line, p.Imported, p.Refused}, a.Body)
				require.Len(t, p.FirstErrors, c.refused)
				if c.line > 0 {
					require.Regexp(t, fmt.Sprintf("^line %d: [a-z]", c.line), p.Detail)
					require.NotContains(t, p.Detail, "line: ")
				}
				for _, e := range p.FirstErrors {
					require.Less(t, e.Line, c.line, "the line that it stopped at is none of these")
					require.Equal(t, "out_of_range", e.Code)
				}
			})
		}
		a := n.Do("POST", "/v1/boards/b/import", "member,score\n\"a\nb\",1", "Content-Type", commas)
		require.Contains(t, a.Body, `"detail":"line 2: has no closing quote: a value may not have a line break"`)
		a = n.Do("POST", "/v1/boards/b/import", "member,score\n\"a\"b,1", "Content-Type", commas)
		require.Contains(t, a.Body, `"detail":"line 2: is not valid CSV: a value with a quote stands in quotes, with each quote inside doubled"`)
		a = n.Do("POST", "/v1/boards/b/import", "member,score\na,40.0", "Content-Type", commas)
		require.Contains(t, a.Body, `"detail":"line 2: score: is 40.0; want an integer: write 40"`)
		a = n.Do("POST", "/v1/boards/b/import", good+`{"member":"b","score":101}`+"\n[]\n"+good, "Content-Type", ndjson)
		require.Contains(t, a.Body,
			`"detail":"line 3: is not a JSON object","field":"line","line":3,"board":"b","period":"","imported":1,"refused":1,`+
				`"first_errors":[{"line":2,"code":"out_of_range",`)
		for field, header := range map[string][]string{
			"Content-Type":     {"Content-Type", "application/json"},
			"Content-Encoding": {"Content-Type", ndjson, "Content-Encoding", "gzip"},
			"Origin":           {"Content-Type", ndjson, "Sec-Fetch-Site", "cross-site"},
			"x":                {"Content-Type", ndjson},
		} {
			path := "/v1/boards/b/import"
			if field == "x" {
				path += "?x=1"
			}
			a := n.Do("POST", path, good, header...)
			require.Contains(t, a.Body, fmt.Sprintf(`"field":%q}`, field), a.Body)
		}
		servertest.RequireProblem(t, n.Do("POST", "/v1/boards/b/import", good, "Content-Type", ndjson+"; charset=latin1"), 415,
			"unsupported_media_type", "Content-Type")
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/b/export?format=xml", ""), 400, "invalid_request", "format")
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/nope/export", ""), 404, "unknown_board", "board")

		// Out of range alone is counted, and the rest goes on.
		a = n.Require(200, "POST", "/v1/boards/b/import", `{"member":"x","score":101}`+"\n"+`{"member":"y","score":99999999999999999999}`+"\n"+
			`{"member":"z","score":100}`, "Content-Type", ndjson)
		require.Contains(t, a.Body, `"imported":1,"refused":2,"first_errors":[{"line":1,"code":"out_of_range","message":"score: is`)
	})
}

// A member that no request may create refuses its row alone, whatever is wrong with it.
func TestImportRefusesWrongMembersAlone(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		for name, line := range map[string][2]string{
			"missing":           {`{"score":1}`, ",1"},
			"a control":         {`{"member":"a\tb","score":1}`, "a\tb,1"},
			"a direction":       {`{"member":"a\u202cb","score":1}`, "a\u202cb,1"},
			"invisible":         {`{"member":" ","score":1}`, " ,1"},
			"resolved by paths": {`{"member":"..","score":1}`, "..,1"},
			"long":              {`{"member":"` + strings.Repeat("x", 129) + `","score":1}`, strings.Repeat("x", 129) + ",1"},
			"not UTF-8":         {"{\"member\":\"\xff\",\"score\":1}", "\xff,1"},
			"half an emoji":     {`{"member":"Ana \ud83d","score":1}`, "Ana \xed\xa0\xbd,1"},
			"no text":           {`{"member":7,"score":1}`, "\xff,1"},
		} {
			t.Run(name, func(t *testing.T) {
				for form, lines := range map[string]string{
					ndjson: `{"member":"a","score":1}` + "\n" + line[0] + "\n" + `{"member":"b","score":1}`,
					commas: "member,score\n" + line[1] + "\na,1\nb,1",
				} {
					a := n.Require(200, "POST", "/v1/boards/b/import", lines, "Content-Type", form)
					require.Contains(t, a.Body, `"imported":2,"refused":1,"first_errors":[{"line":2,"code":"invalid_request","message":"member: `, form)
				}
			})
		}
	})
}

// A line that is cut off by the end of the connection, or by a client that sends no more,
// is not taken for a shorter one.
func TestInterruptedImport(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{RequestTimeout: time.Second}},
		definition.Board{Name: "b:{n}"})
	begin := func(board string) net.Conn {
		conn := servertest.Connect(t, n.Addr)
		fmt.Fprintf(conn, "POST /v1/boards/%s/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: "+
			"1000\r\n\r\nmember,score\na,1\nb,12", board)
		return conn
	}
	holds := func(board string) {
		redistest.UntilEqual(t, "the first line", `{"member":"a","score":1}`, func() string {
			return n.Do("GET", "/v1/boards/"+board+"/export", "").Body
		})
	}
	begin("b:1").Close()
	holds("b:1")

	a := servertest.ReadAnswer(t, begin("b:2"))
	servertest.RequireProblem(t, a, 400, "invalid_request", "body")
	require.Contains(t, a.Body, `"imported":1,"refused":0`)
	holds("b:2")
}

// slowly passes on a part at a time.
type slowly struct {
	io.Reader
	pause time.Duration
	took  func(n int)
}

func (s slowly) Read(b []byte) (int, error) {
	time.Sleep(s.pause) // a slow client is what is tested
	n, err := s.Reader.Read(b[:min(len(b), 8<<10)])
	if s.took != nil {
		s.took(n)
	}
	return n, err
}

// A large board goes from one board to another in bounded memory, and for as long as it
// goes on, however much longer than a request may take; an export that nobody takes ends.
// It is not parallel: it measures the heap of the process.
func TestLargeBoardsInBoundedMemory(t *testing.T) {
	const members, limit = 20_000, time.Second
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{Server: server.Config{RequestTimeout: limit}},
		definition.Board{Name: "b:{n}"})
	lines := func(yield func(string)) {
		for i := range members {
			yield(fmt.Sprintf(`{"member":"%s-%05d","score":%d,"data":"%s"}`+"\n", strings.Repeat("m", 100), i, 1000-i/100, strings.Repeat("d", 200)))
		}
	}
	pipe := func(write func(io.Writer)) io.Reader {
		r, w := io.Pipe()
		go func() {
			write(w)
			w.Close()
		}()
		return r
	}
	post := func(board string, body io.Reader) string {
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+n.Addr+"/v1/boards/"+board+"/import", body)
		require.NoError(t, err)
		req.Header.Set("Content-Type", ndjson)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(b)
	}
	// One that takes little without being read.
	small := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: (&net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10) })
		}}).DialContext}}
	get := func(ctx context.Context, board string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, "GET", "http://"+n.Addr+"/v1/boards/"+url.PathEscape(board)+"/export", nil)
		require.NoError(t, err)
		res, err := small.Do(req)
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode)
		return res
	}
	done := fmt.Sprintf(`"imported":%d,"refused":0`, members)
	require.Contains(t, post("b:1", pipe(func(w io.Writer) { lines(func(line string) { io.WriteString(w, line) }) })), done)

	// Out and in at once, slowly.
	res := get(t.Context(), "b:1")
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	read, started := 0, time.Now()
	var held []int64 // after each half MiB
	require.Contains(t, post("b:2", slowly{res.Body, 2 * time.Millisecond, func(n int) {
		if read += n; read%(512<<10) < n {
			runtime.GC()
			runtime.ReadMemStats(&now)
			held = append(held, int64(now.HeapAlloc)-int64(before.HeapAlloc))
		}
	}}), done)
	res.Body.Close()
	require.Greater(t, time.Since(started), limit, "longer than a request may take")
	require.Greater(t, read, 6<<20)
	// Single figures contain what the process happens to do meanwhile. The node holds one batch, or two and a page: 0.9 to 2.6 MB. A node
	// that held all would hold three quarters of it here.
	half := slices.Sorted(slices.Values(held[len(held)/2:]))
	require.Less(t, half[len(half)/2], int64(read)/2, "held at once of what went through: the median of the second half")
	a, b := get(t.Context(), "b:1"), get(t.Context(), "b:2")
	defer a.Body.Close()
	defer b.Body.Close()
	same(t, a.Body, b.Body)

	// A client that goes, and one that takes nothing.
	ctx, cancel := context.WithCancel(t.Context())
	gone := get(ctx, "b:1")
	cancel()
	gone.Body.Close()
	stuck := get(t.Context(), "b:1")
	defer stuck.Body.Close()
	redistest.Until(t, "the export to be given up", func() bool {
		buf := make([]byte, 1<<20)
		return !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "getExport")
	})
	_, err := io.Copy(io.Discard, stuck.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "nobody takes a part for the whole")
}

// same requires that two streams are.
func same(t *testing.T, a, b io.Reader) {
	t.Helper()
	first, second := bufio.NewScanner(a), bufio.NewScanner(b)
	for n := 1; first.Scan(); n++ {
		require.True(t, second.Scan(), "line %d", n)
		require.Equal(t, first.Text(), second.Text(), "line %d", n)
	}
	require.NoError(t, first.Err())
	require.False(t, second.Scan())
	require.NoError(t, second.Err())
}

// An export that Redis breaks off ends where it is, for all to see.
func TestInterruptedExport(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	n := servertest.Start(t, redis.URL(), servertest.Config{}, definition.Board{Name: "b"})
	var body strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&body, `{"member":"%s-%05d","score":1}`+"\n", strings.Repeat("m", 120), i)
	}
	imports(t, n, "b", ndjson, body.String())
	small := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := small.Get("http://" + n.Addr + "/v1/boards/b/export")
	require.NoError(t, err)
	defer res.Body.Close()
	redis.Kill()
	got, err := io.ReadAll(res.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, len(got), body.Len())
	a := n.Do("GET", "/v1/boards/b/export", "")
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	a = n.Do("POST", "/v1/boards/b/import", `{"member":"a","score":1}`, "Content-Type", ndjson)
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	require.Contains(t, a.Body, `send the import again`)
	require.Contains(t, a.Body, `"imported":0`)
}
