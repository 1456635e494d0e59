package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/boardinfo"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

const (
	// defaultTop is the number of entries of a subscription without "top".
	defaultTop = 10
	// maxLifeBytes bounds the length of a life.
	maxLifeBytes = 64
)

func (ss *session) subscribe(m *message) error {
	// The session refuses an invalid field before it asks the store for the board.
	board := m.about.Name
	watch, withInfo := ss.readWatch(m.fields), m.fields.OptionalBoolean("info")
	if m.fields.Err != nil {
		return m.fields.Err
	}
	b, err := ss.sessions.store.Board(ss.sessions.calls, board)
	if err != nil {
		return err
	}
	if withInfo {
		if watch.Info, err = EncodeInfo(ss.sessions.calls, ss.sessions.store, m.caller, board); err != nil {
			return err
		}
	}
	ss.mu.Lock()
	before, again, held := ss.boards[board], ss.boards[board] != nil, len(ss.boards)
	ss.mu.Unlock()
	if !again {
		if err := ss.allowSubscription("board", held); err != nil {
			return err
		}
	}
	accepted := func() { ss.socket.reply(answerFrameAt("ok", m.id, ss.sessions.store.Now())) }
	sub, err := ss.sessions.watch(ss.slot, ss.client, b, watch, before, accepted)
	if err != nil {
		return err
	}
	if err := ss.keep(m, func() { ss.boards[board] = sub }); err != nil {
		ss.sessions.hub.Unsubscribe(sub)
		ss.socket.reply(lostSubscription{about: m.about, err: err}.frame())
	}
	return nil
}

// join is hub.Join. An address without limits has no limit in the hub either.
func (s *Sessions) join(conn hub.Conn, slot *access.SocketSlot) *hub.Client {
	if slot.Address().Exempt() {
		return s.hub.Join(conn, nil)
	}
	return s.hub.Join(conn, slot.Address())
}

// watch is hub.Subscribe. It counts the subscriptions that a limit of watched boards refuses.
func (s *Sessions) watch(slot *access.SocketSlot, c *hub.Client, b ranking.Board, w hub.Watch, before *hub.Subscription,
	accepted func()) (*hub.Subscription, error) {
	sub, err := s.hub.Subscribe(c, b, w, before, accepted)
	switch {
	case errors.Is(err, hub.ErrTooManyBoards):
		err = refusedField("board", s.cfg.Limits.RefuseBoard())
	case errors.Is(err, hub.ErrAddressBoards):
		err = refusedField("board", s.cfg.Limits.RefuseBoardOf(slot.Address()))
	}
	return sub, err
}

// allowSubscription refuses one subscription more than a socket may hold of its kind.
func (ss *session) allowSubscription(field string, held int) error {
	if err := ss.slot.AllowSubscription(held); err != nil {
		return refusedField(field, err)
	}
	return nil
}

// refusedField is the refusal of a limit that names the field of a message.
func refusedField(field string, refusal error) error {
	return &definition.FieldError{Field: field, Reason: refusal.Error(), Kind: refusal}
}

// readWatch reads what part of a board a subscription shows.
func (ss *session) readWatch(f *request.Fields) hub.Watch {
	most := int64(ss.sessions.cfg.MaxTop)
	w := hub.Watch{Top: int(f.OptionalInteger("top", min(defaultTop, most), 0, most)), Me: f.OptionalText("me"),
		Around: int(f.OptionalInteger("around", 0, 0, hub.MaxAround))}
	f.Check(CheckWatch(w))
	if f.Has("resume") {
		at := f.Object("resume").Fields("life", "seq")
		w.Resume = hub.Position{Life: at.RequiredText("life"), Seq: at.Integer("seq", 0, definition.MaxScore)}
		at.Check(CheckPosition(w.Resume))
		f.Check(problem.At("resume", at.Err))
	}
	return w
}

// EncodeInfo encodes the info of a board for hub.Watch, as a caller may read it.
func EncodeInfo(ctx context.Context, store Store, caller *access.Caller, board string) ([]byte, error) {
	about, err := store.About(ranking.WithNames(ctx, caller.MayReadKind), board)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(boardinfo.New(about))
	if err != nil {
		return nil, fmt.Errorf("encode the info of a board: %w", err)
	}
	return b, nil
}

// CheckWatch checks the member that a client follows. It returns a FieldError.
func CheckWatch(w hub.Watch) error {
	if w.Me == "" {
		if w.Around > 0 {
			return definition.Invalid("around", "needs me")
		}
		return nil
	}
	var bad *definition.FieldError
	if err := definition.CheckMember(w.Me); errors.As(err, &bad) {
		return definition.Invalid("me", bad.Reason)
	}
	return nil
}

// CheckPosition checks a position that a client claims to have. It returns a FieldError.
func CheckPosition(p hub.Position) error {
	switch {
	case p.Life == "" || len(p.Life) > maxLifeBytes:
		return definition.Invalid("life", "is not a life of this server")
	case p.Seq < 0 || p.Seq > definition.MaxScore:
		return definition.Invalid("seq", "is not a seq of this server")
	}
	return nil
}

func (ss *session) unsubscribe(m *message) error {
	return ss.endSubscription(m, "board", ss.boards)
}

// endSubscription ends the subscription that a field of m names. held are those of the session to boards, or to feeds.
func (ss *session) endSubscription(m *message, field string, held map[string]*hub.Subscription) error {
	name := m.fields.RequiredText(field)
	if m.fields.Err != nil {
		return m.fields.Err
	}
	ss.mu.Lock()
	sub, there := held[name]
	delete(held, name)
	ss.mu.Unlock()
	if !there {
		return definition.Invalid(field, "has no subscription here")
	}
	ss.sessions.hub.Unsubscribe(sub)
	ss.socket.reply(answerFrame("ok", m.id))
	return nil
}
