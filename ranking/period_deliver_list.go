package ranking

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
)

// MaxUndeliveredPage is the most deliveries that one page of a list has.
const MaxUndeliveredPage = 100

// Undelivered is a delivery that waits.
type Undelivered struct {
	ID       string // as that of Delivery, likewise Board and Period
	Board    string
	Period   string
	Settled  time.Time // since then the delivery waits
	Next     time.Time // when the next attempt is due; while a node makes an attempt, when another node may make one
	Attempts int64     // that have failed
	Failure  string    // why the last one of these has failed; "" without one
}

// UndeliveredPage is a page of the deliveries that wait.
type UndeliveredPage struct {
	Total int64 // of all pages
	List  []Undelivered
	Next  string // pass it as after for the next page; "" on the last page
}

// Delivers reports whether this node takes deliveries of any board.
func (s *Store) Delivers() bool { return len(s.cfg.Deliver) > 0 }

// Undelivered lists the deliveries of all boards that wait, those first whose periods were settled first. after is the Next of
// the page before; "" for the first page. limit is 1 to MaxUndeliveredPage. A page may have fewer deliveries, and Next,
// because some have just arrived.
func (s *Store) Undelivered(ctx context.Context, after string, limit int) (page UndeliveredPage, err error) {
	if limit < 1 || limit > MaxUndeliveredPage {
		return page, definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxUndeliveredPage))
	}
	var from timePosition
	if err := parseTimePosition(after, &from, &from); err != nil {
		return page, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	list, err := s.readByTime(ctx, s.keys.Undelivered(), definition.Asc, from, limit+1)
	if err == nil && len(list) > limit {
		list = list[:limit]
		var next []byte
		next, err = json.Marshal(from.behind(list))
		page.Next = string(next)
	}
	if err == nil {
		err = s.describeUndelivered(ctx, list, &page)
	}
	if err != nil {
		return UndeliveredPage{}, fmt.Errorf("list deliveries: %w", err)
	}
	return page, nil
}

// describeUndelivered reads the deliveries of some periods into a page, in one pipeline.
func (s *Store) describeUndelivered(ctx context.Context, periods []timed, page *UndeliveredPage) error {
	type commands struct {
		name    definition.Name
		due     *redis.FloatSliceCmd
		failed  *redis.SliceCmd
		records []*redis.SliceCmd // of the shards
	}
	pipe := s.rdb.Pipeline()
	total := pipe.ZCard(ctx, s.keys.Undelivered())
	asked := make([]commands, 0, len(periods))
	for _, p := range periods {
		n, err := definition.ParseName(p.item)
		if err != nil {
			continue
		}
		r, err := s.compiledOf(ctx, n)
		if err != nil && !errors.Is(err, definition.ErrUnknownBoard) {
			return err
		}
		c := commands{name: n, due: pipe.ZMScore(ctx, s.keys.Deliveries(n.Slot()), p.item),
			failed: pipe.HMGet(ctx, s.keys.FailedDeliveries(), p.item)}
		for _, shard := range shardNames(r, n.Instance()) {
			c.records = append(c.records, pipe.HMGet(ctx, s.keys.Board(shard, "").Periods, n.Period))
		}
		asked = append(asked, c)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	page.Total = total.Val()
	for _, c := range asked {
		record := periodRecord{}
		for _, cmd := range c.records { // the delivery has the id of the first shard with the period
			if text, there := cmd.Val()[0].(string); there {
				record, _ = parsePeriodRecord(c.name.Period, text)
				break
			}
		}
		due := c.due.Val()[0]
		if record.id == "" || record.done || due == 0 {
			continue // it has arrived, or the board was deleted
		}
		u := Undelivered{ID: record.id, Board: c.name.Instance(), Period: c.name.Period, Settled: time.UnixMicro(record.settled).UTC(),
			Next: time.UnixMicro(int64(due)).UTC()}
		if text, there := c.failed.Val()[0].(string); there {
			attempts, reason, _ := strings.Cut(text, " ")
			u.Attempts, _ = strconv.ParseInt(attempts, 10, 64)
			u.Failure = reason
		}
		page.List = append(page.List, u)
	}
	return nil
}
