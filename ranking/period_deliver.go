package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// Deliveries wait in Redis in a line for each definition, and the lines take turns. So the
// closed periods of one family do not delay those of other boards, however many there are.

// maxDeliveries bounds the deliveries of one definition that wait in Redis. A family of
// as many instances can close all at once. They take 30 MB, and once the receiver has refused all of them up to 40 MB more. That
// is without the results, which stay until they are delivered.
const maxDeliveries = 100_000

// maxFailureBytes is the greatest length of the reason of a failed attempt, as Redis keeps it.
const maxFailureBytes = 240

// droppedDeliveries is the number of deliveries that were dropped because too many waited, by the name of the definition.
type droppedDeliveries map[string]int

// logDropped logs the deliveries that the node has dropped since the last lines, unless these were a moment ago.
func logDropped(log *slog.Logger, dropped *unlogged[droppedDeliveries]) {
	if since := dropped.take(housekeepingLogInterval); since != nil {
		for _, board := range slices.Sorted(maps.Keys(*since)) {
			log.Error("too many webhook messages of a board wait; the node drops those that were due first", "board", board,
				"dropped", (*since)[board], "most", maxDeliveries)
		}
	}
}

// deliveryKeys are the keys of the scripts that change the deliveries of a definition.
func (s *Store) deliveryKeys(slot string) []string {
	return []string{s.keys.DeliveryTurns(), s.keys.Deliveries(slot), s.keys.Undelivered(), s.keys.FailedDeliveries()}
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
	name, slot := definition.Qualify(instance, p.Name), r.Board.Slot()
	if !wanted {
		if err := s.cancelDeliveries(ctx, instance, name); err != nil {
			return p, err
		}
		p.done = true
		_, _, err := s.markDelivered(ctx, p.shards[0], p.Name, p.id)
		return p, err
	}
	fresh := ""
	if p.fresh {
		// A period settled now is due now, whatever an earlier life of the board has left
		// there.
		fresh = "1"
	}
	reply := script.Await.Run(ctx, s.rdb, s.deliveryKeys(slot), []any{slot, name, fresh, s.maxDeliveries, p.settled})
	if reply.Text() == "dropped" {
		if err := s.giveUpDelivery(ctx, r.Board.Name, reply.Text()); err != nil {
			return p, err
		}
	}
	return p, reply.Err
}

// giveUpDelivery marks a closed period as delivered that is no longer among the deliveries,
// and counts it for the log. Where it fails, housekeeping schedules the delivery again
// within undeliveredInterval.
func (s *Store) giveUpDelivery(ctx context.Context, board, name string) error {
	n, err := definition.ParseName(name)
	if err != nil {
		return nil
	}
	p, err := s.undelivered(ctx, n)
	if err != nil {
		return err
	}
	if p != nil {
		first, _, err := s.markDelivered(ctx, p.shards[0], p.Name, p.id)
		if err != nil {
			return err
		}
		if first {
			s.dropped.add(func(since *droppedDeliveries) {
				if *since == nil {
					*since = make(droppedDeliveries)
				}
				(*since)[board]++
			})
		}
	}
	return s.scheduleNow(ctx, n.Instance())
}

// undelivered returns the settled period of a name if it is not delivered yet, and nil otherwise.
func (s *Store) undelivered(ctx context.Context, n definition.Name) (*periodRecord, error) {
	r, err := s.compiledOf(ctx, n)
	if err != nil && !errors.Is(err, definition.ErrUnknownBoard) {
		return nil, err
	}
	list, err := s.periodRecords(ctx, r, n.Instance())
	for _, p := range list {
		if p.Name == n.Period && p.id != "" && !p.done {
			return &p, nil
		}
	}
	return nil, err
}

// cancelDeliveries takes closed periods of an instance off the deliveries.
func (s *Store) cancelDeliveries(ctx context.Context, instance string, periods ...string) error {
	if len(periods) == 0 {
		return nil
	}
	n, err := definition.ParseName(instance)
	if err != nil {
		return err
	}
	slot := n.Slot()
	return script.Cancel.Run(ctx, s.rdb, s.deliveryKeys(slot), appendTexts([]any{slot}, periods)).Err
}

// markDelivered records on the first shard of a closed period that it was delivered, or never will be. first says that this was not
// recorded before. another says that the board has a period of that name with another delivery id.
func (s *Store) markDelivered(ctx context.Context, shard, period, id string) (first, another bool, err error) {
	r := script.Done.Run(ctx, s.rdb, []string{s.keys.Board(shard, period).Periods}, []any{period, id})
	another = r.Text() == "other"
	return !another && r.Number() == 1, another, r.Err
}

