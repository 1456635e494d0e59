package ranking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// feedItem is one item of a feed.
type feedItem struct {
	At   string `json:"at"`
	Data any    `json:"data"`
}

// closedJSON is the message about a closed period.
type closedJSON struct {
	Board  string      `json:"board"`
	Period string      `json:"period"`
	Opened *string     `json:"opened"` // null on a board without periods
	Ended  string      `json:"ended"`
	Total  int64       `json:"total"`
	Top    []entryJSON `json:"top"`
}

type entryJSON struct {
	Rank   int64          `json:"rank"`
	Member string         `json:"member"`
	Score  int64          `json:"score"`
	Data   jsontext.Value `json:"data,omitzero"`
}

// announcement returns the message about a closed period, and the state of the board that
// the message describes. It returns nil when the period has not closed by the clock of the
// board's own master.
func (s *Store) announcement(ctx context.Context, instance string, r *definition.Compiled, p calendar.Period) (*closedJSON, State, error) {
	page, at, err := s.readPage(ctx, s.keys.Board(instance, p.Name), r.Board, Query{FromRank: 1, Limit: max(1, s.cfg.Announce)})
	if err != nil || !r.PeriodEnded(p, at.now) {
		return nil, State{}, err
	}
	told := &closedJSON{Board: instance, Period: p.Name, Ended: r.PeriodEnd(p).UTC().Format(definition.TimeForm), Total: page.Total, Top: []entryJSON{}}
	if !p.Opens.IsZero() {
		opened := p.Opens.UTC().Format(definition.TimeForm)
		told.Opened = &opened
	}
	for _, e := range page.Entries[:min(len(page.Entries), s.cfg.Announce)] {
		entry := entryJSON{Rank: e.Rank, Member: e.Member, Score: e.Score}
		if e.Data != "" {
			entry.Data = jsontext.Value(e.Data)
		}
		told.Top = append(told.Top, entry)
	}
	return told, page.State, nil
}

// settle announces a closed period, once, and gives it the id of its delivery. The returned
// record has no id when the settlement must wait. until is the end of the lease of the
// definitions, in µs since 1970.
func (s *Store) settle(ctx context.Context, instance string, r *definition.Compiled, p periodRecord, until int64) (periodRecord, error) {
	told, state, err := s.announcement(ctx, instance, r, p.Period)
	if told == nil {
		return p, err
	}
	message, err := json.Marshal([]feedItem{{told.Ended, told}})
	if err != nil {
		return p, fmt.Errorf("encode a closed period: %w", err)
	}
	k := s.keys.Board(instance, p.Name)
	reply, err := script.Settle.Run(ctx, s.rdb, []string{k.Periods, k.Meta, k.Entered},
		[]any{p.Name, until, r.PeriodEnd(p.Period).UnixMicro(), state.Seq, deliveryID(instance, p.Name, state.Epoch), s.keys.Feed(definition.PeriodsFeed), message, r.MemberTTL.Microseconds()})
	if err != nil {
		return p, err
	}
	text := reply.Text()
	if reply.Err != nil || text == "" { // the period is gone
		return p, reply.Err
	}
	settled, ok := parsePeriodRecord(p.Name, text)
	if !ok {
		reply.Fail("is not a valid record of a period")
	}
	settled.Period, settled.fresh = p.Period, true
	return settled, reply.Err
}

// deliveryID is the same each time that a node settles this life of a board-period, also
// when a failover has lost the first settlement.
func deliveryID(instance, period, epoch string) string {
	sum := sha256.Sum256([]byte(instance + keyspace.FieldSep + period + keyspace.FieldSep + epoch))
	return "period_" + hex.EncodeToString(sum[:16])
}

const (
	// wantedFor is how long deliveries wait while no node that takes them runs. wantedAgain
	// is how often such a node records that it runs.
	wantedFor   = 24 * time.Hour
	wantedAgain = time.Minute
)

// noteReceiver records for all nodes, once a minute, of which boards this node takes
// deliveries.
func (s *Store) noteReceiver(ctx context.Context) error {
	now := s.catalog.clock.now()
	if last := s.receiverNoted.Load(); len(s.cfg.Deliver) == 0 || last > 0 && last <= now && now < last+wantedAgain.Microseconds() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var fields []any
	for _, board := range s.cfg.Deliver {
		fields = append(fields, wantedField+board, now+wantedFor.Microseconds())
	}
	if err := s.rdb.HSet(ctx, s.keys.Definitions(), fields...).Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	s.receiverNoted.Store(now)
	return nil
}

