package demo

import (
	"context"
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/embedded"
)

// historyStep is a time in the past at which so many viewers gave something.
type historyStep struct {
	at     time.Time
	visits int
}

const (
	eveningVisits = 30 // of each day of this week and the last
	recentVisits  = 16 // of each of the recentSteps
	recentSteps   = 12 // that the last three hours are played in
	// historyFactor is how many visits with small gifts stand for one, at most: an evening
	// has more of them than the start has time for.
	historyFactor = 6
	// historyShifts is how many stars rise from one moment to the next.
	historyShifts = 3
	// historySeed is the same for all: the first look at the page is worth repeating.
	historySeed = 1
)

// historySteps are when something was given before now: on the evenings of last week and of
// this one, today, in the last three hours, and now, in this order. Weeks and days are those
// of the demo's boards.
func historySteps(now time.Time) ([]historyStep, error) {
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return nil, err
	}
	now = now.In(zone)
	y, m, d := now.Date()
	sinceMonday := (int(now.Weekday()) + 6) % 7
	recent := now.Add(-window)
	var moments []historyStep
	add := func(at time.Time, visits int) {
		if at.Before(recent) {
			moments = append(moments, historyStep{at, visits})
		}
	}
	for day := -sinceMonday - 7; day < 0; day++ {
		add(time.Date(y, m, d+day, int(busiest), 0, 0, 0, zone), eveningVisits)
	}
	for hour := 0; hour < 24; hour += 2 {
		add(time.Date(y, m, d, hour, 0, 0, 0, zone), int(eveningVisits/2*activity(float64(hour))))
	}
	for step := recentSteps - 1; step >= 0; step-- {
		ago := window * time.Duration(step) / recentSteps
		moments = append(moments, historyStep{now.Add(-ago), recentVisits})
	}
	return moments, nil
}

// PlayHistory gives an embedded store, which nobody else uses yet, two weeks until now: boards
// that are defined, last week's winners, and scores for this week, today and the last three
// hours. It leaves the store's clock at now.
//
// It has a ranking.Store of its own, so that none is about for which time ever went another
// way than on.
func PlayHistory(ctx context.Context, redis *embedded.Store, prefix string, now time.Time, define func(context.Context, *ranking.Store) error) error {
	moments, err := historySteps(now)
	if err != nil {
		return err
	}
	rdb, err := ranking.Open(redis.URL())
	if err != nil {
		return err
	}
	defer rdb.Close()
	redis.SetClock(moments[0].at)
	store := ranking.New(rdb, ranking.Config{Prefix: prefix})
	defer store.Close()
	if err := define(ctx, store); err != nil {
		return err
	}
	t := newTraffic(historySeed)
	for i, m := range moments {
		redis.SetClock(m.at)
		gifts := t.pastGifts(m.visits)
		if i == len(moments)-1 {
			gifts = slices.Concat(gifts, t.giftPerStar())
		}
		if err := sendGifts(ctx, store, gifts); err != nil {
			return err
		}
	}
	return nil
}

// pastGifts is what some visits came to, of a time that is only told of in sums.
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

// giftPerStar is a gift for each star, so that none has a page without fans, also when the day has
// just begun.
func (t *traffic) giftPerStar() []gift {
	gifts := make([]gift, len(starNames))
	for star := range gifts {
		gifts[star] = gift{starID(star), viewerIDs[t.generosity.Uint64()], 1 + t.random.IntN(smallGift)}
	}
	return gifts
}
