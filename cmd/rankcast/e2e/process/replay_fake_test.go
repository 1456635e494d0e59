package process

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// gift is the event that a fake server has.
const gift = `{"event":"gift","updates":[
	{"board":"fans:{star}","member":"{user}","score":"{flowers}"},
	{"board":"givers","member":"{user}","score":"-{less}","op":"sum","data":{"at":"{at}","more":["{n}"]}}]}`

// fake is a server that takes everything but what is too large, and keeps it.
type fake struct {
	*httptest.Server
	event  string // as GET answers
	mu     sync.Mutex
	paths  []string
	bodies []string
}

func startFake(t *testing.T, answer func(n int, w http.ResponseWriter) bool) *fake {
	f := &fake{event: gift}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.Method == http.MethodGet && r.URL.Path == "/v1/events/gift" {
			io.WriteString(w, f.event)
			return
		}
		f.paths, f.bodies = append(f.paths, r.Method+" "+r.URL.Path), append(f.bodies, string(body))
		if answer != nil && answer(len(f.bodies), w) {
			return
		}
		var list map[string][]json.RawMessage
		if err := json.Unmarshal(body, &list); err != nil {
			t.Error(err)
		}
		event, err := definition.ParseEvent("gift", []byte(f.event))
		if err != nil {
			t.Error(err)
		}
		if len(body) > 1<<20 || len(list["events"])*len(event.Updates) > ranking.MaxEventUpdates {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			io.WriteString(w, `{"code":"too_large","detail":"comes to too much"}`)
			return
		}
		ok := `{"board":"b","member":"m","score":1,"rank":1}`
		for name, items := range list {
			if name == "events" {
				ok = `{"results":[` + ok + `]}`
			}
			io.WriteString(w, `{"results":[`+strings.TrimSuffix(strings.Repeat(ok+",", len(items)), ",")+`]}`)
		}
	}))
	t.Cleanup(f.Close)
	return f
}
