package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

const (
	// maxSubscriptions bounds the boards that one socket shows, and the feeds.
	maxSubscriptions = 100
	// maxEpochBytes bounds what can be an epoch that a server gave.
	maxEpochBytes = 64
)

// tooMany is said of a subscription beyond maxSubscriptions.
var tooMany = fmt.Sprintf("is one too many; a socket shows %d at most", maxSubscriptions)

func (ss *session) subscribe(id jsontext.Value, o object) error {
	if _, there := o["feed"]; there {
		return ss.follow(id, o)
	}
	if err := o.only("type", "id", "board", "top", "me", "around", "resume"); err != nil {
		return err
	}
	board, err := o.required("board")
	if err != nil {
		return err
	}
	watch, err := ss.watch(o)
	if err != nil {
		return err
	}
	b, err := ss.server.store.Board(context.Background(), board)
	if err != nil {
		return err
	}
	before, again := ss.shown[board]
	if !again && len(ss.shown) >= maxSubscriptions {
		return ranking.Invalid("board", tooMany)
	}
	accepted := func() { ss.socket.reply(timedFrame("ok", id, ss.server.store.Now())) }
	sub, err := ss.server.hub.Subscribe(ss.client, b, watch, before, accepted)
	if err != nil {
		return err
	}
	ss.shown[board] = sub
	return nil
}

// watch reads what a client wants to see of a board.
func (ss *session) watch(o object) (w hub.Watch, err error) {
	most := int64(ss.server.cfg.MaxTop)
	top, err := o.within("top", min(defaultTop, most), 0, most)
	if err != nil {
		return w, err
	}
	if w.Me, err = o.optional("me"); err != nil {
		return w, err
	}
	if w.Me != "" {
		var bad *ranking.FieldError
		if err := definition.CheckMember(w.Me); errors.As(err, &bad) {
			return w, ranking.Invalid("me", bad.Reason)
		}
	}
	around, err := o.within("around", 0, 0, hub.MaxAround)
	if err != nil {
		return w, err
	}
	if around > 0 && w.Me == "" {
		return w, ranking.Invalid("around", "goes with me")
	}
	if held, there := o["resume"]; there {
		state, err := parseObject("resume", held)
		if err != nil {
			return w, err
		}
		if w.Resume, err = readState(state); err != nil {
			return w, at("resume", err)
		}
	}
	w.Top, w.Around = int(top), int(around)
	return w, nil
}

// readState reads the state of a board that a client has.
func readState(o object) (s ranking.State, err error) {
	if err := o.only("epoch", "seq"); err != nil {
		return s, err
	}
	if s.Epoch, err = o.required("epoch"); err != nil {
		return s, err
	}
	if len(s.Epoch) > maxEpochBytes { // "" is that of a board nobody wrote to; it has nothing to go on with
		return s, ranking.Invalid("epoch", "is not an epoch that a server gave")
	}
	if s.Seq, err = o.integer("seq"); err == nil && s.Seq < 0 {
		err = ranking.Invalid("seq", fmt.Sprintf("is %d; want 0 or more", s.Seq))
	}
	return s, err
}

func (ss *session) unsubscribe(id jsontext.Value, o object) error {
	if _, there := o["feed"]; there {
		return ss.unfollow(id, o)
	}
	if err := o.only("type", "id", "board"); err != nil {
		return err
	}
	board, err := o.required("board")
	if err != nil {
		return err
	}
	sub, there := ss.shown[board]
	if !there {
		return ranking.Invalid("board", "has no subscription here")
	}
	ss.server.hub.Unsubscribe(sub)
	delete(ss.shown, board)
	ss.socket.reply(answerFrame("ok", id))
	return nil
}