// Delivery is a closed period for a receiver, such as a webhook.
type Delivery struct {
	ID      string        // the same for each attempt
	Board   string        // the instance
	Period  string        // "" on a board without periods
	Body    []byte        // JSON: id, board, period, opened, ended, total, top
	Age     time.Duration // time since the period was settled
	Now     time.Time     // Redis's clock when the caller took the delivery
	claimed deliveryClaim
	shard   string // see markDelivered
}

// deliveryClaim is the claim on a delivery in the line of a definition.
type deliveryClaim struct {
	claim
	slot string
}

// DeliverWithin is how long a delivery belongs to the caller of Deliveries.
const DeliverWithin = time.Minute

// Deliveries takes up to most due deliveries, of each definition in turn. The caller calls
// Delivered or Deferred for each within DeliverWithin; after that other nodes try the
// delivery too. With an error, Deliveries also returns the deliveries that it could read.
func (s *Store) Deliveries(ctx context.Context, most int) ([]Delivery, error) {
	due, err := s.claimDeliveries(ctx, most)
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

// claimDeliveries claims up to most due deliveries.
func (s *Store) claimDeliveries(ctx context.Context, most int) (due []deliveryClaim, err error) {
	if most <= 0 {
		return nil, nil
	}
	slots, err := s.deliveryTurns(ctx, most)
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	keys, args := []string{s.keys.DeliveryTurns()}, []any{most, DeliverWithin.Microseconds()}
	for _, slot := range slots {
		keys, args = append(keys, s.keys.Deliveries(slot)), append(args, slot)
	}
	r := script.Serve.Run(ctx, s.rdb, keys, args)
	now := s.takeClock(r)
	for r.More() {
		slot := r.Text()
		due = append(due, deliveryClaim{takeClaim(r, now), slot})
	}
	return due, r.Err
}

// deliveryTurns lists the slots of up to most definitions with deliveries, in the order of
// their turns.
func (s *Store) deliveryTurns(ctx context.Context, most int) ([]string, error) {
	slots, err := s.rdb.ZRange(ctx, s.keys.DeliveryTurns(), 0, int64(most)-1).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return slots, nil
}

// delivery reads the delivery of a claim; nil where the period has none any more.
func (s *Store) delivery(ctx context.Context, c deliveryClaim) (*Delivery, error) {
	n, err := definition.ParseName(c.member)
	if err != nil {
		return nil, nil
	}
	r, err := s.compiledOf(ctx, n)
	if errors.Is(err, definition.ErrUnknownBoard) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := s.undelivered(ctx, n)
	if p == nil {
		return nil, err
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
		Age: time.Duration(c.since-p.settled) * time.Microsecond, Now: time.UnixMicro(c.since).UTC(), claimed: c, shard: p.shards[0],
	}, err
}

// Delivered records that a delivery has arrived, or that the caller has given it up.
func (s *Store) Delivered(ctx context.Context, d Delivery) error {
	_, another, err := s.markDelivered(ctx, d.shard, d.Period, d.ID)
	switch {
	case err != nil:
	case another: // the board was deleted and created again since
		err = s.rescheduleDelivery(ctx, d.claimed, d.claimed.since, nil)
	default:
		err = s.dropDelivery(ctx, d.claimed)
	}
	if err != nil {
		return fmt.Errorf("record delivery of %q: %w", d.claimed.member, err)
	}
	return nil
}

// dropDelivery takes a period off the deliveries, and schedules the housekeeping that has
// waited for that.
func (s *Store) dropDelivery(ctx context.Context, c deliveryClaim) error {
	instance, _, _ := strings.Cut(c.member, "@")
	if err := s.scheduleNow(ctx, instance); err != nil {
		return err
	}
	return s.rescheduleDelivery(ctx, c, 0, nil)
}

// Deferred schedules the next attempt of a delivery after the given time, and keeps why the last one has failed; nil: it
// has not, or there was none.
func (s *Store) Deferred(ctx context.Context, d Delivery, after time.Duration, failure error) error {
	if err := s.rescheduleDelivery(ctx, d.claimed, s.catalog.clock.now()+after.Microseconds(), failure); err != nil {
		return fmt.Errorf("defer delivery of %q: %w", d.claimed.member, err)
	}
	return nil
}

// rescheduleDelivery puts a claimed delivery back into its line for a time in µs since
// 1970; 0 takes it off. failure is why an attempt has failed, or nil.
func (s *Store) rescheduleDelivery(ctx context.Context, c deliveryClaim, next int64, failure error) error {
	reason := ""
	if failure != nil {
		reason = cmp.Or(failure.Error(), "unknown")
		reason = strings.ToValidUTF8(reason[:min(len(reason), maxFailureBytes)], "")
	}
	return script.Defer.Run(ctx, s.rdb, s.deliveryKeys(c.slot), []any{c.slot, c.member, c.until, timeArg(next), reason}).Err
}
