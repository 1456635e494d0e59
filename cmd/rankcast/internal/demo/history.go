package demo

import (
	"context"
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
)

// historyStep is a number of visits at one time in the past.
type historyStep struct {
	at     time.Time
	visits int
}

const (
	dayVisits    = 3  // in each dayStep of this week and the last
	todayVisits  = 8  // in each dayStep of today
	recentVisits = 16 // in each of the recentSteps
	recentSteps  = 12 // in the last three hours
	// dayStep is the time from one step of the history to the next. The boards record their history at that step until
	// now, so that it has no gap.
	dayStep = 2 * time.Hour
	// historyFactor is how many visits with small gifts one visit of the history stands for,
	// at most: the start of a server has no time for all visits of a day.
	historyFactor = 6
	// historyBatch is how many gifts go into one call, at most: a slow machine too answers it within
	// ranking.Config.CallTimeout.
	historyBatch = 8
	// historyShifts is how many stars become more popular in each step.
	historyShifts = 3
	// historySeed is constant so that each server starts with the same history.
	historySeed = 1
)

// historySteps returns the steps of the history in order of time: last week and this one, today with more visits than
// other days, the last three hours, and now. Weeks and days are those of the boards.
func historySteps(now time.Time) ([]historyStep, error) {
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return nil, err
	}
	y, m, d := now.In(zone).Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, zone)
	sinceMonday := (int(today.Weekday()) + 6) % 7
	var steps []historyStep
	for at := today.AddDate(0, 0, -sinceMonday-7); at.Before(now.Add(-window)); at = at.Add(dayStep) {
		visits := dayVisits
		if !at.Before(today) {
			visits = todayVisits
		}
		steps = append(steps, historyStep{at, visits})
	}
	for step := recentSteps - 1; step >= 0; step-- {
		ago := window * time.Duration(step) / recentSteps
		steps = append(steps, historyStep{now.Add(-ago), recentVisits})
	}
	return steps, nil
}

// PlayHistory fills an embedded store with two weeks of gifts until now: definitions by
// define, last week's winners, and scores for this week, today and the last three hours. It
// moves the store's clock forward from step to step and leaves it at now. No other client
// may use the store meanwhile. After an error the store may have a part of the history.
//
// open opens a ranking.Store on a URL. PlayHistory closes it, so that no Store lives to see
// the clock jump.
func PlayHistory(ctx context.Context, redis *embedded.Store, open func(url string) (store *ranking.Store, closeStore func(), err error),
	now time.Time, define func(context.Context, *ranking.Store) error) error {
	steps, err := historySteps(now)
	if err != nil {
		return err
	}
	redis.SetClock(steps[0].at)
	store, closeStore, err := open(redis.URL())
	if err != nil {
		return err
	}
	defer closeStore()
	if err := define(ctx, store); err != nil {
		return err
	}
	recorded, err := defineHistory(ctx, store, dayStep)
	if err != nil {
		return err
	}
	var names []string
	for _, d := range recorded.Boards {
		names = append(names, d.Name)
	}
	t := newTraffic(historySeed)
	for i, m := range steps {
		redis.SetClock(m.at)
		gifts := t.pastGifts(m.visits)
		if i == len(steps)-1 {
			gifts = slices.Concat(gifts, t.giftPerStar())
		}
		for some := range slices.Chunk(gifts, historyBatch) {
			if err := sendGifts(ctx, store, some); err != nil {
				return err
			}
		}
		if err := store.RecordHistory(ctx, names...); err != nil {
			return err
		}
	}
	return store.Define(ctx, recorded)
}

// defineHistory sets the step of all boards that record a history, but for families. It returns their definitions of
// before.
func defineHistory(ctx context.Context, store *ranking.Store, step time.Duration) (before definition.Set, err error) {
	boards, err := store.Boards(ctx)
	if err != nil {
		return before, err
	}
	var now definition.Set
	for _, d := range boards {
		if d.History > 0 && !d.Family() {
			before.Boards = append(before.Boards, d)
			d.History = step
			now.Boards = append(now.Boards, d)
		}
	}
	return before, store.Define(ctx, now)
}

// pastGifts is what a number of visits of the history come to, each visit as one gift.
func (t *traffic) pastGifts(visits int) []gift {
	gifts := make([]gift, visits)
	for i := range gifts {
		v := t.visit()
		if v.flowers <= smallGift {
			v.times *= 1 + t.random.IntN(historyFactor)
		}
		gifts[i] = gift{starID(v.star), viewerIDs[v.user], v.flowers * v.times}
	}
	for range historyShifts {
		t.shiftPopularity()
	}
	return gifts
}

// giftPerStar is one gift for each star, so that the page of each star has fans on a day that
// has just begun.
func (t *traffic) giftPerStar() []gift {
	gifts := make([]gift, len(starNames))
	for star := range gifts {
		gifts[star] = gift{starID(star), viewerIDs[t.generosity.Uint64()], 1 + t.random.IntN(smallGift)}
	}
	return gifts
}
