package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

const (
	// maxSubscriptions bounds the boards that one socket shows, and the feeds.
	maxSubscriptions = 100
	// defaultWatched is how many entries a subscription shows that does not say.
	defaultWatched = 10
	// maxEpochBytes bounds what can be an epoch that a server gave.
	maxEpochBytes = 64
)

// tooMany is said of a subscription beyond maxSubscriptions.
var tooMany = fmt.Sprintf("is one too many; a socket shows %d at most", maxSubscriptions)

func (ss *session) subscribe(id jsontext.Value, o request.Object) error {
	if _, there := o["feed"]; there {
		return ss.subscribeFeed(id, o)
	}
	if err := o.Only("type", "id", "board", "top", "me", "around", "resume"); err != nil {
		return err
	}
	board, err := o.RequiredText("board")
	if err != nil {
		return err
	}
	watch, err := ss.watch(o)
	if err != nil {
		return err
	}
	b, err := ss.sessions.store.Board(context.Background(), board)
	if err != nil {
		return err
	}
	before, again := ss.shown[board]
	if !again && len(ss.shown) >= maxSubscriptions {
		return ranking.Invalid("board", tooMany)
	}
	accepted := func() { ss.socket.reply(timedFrame("ok", id, ss.sessions.store.Now())) }
	sub, err := ss.sessions.hub.Subscribe(ss.client, b, watch, before, accepted)
	if err != nil {
		return err
	}
	ss.shown[board] = sub
	return nil
}

// watch reads what a client wants to see of a board.
func (ss *session) watch(o request.Object) (w hub.Watch, err error) {
	most := int64(ss.sessions.cfg.MaxTop)
	top, err := o.IntegerWithin("top", min(defaultWatched, most), 0, most)
	if err != nil {
		return w, err
	}
	if w.Me, err = o.OptionalText("me"); err != nil {
		return w, err
	}
	if w.Me != "" {
		var bad *ranking.FieldError
		if err := ranking.CheckMember(w.Me); errors.As(err, &bad) {
			return w, ranking.Invalid("me", bad.Reason)
		}
	}
	around, err := o.IntegerWithin("around", 0, 0, hub.MaxAround)
	if err != nil {
		return w, err
	}
	if around > 0 && w.Me == "" {
		return w, ranking.Invalid("around", "goes with me")
	}
	if held, there := o["resume"]; there {
		state, err := request.ParseObject("resume", held)
		if err != nil {
			return w, err
		}
		if w.Resume, err = readState(state); err != nil {
			return w, problem.At("resume", err)
		}
	}
	w.Top, w.Around = int(top), int(around)
	return w, nil
}

// readState reads the state of a board that a client has.
func readState(o request.Object) (s ranking.State, err error) {
	if err := o.Only("epoch", "seq"); err != nil {
		return s, err
	}
	if s.Epoch, err = o.RequiredText("epoch"); err != nil {
		return s, err
	}
	if len(s.Epoch) > maxEpochBytes { // "" is that of a board nobody wrote to; it has nothing to go on with
		return s, ranking.Invalid("epoch", "is not an epoch that a server gave")
	}
	if s.Seq, err = o.Integer("seq"); err == nil && s.Seq < 0 {
		err = ranking.Invalid("seq", fmt.Sprintf("is %d; want 0 or more", s.Seq))
	}
	return s, err
}

func (ss *session) unsubscribe(id jsontext.Value, o request.Object) error {
	if _, there := o["feed"]; there {
		return ss.unsubscribeFeed(id, o)
	}
	if err := o.Only("type", "id", "board"); err != nil {
		return err
	}
	board, err := o.RequiredText("board")
	if err != nil {
		return err
	}
	sub, there := ss.shown[board]
	if !there {
		return ranking.Invalid("board", "has no subscription here")
	}
	ss.sessions.hub.Unsubscribe(sub)
	delete(ss.shown, board)
	ss.socket.reply(answerFrame("ok", id))
	return nil
}
