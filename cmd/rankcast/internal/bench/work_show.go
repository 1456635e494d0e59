package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rankcast/cmd/rankcast/internal/flags"
	"rankcast/cmd/rankcast/internal/term"
)

// Show is rankcast bench show: gifts of viewers who watch, while the changes go to many nodes.
type Show struct {
	// Up to 250,000: each takes an open file.
	Viewers int `default:"5000" range:"1..250000" placeholder:"N" help:"Sockets of the node. Each watches the first ten stars, the fans of a star with its own rank, and the gifts (default ${default})."`
	Users   int `default:"100000" placeholder:"N" help:"Users who have given, as many as --viewers or more (default ${default})."`
	Stars   int `default:"20" placeholder:"N" help:"Stars who get the gifts (default ${default})."`
	// Up to 1,000: Redis has 10,000 connections by default.
	Nodes int `default:"1" range:"1..1000" placeholder:"N" help:"Nodes of the show. Beyond the first, each is a connection that gets from Redis what the node gets (default ${default})."`

	Interval time.Duration `placeholder:"TIME" help:"Flag --interval of the node: the time in which a board sends one frame at most (default: that of the node)."`
	Open     openFlags     `embed:""`
}

// Validate checks the flags.
func (w *Show) Validate() error {
	return cmp.Or(flags.CheckRange("users", w.Users, w.Viewers, 1_000_000),
		flags.CheckRange("stars", w.Stars, 1, min(10_000, w.Viewers)))
}

func (w *Show) about() about {
	settings := []string{
		term.Counted(w.Nodes, "node"), term.Counted(w.Viewers, "viewer") + " on one",
		term.Counted(w.Users, "user"), term.Counted(w.Stars, "star"), w.Open.settings("gift"),
	}
	if w.Interval != 0 {
		settings = append(settings, fmt.Sprintf("a frame each %v", w.Interval))
	}
	return about{
		Name: "show", What: "gifts on five boards, of viewers who watch two boards and the gifts, and follow their own ranks", Unit: "gift",
		Settings: strings.Join(settings, ", "),
	}
}

func (w *Show) prepare(ctx context.Context, t *target) (rounds, error) {
	gifts := &Gifts{Users: w.Users, Stars: w.Stars}
	event, err := gifts.fill(ctx, t)
	return rounds{measure: func(ctx context.Context) (*figures, error) { return w.measure(ctx, t, event) }}, err
}

// fansAt names the board of the fans to which the viewer at a place belongs.
func (w *Show) fansAt(place int) string { return "fans:" + starName(place%w.Stars) }

// shownFlowers are the flowers of a gift: the user overtakes a few others.
const shownFlowers = 5

func (w *Show) measure(ctx context.Context, t *target, event string) (*figures, error) {
	if w.Interval != 0 {
		t.own.args = []string{"--interval", w.Interval.String()}
	}
	members := make([]string, w.Viewers)
	for u := range members {
		members[u] = userName(u)
	}
	o, err := w.Open.newRound(ctx, t, w.fansAt, members, shownFlowers)
	if err != nil {
		return nil, err
	}
	// Each gift is for the star whose fans its user follows.
	o.newCall = func(ctx context.Context) call {
		id := callerID(0)
		return t.newBatches(ctx, "/v1/events/"+event, "events", o.Batch, func(to []byte, gift int) []byte {
			user := o.schedule.place(gift)
			return appendGift(to, id, gift, user%w.Stars, user, shownFlowers)
		})
	}
	var others *peers
	if w.Nodes > 1 {
		o.joined = func(ctx context.Context) (err error) {
			others, err = t.own.subscribePeers(ctx, w.Nodes-1)
			return err
		}
	}
	viewers := newFollowers(o, w.fansAt)
	stars, gifts := fmt.Sprintf(`{"type":"subscribe","board":"%s","top":%d}`, t.board("stars"), shownTop),
		fmt.Sprintf(`{"type":"subscribe","feed":"%s"}`, event)
	f, err := o.run(ctx, w.Viewers, func(number int) []string { return []string{stars, viewers.subscribe(number), gifts} },
		viewers.show, viewers.right)
	if others == nil {
		return f, err
	}
	messages, peerErr := others.end()
	if err := errors.Join(err, peerErr); err != nil {
		return nil, err
	}
	f.set(messageRate, float64(messages)/f.Values[figureSeconds.name])
	return f, nil
}