// hasReceiver reports whether a node takes deliveries of a board. board is the name of the
// definition.
func (s *Store) hasReceiver(ctx context.Context, board string) (bool, error) {
	if slices.Contains(s.cfg.Deliver, board) || slices.Contains(s.cfg.Deliver, AllBoards) {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	values, err := s.rdb.HMGet(ctx, s.keys.Definitions(), wantedField+board, wantedField+AllBoards).Result()
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	for _, v := range values {
		text, _ := v.(string) // '' where there is none
		if until, err := strconv.ParseInt(text, 10, 64); err == nil && until > s.catalog.clock.now() {
			return true, nil
		}
	}
	return false, nil
}

// scheduleDelivery adds a settled period to the deliveries if a node takes them. Else it
// marks the period as delivered.
func (s *Store) scheduleDelivery(ctx context.Context, instance string, r *definition.Compiled, p periodRecord) (periodRecord, error) {
	if p.done {
		return p, nil
	}
	wanted, err := s.hasReceiver(ctx, r.Board.Name)
	if err != nil {
		return p, err
	}
	name := definition.Qualify(instance, p.Name)
	if !wanted {
		if err := s.cancelDeliveries(ctx, name); err != nil {
			return p, err
		}
		p.done = true
		_, err := s.markDelivered(ctx, instance, p.Name, p.id)
		return p, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	// A period settled now is due now, whatever an earlier life of the board has left
	// there.
	add := redis.ZAddArgs{NX: !p.fresh, LT: p.fresh, Members: []redis.Z{{Score: float64(s.catalog.clock.now()), Member: name}}}
	if err := s.rdb.ZAddArgs(ctx, s.keys.Deliveries(), add).Err(); err != nil {
		return p, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return p, nil
}

// markDelivered records that a closed period was delivered, or never will be. It reports
// false when the board has a period of that name with another delivery id.
func (s *Store) markDelivered(ctx context.Context, instance, period, id string) (bool, error) {
	r, err := script.Done.Run(ctx, s.rdb, []string{s.keys.Board(instance, period).Periods}, []any{period, id})
	if err != nil {
		return false, err
	}
	return r.Text() != "other", r.Err
}

// Delivery is a closed period for a receiver, such as a webhook.
type Delivery struct {
	ID      string        // the same for each attempt
	Board   string        // the instance
	Period  string        // "" on a board without periods
	Body    []byte        // JSON: id, board, period, opened, ended, total, top
	Age     time.Duration // time since the period was settled
	Now     time.Time     // Redis's clock when the caller took the delivery
	claimed claim
}

// DeliverWithin is how long a delivery belongs to the caller of Deliveries.
const DeliverWithin = time.Minute

// Deliveries takes up to most due deliveries. The caller calls Delivered or Deferred for
// each within DeliverWithin; after that other nodes try the delivery too. With an error,
// Deliveries also returns the deliveries that it could read.
func (s *Store) Deliveries(ctx context.Context, most int) ([]Delivery, error) {
	due, err := s.claimDue(ctx, s.keys.Deliveries(), most, DeliverWithin)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	var list []Delivery
	var errs []error
	for _, c := range due {
		d, err := s.delivery(ctx, c)
		if err == nil && d == nil {
			err = s.dropDelivery(ctx, c)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read delivery of %q: %w", c.member, err))
		} else if d != nil {
			list = append(list, *d)
		}
	}
	return list, errors.Join(errs...)
}

// delivery reads the delivery of a claim; nil where the period has none any more.
func (s *Store) delivery(ctx context.Context, c claim) (*Delivery, error) {
	n, err := definition.ParseName(c.member)
	if err != nil {
		return nil, nil
	}
	r, err := s.compiledOf(ctx, n)
	if errors.Is(err, ErrUnknownBoard) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := s.periodRecords(ctx, n.Instance())
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if p.Name != n.Period || p.id == "" || p.done {
			continue
		}
		told, _, err := s.announcement(ctx, n.Instance(), r, p.Period)
		if told == nil {
			return nil, err
		}
		body, err := json.Marshal(struct {
			ID string `json:"id"`
			*closedJSON
		}{p.id, told})
		return &Delivery{
			ID: p.id, Board: n.Instance(), Period: n.Period, Body: body,
			Age: time.Duration(c.since-p.settled) * time.Microsecond, Now: time.UnixMicro(c.since).UTC(), claimed: c,
		}, err
	}
	return nil, nil
}

// Delivered records that a delivery has arrived, or that the caller has given it up.
func (s *Store) Delivered(ctx context.Context, d Delivery) error {
	its, err := s.markDelivered(ctx, d.Board, d.Period, d.ID)
	switch {
	case err != nil:
	case its:
		err = s.dropDelivery(ctx, d.claimed)
	default: // the board was deleted and created again since
		err = s.rescheduleOn(ctx, []string{s.keys.Deliveries()}, d.claimed, d.claimed.since)
	}
	if err != nil {
		return fmt.Errorf("record delivery of %q: %w", d.claimed.member, err)
	}
	return nil
}

// dropDelivery takes a period off the deliveries, and schedules the housekeeping that has
// waited for that.
func (s *Store) dropDelivery(ctx context.Context, c claim) error {
	instance, _, _ := strings.Cut(c.member, "@")
	if err := s.scheduleNow(ctx, instance); err != nil {
		return err
	}
	return s.rescheduleOn(ctx, []string{s.keys.Deliveries()}, c, 0)
}

// Deferred schedules the next attempt of a delivery after the given time.
func (s *Store) Deferred(ctx context.Context, d Delivery, after time.Duration) error {
	if err := s.rescheduleOn(ctx, []string{s.keys.Deliveries()}, d.claimed, s.catalog.clock.now()+after.Microseconds()); err != nil {
		return fmt.Errorf("defer delivery of %q: %w", d.claimed.member, err)
	}
	return nil
}
