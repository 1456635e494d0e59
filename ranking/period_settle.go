package ranking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// settlementsInterval is the least time between two log lines about settlements.
const settlementsInterval = time.Second

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
	Rank    int64          `json:"rank"`
	Member  string         `json:"member"`
	Score   int64          `json:"score"`
	Columns jsontext.Value `json:"columns,omitzero"` // on a board with columns
	Data    jsontext.Value `json:"data,omitzero"`
}

// announcement returns the message about a closed period, and the head of the page that
// the message describes. It returns nil when the period has not closed by the clocks of the
// board's own masters.
func (s *Store) announcement(ctx context.Context, instance string, r *definition.Compiled, p calendar.Period) (*closedJSON, Head, error) {
	page, at, err := s.readPage(ctx, s.resolvedPeriod(instance, r, p), Query{FromRank: 1, Limit: max(1, s.cfg.Announce)})
	if err != nil || !r.PeriodEnded(p, at.now) {
		return nil, Head{}, err
	}
	told := &closedJSON{
		Board: instance, Period: p.Name, Opened: definition.FormatTime(p.Opens),
		Ended: r.PeriodEnd(p).UTC().Format(definition.TimeForm), Total: page.Total, Top: []entryJSON{},
	}
	for _, e := range page.Entries[:min(len(page.Entries), s.cfg.Announce)] {
		entry := entryJSON{Rank: e.Rank, Member: e.Member, Score: e.Score, Columns: r.Columns.JSON(e.Score)}
		if e.Data != "" {
			entry.Data = jsontext.Value(e.Data)
		}
		told.Top = append(told.Top, entry)
	}
	return told, page.Head, nil
}

// settle announces a closed period, once, and gives it the id of its delivery. The returned
// record has no id when the settlement must wait. until is the end of the lease of the
// definitions, in µs since 1970.
func (s *Store) settle(ctx context.Context, instance string, r *definition.Compiled, p periodRecord, until int64) (periodRecord, error) {
	others, err := s.closeOthers(ctx, instance, r, p, until)
	if err != nil || others == nil {
		return p, err
	}
	told, head, err := s.announcement(ctx, instance, r, p.Period)
	if told == nil {
		return p, err
	}
	message, err := json.Marshal([]feedItem{{told.Ended, told}})
	if err != nil {
		return p, fmt.Errorf("encode a closed period: %w", err)
	}
	seq := head.Seq
	if head.Shards != nil {
		_, number := keyspace.ParseShard(p.shards[0])
		seq = head.Shards[number].Seq
	}
	k := s.keys.Board(p.shards[0], p.Name)
	reply := script.Settle.Run(ctx, s.rdb, []string{k.Periods, k.Meta, k.Entered},
		[]any{p.Name, until, r.PeriodEnd(p.Period).UnixMicro(), seq, deliveryID(instance, p.Name, head.State, others),
			s.keys.Feed(definition.PeriodsFeed), message, r.MemberTTL.Microseconds()})
	text, first := reply.Text(), reply.Text() == "1"
	if reply.Err != nil || text == "" { // the period is gone
		return p, reply.Err
	}
	settled, ok := parsePeriodRecord(p.Name, text)
	if !ok {
		reply.Fail("is not a valid record of a period")
	}
	settled.Period, settled.shards, settled.fresh = p.Period, p.shards, true
	if first {
		s.metrics.settled.Inc()
		s.settled.add(func(since *settledPeriods) { *since = settledPeriods{since.count + 1, instance, p.Name} })
	}
	return settled, reply.Err
}

// unlogged is what has happened since the log last told of it. Its methods may be called concurrently.
type unlogged[T any] struct {
	mu     sync.Mutex
	since  *T        // nil: nothing
	logged time.Time // when the log last told of it
}

// add changes what has happened.
func (u *unlogged[T]) add(change func(since *T)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.since == nil {
		u.since = new(T)
	}
	change(u.since)
}

// take returns what the caller is to log. It returns nil if there is nothing, or if the last line is younger than least.
func (u *unlogged[T]) take(least time.Duration) (since *T) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.since != nil && time.Since(u.logged) >= least {
		since, u.since, u.logged = u.since, nil, time.Now()
	}
	return since
}

// settledPeriods is a number of periods, with the last one of them.
type settledPeriods struct {
	count         int
	board, period string
}

// logSettled logs the periods that the node has settled since the last line, unless that was less than a time ago: at the
// end of a day many boards close at once.
func logSettled(log *slog.Logger, settled *unlogged[settledPeriods], least time.Duration) {
	if since := settled.take(least); since != nil {
		log.Info("settled closed periods", "periods", since.count, "board", since.board, "period", since.period)
	}
}

// closeOthers closes a period on all shards of an instance but p.shards[0], which settle does last: from then on no update counts there. It
// returns the ids that these results have; nil: a shard has not closed yet, by the clock of its master.
func (s *Store) closeOthers(ctx context.Context, instance string, r *definition.Compiled, p periodRecord, until int64) (
	ids []string, err error) {
	ids = []string{}
	for _, shard := range shardNames(r, instance) {
		if shard == p.shards[0] {
			continue
		}
		k := s.keys.Board(shard, p.Name)
		reply := script.Settle.Run(ctx, s.rdb, []string{k.Periods, k.Meta, k.Entered},
			[]any{p.Name, until, r.PeriodEnd(p.Period).UnixMicro(), "", deliveryID(shard, p.Name, State{}, nil), "", "", 0})
		text, closed := reply.Text(), reply.Text() == "1"
		if reply.Err != nil {
			return nil, reply.Err
		}
		record, ok := parsePeriodRecord(p.Name, text)
		if text == "" && !closed || text != "" && (!ok || record.id == "") {
			return nil, nil
		}
		ids = append(ids, record.id)
	}
	return ids, nil
}

// deliveryID begins the id of a result. It is the same each time that a node settles that result, also when a
// failover has lost the first settlement. The script adds when the board last changed: after a failover that has
// lost writes, other writes may have led to the same seq. others are the ids of the results of the other shards.
func deliveryID(instance, period string, at State, others []string) string {
	parts := append([]string{instance, period, at.Epoch, strconv.FormatInt(at.Seq, 10)}, others...)
	name := strings.Join(parts, keyspace.FieldSep)
	sum := sha256.Sum256([]byte(name))
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
	var fields []any
	for _, board := range s.cfg.Deliver {
		fields = append(fields, wantedField+board, now+wantedFor.Microseconds())
	}
	if err := script.Want.Run(ctx, s.rdb, []string{s.keys.Definitions()}, fields).Err; err != nil {
		return err
	}
	s.receiverNoted.Store(now)
	return nil
}

// hasReceiver reports whether a node takes deliveries of a board. board is the name of the
// definition. hasReceiver fails if a time in Redis is no number. If it took the board for one without
// a receiver, the node could drop the delivery of a closed period for good.
func (s *Store) hasReceiver(ctx context.Context, board string) (bool, error) {
	if slices.Contains(s.cfg.Deliver, board) || slices.Contains(s.cfg.Deliver, AllBoards) {
		return true, nil
	}
	r := s.readFields(ctx, s.keys.Definitions(), wantedField+board, wantedField+AllBoards)
	until := max(r.OptionalNumber(), r.OptionalNumber())
	return until > s.catalog.clock.now(), r.Err
}
