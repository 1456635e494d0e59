package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Show is rankcast bench show: gifts of viewers who watch, while the changes go to many nodes.
type Show struct {
	Viewers int `default:"5000" placeholder:"N" help:"Sockets of the node. Each watches the first ten stars, the fans of a star with its own rank, and the gifts (default ${default})."`
	Users   int `default:"100000" placeholder:"N" help:"Users who have given, as many as --viewers or more (default ${default})."`
	Stars   int `default:"20" placeholder:"N" help:"Stars who get the gifts (default ${default})."`
	Nodes   int `default:"1" placeholder:"N" help:"Nodes of the show. Beyond the first, each is a connection that gets from Redis what the node gets (default ${default})."`

	Interval time.Duration `placeholder:"TIME" help:"Flag --interval of the node: the least time between two frames of a board (default: that of the node)."`
	Open     openFlags     `embed:""`
	Program  programFlags  `embed:""`
}

// maxNodes bounds the nodes of a show: Redis has 10,000 connections by default.
const maxNodes = 1000

// Validate checks the flags.
func (w *Show) Validate() error {
	if w.Nodes > 1 && w.Program.URL != "" {
		return errors.New("--nodes has no effect with --url: the server has nodes of its own")
	}
	if w.Interval != 0 && w.Program.URL != "" {
		return errors.New("--interval has no effect with --url: the server has its own")
	}
	for _, err := range []error{
		within("viewers", w.Viewers, 1, maxSockets), within("users", w.Users, w.Viewers, 1_000_000),
		within("stars", w.Stars, 1, min(10_000, w.Viewers)), within("nodes", w.Nodes, 1, maxNodes),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Run measures.
func (w *Show) Run(ctx context.Context) error { return w.Program.run(ctx, "show", w) }

func (w *Show) about() string {
	return "gifts on five boards, of viewers who watch two boards and the gifts, and follow their own ranks"
}

func (w *Show) settings() string {
	all := []string{count(w.Nodes, "node"), count(w.Viewers, "viewer") + " on one", count(w.Users, "user"), count(w.Stars, "star"),
		w.Open.settings(w.unit())}
	if w.Interval != 0 {
		all = append(all, fmt.Sprintf("a frame each %v", w.Interval))
	}
	return strings.Join(all, ", ")
}

func (w *Show) unit() string { return "gift" }

func (w *Show) prepare(ctx context.Context, t *target, s *status) (rounds, error) {
	gifts := &Gifts{Users: w.Users, Stars: w.Stars}
	prepared, err := gifts.prepare(ctx, t, s)
	if err != nil {
		return nil, err
	}
	r := &showRounds{Show: w, t: t, event: prepared.(*giftRounds).event}
	for u := range w.Viewers {
		r.members = append(r.members, userName(u))
	}
	return r, nil
}

type showRounds struct {
	*Show
	t       *target
	event   string
	members []string // the viewers, by number
}

// fansAt names the board of the fans to which the viewer at a place belongs.
func (w *showRounds) fansAt(place int) string { return "fans:" + starName(place%w.Stars) }

// shownFlowers are the flowers of a gift: the user overtakes a few others.
const shownFlowers = 5

func (w *showRounds) measure(ctx context.Context, s *status) (*figures, error) {
	if w.Interval != 0 {
		w.t.own.args = []string{"--interval", w.Interval.String()}
	}
	o, err := w.Open.newRound(ctx, w.t, w.fansAt, w.members, shownFlowers)
	if err != nil {
		return nil, err
	}
	o.newCall = func(ctx context.Context) call { return w.newGifts(ctx, o) }
	var others *peers
	if w.Nodes > 1 {
		o.joined = func(ctx context.Context) (err error) {
			others, err = w.t.own.subscribePeers(ctx, w.Nodes-1)
			return err
		}
	}
	viewers := newFollowers(o, w.fansAt)
	stars, gifts := fmt.Sprintf(`{"type":"subscribe","board":"%s","top":%d}`, w.t.board("stars"), shownTop),
		fmt.Sprintf(`{"type":"subscribe","feed":"%s"}`, w.event)
	f, err := o.run(ctx, s, w.Viewers, func(number int) []string { return []string{stars, viewers.subscribe(number), gifts} },
		viewers.show, func() (int, error) { return viewers.right(ctx) })
	if others == nil {
		return f, err
	}
	messages, peerErr := others.end()
	if err := errors.Join(err, peerErr); err != nil {
		return nil, err
	}
	f.set(messageRate, float64(messages)/f.Values[figureSeconds])
	return f, nil
}

// newGifts makes a call that sends gifts of the schedule, each to the star whose fans its user follows.
func (w *showRounds) newGifts(ctx context.Context, o *openRound) call {
	id := callerID(0)
	return w.t.newBatches(ctx, "/v1/events/"+w.event, "events", o.Batch, func(to []byte, gift int) []byte {
		user := o.schedule.place(gift)
		return appendGift(to, id, gift, user%w.Stars, user, shownFlowers)
	})
}
