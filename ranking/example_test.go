package ranking_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
	"rankcast/ranking/feed"
)

// orPanic keeps the examples short; a program handles its errors.
func orPanic[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// openStore opens a store inside the process. With a Redis of one's own it is
// ranking.Open("redis://localhost:6379") alone.
func openStore(boards ...definition.Board) (s *ranking.Store, newFeed func() *feed.Feed, end func()) {
	server := orPanic(embedded.Start())
	rdb := orPanic(ranking.Open(server.URL()))
	s = ranking.New(rdb, ranking.Config{})
	if err := s.Define(context.Background(), definition.Set{Boards: boards}); err != nil {
		panic(err)
	}
	newFeed = func() *feed.Feed { return feed.New(rdb, slog.New(slog.DiscardHandler), feed.Config{}) }
	end = func() {
		s.Close()
		rdb.Close()
		server.Close()
	}
	return s, newFeed, end
}

// A board is defined, written to and read in each way that there is.
func Example() {
	server := orPanic(embedded.Start()) // or any Redis: ranking.Open("redis://localhost:6379")
	defer server.Close()
	rdb := orPanic(ranking.Open(server.URL()))
	defer rdb.Close()
	s := ranking.New(rdb, ranking.Config{})
	defer s.Close()
	ctx := context.Background()
	if err := s.DefineBoard(ctx, definition.Board{Name: "stars", Ties: definition.Shared}, ranking.Moderator{}); err != nil {
		panic(err)
	}

	outcomes := orPanic(s.Apply(ctx, "stars", []definition.Update{
		{Member: "ann", Score: 30, ID: "gift-1"},
		{Member: "bob", Score: 50, ID: "gift-2"},
		{Member: "cid", Score: 30, ID: "gift-3"},
		{Member: "dee", Score: 10, ID: "gift-4"},
		{Member: "ann", Score: 30, ID: "gift-1"}, // again: it counts once
	}))
	last := outcomes[4]
	fmt.Println("duplicate:", last.Result.Duplicate, last.Err)

	page := orPanic(s.Page(ctx, "stars", 1, 3))
	for _, e := range page.Entries {
		fmt.Println("top:", e.Rank, e.Member, e.Score)
	}
	next := orPanic(s.Read(ctx, "stars", ranking.Query{After: page.Next(), Limit: 3}))
	fmt.Println("after these:", next.Entries[0].Rank, next.Entries[0].Member)

	n := orPanic(s.Around(ctx, "stars", "cid", 1))
	fmt.Printf("cid: rank %d of %d, %.0f %% below, %d to %s\n", n.Entry.Rank, n.Total, n.Percentile(), *n.ToNext(), n.Around[0].Member)

	friends := orPanic(s.Members(ctx, "stars", []string{"ann", "dee", "nobody"}))
	for _, f := range friends.List {
		fmt.Printf("friends: %s is %d of the board and %d among them\n", f.Member, f.Rank, f.Among)
	}

	at := orPanic(s.At(ctx, "stars", 30, nil, 10))
	fmt.Println("30 would be rank", at.Rank, "beside", len(at.Entries))

	// Output:
	// duplicate: true <nil>
	// top: 1 bob 50
	// top: 2 ann 30
	// top: 2 cid 30
	// after these: 4 dee
	// cid: rank 2 of 4, 33 % below, 0 to ann
	// friends: ann is 2 of the board and 1 among them
	// friends: dee is 4 of the board and 2 among them
	// friends: nobody is 0 of the board and 0 among them
	// 30 would be rank 2 beside 2
}

// watcher passes what a feed tells on to a goroutine that may wait, for a handler
// must not.
type watcher struct {
	subscribed chan string
	changes    chan *feed.Changes
}

func (l watcher) FeedUp()                            {}
func (l watcher) FeedDown(time.Time)                 {} // FeedSubscribed follows: read a page then
func (l watcher) FeedUnfollowed(time.Time)           {}
func (l watcher) FeedUnsubscribed(string, time.Time) {} // likewise
func (l watcher) FeedSubscribed(board string)        { l.subscribed <- board }
func (l watcher) FeedChanges(c *feed.Changes)        { l.changes <- c }
func (l watcher) FeedFollowed(string)                {}
func (l watcher) FeedItems(string, [][]byte)         {}
func (l watcher) FeedProfile(string, string)         {}

// A board is followed: a page says how it is, and the changes after it, by any process,
// what becomes of that.
func ExampleFeed() {
	s, newFeed, end := openStore(definition.Board{Name: "stars"})
	defer end()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	defer func() { cancel(); <-ended }()
	orPanic(s.Apply(ctx, "stars", []definition.Update{{Member: "ann", Score: 30}, {Member: "bob", Score: 50}}))

	l := watcher{make(chan string, 16), make(chan *feed.Changes, 1024)}
	feed := newFeed()
	feed.Watch("stars")
	go func() {
		feed.Run(ctx, l)
		close(ended)
	}()

	<-l.subscribed // from here on nothing is missed
	page := orPanic(s.Page(ctx, "stars", 1, 10))
	fmt.Println("seq", page.Seq, "leads:", page.Entries[0].Member)
	at := page.State

	orPanic(s.Apply(ctx, "stars", []definition.Update{{Member: "cid", Score: 5}, {Member: "ann", Score: 25}}))
	for at.Seq < 4 {
		c := <-l.changes
		switch {
		case c.Epoch == at.Epoch && c.Last() <= at.Seq:
			continue // it came with the page
		case c.Epoch != at.Epoch || c.Seq != at.Seq+1:
			panic("something is missing: read a page again")
		}
		for i, change := range c.List {
			fmt.Println("seq", c.Seq+int64(i), change.Member, "comes to rank", change.Rank, "with", change.New.Score(definition.Desc))
		}
		at.Seq = c.Last()
	}
	// Output:
	// seq 2 leads: bob
	// seq 3 cid comes to rank 3 with 5
	// seq 4 ann comes to rank 1 with 55
}

// A board of others is built when it is read; the second season counts double.
func ExampleUnion() {
	s, _, end := openStore(
		definition.Board{Name: "points:{season}"},
		definition.Board{Name: "ever", Union: &definition.Union{Of: []string{"points:2025", "points:2026"}, Weights: []int64{1, 2}}},
	)
	defer end()
	ctx := context.Background()
	orPanic(s.Apply(ctx, "points:2025", []definition.Update{{Member: "ann", Score: 30}, {Member: "bob", Score: 50}}))
	orPanic(s.Apply(ctx, "points:2026", []definition.Update{{Member: "ann", Score: 40}, {Member: "cid", Score: 10}}))
	for _, e := range orPanic(s.Page(ctx, "ever", 1, 10)).Entries {
		fmt.Println(e.Rank, e.Member, e.Score)
	}
	// Output:
	// 1 ann 110
	// 2 bob 50
	// 3 cid 20
}

// Who is hidden has no rank, and neither takes a place; its updates count all the same.
func ExampleStore_Hide() {
	s, _, end := openStore(definition.Board{Name: "stars"})
	defer end()
	ctx := context.Background()
	orPanic(s.Apply(ctx, "stars", []definition.Update{{Member: "ann", Score: 30}, {Member: "bot", Score: 50}}))
	show := func(when string) {
		for _, e := range orPanic(s.Page(ctx, "stars", 1, 10)).Entries {
			fmt.Println(when, e.Rank, e.Member, e.Score)
		}
	}
	by := ranking.Moderator{Reason: "plays by machine", By: "eve"}
	if err := s.Hide(ctx, "stars", "bot", by); err != nil {
		panic(err)
	}
	show("hidden:")
	outcome := orPanic(s.Apply(ctx, "stars", []definition.Update{{Member: "bot", Score: 5}}))[0]
	fmt.Println("unseen:", outcome.Result.Current.Rank, outcome.Result.Current.Score)
	if err := s.Show(ctx, "stars", "bot", ranking.Moderator{By: "eve"}); err != nil {
		panic(err)
	}
	show("shown:")
	// Output:
	// hidden: 1 ann 30
	// unseen: 0 55
	// shown: 1 bot 55
	// shown: 2 ann 30
}
