package live_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/request"
	"rankcast/server/live"
	"rankcast/server/servertest"
)

// stuckUpdater never answers an update before the caller gives it up.
type stuckUpdater struct{ began chan struct{} }

func (u stuckUpdater) Update(ctx context.Context, _ string, _ request.Object) ([]byte, error) {
	u.began <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (u stuckUpdater) Event(ctx context.Context, _ *access.Caller, _ string, fields request.Object) ([]byte, error) {
	return u.Update(ctx, "", fields)
}

// noFeed is the feed of a hub without watched boards.
type noFeed struct{}

func (noFeed) Watch(string)    {}
func (noFeed) Unwatch(string)  {}
func (noFeed) Follow(string)   {}
func (noFeed) Unfollow(string) {}

// A stop waits for the calls of clients until its grace ends, and not for longer, however long the
// store takes.
func TestStopGivesUpCallsWhenItsGraceEnds(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		`{"type":"update","id":1,"board":"b","update":{"member":"m","score":1}}`,
		`{"type":"event","id":1,"event":"e","data":{}}`,
	} {
		log := slog.New(slog.DiscardHandler)
		rdb := redistest.Dial(t, redistest.Embedded(t))
		store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
		defer store.Close()
		h := hub.New(store, noFeed{}, hub.Config{Log: log})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			h.Run(ctx)
			close(ended)
		}()
		updater := stuckUpdater{make(chan struct{})}
		guard := access.NewOpenGuard()
		sessions := live.New(store, updater, h, live.Config{MaxTop: 10, WriteTimeout: patience, Origins: origin.New(nil, nil, log),
			Guard: guard, Limits: access.New(access.Config{})})
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := sessions.Accept(w, r, access.Address{}, func() (*access.Caller, error) { return guard.Anonymous(), nil }); err != nil {
				t.Error(err)
			}
		}))
		s := servertest.Dial(t, web.Listener.Addr().String())
		s.Send("%s", message)
		redistest.Receive(t, "a value from updater.began", updater.began)

		grace, end := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			sessions.Stop(grace)
			close(stopped)
		}()
		s.Next("bye")
		select {
		case <-stopped:
			t.Fatal("the stop did not wait for the call")
		default:
		}
		end()
		select {
		case <-stopped:
		case <-time.After(patience):
			t.Fatal("the stop waits for the call beyond its grace")
		}
		web.Close()
		cancel()
		redistest.Receive(t, "the run to end", ended)
	}
}
