package main

import (
	"context"
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
)

// moment is a time in the past at which so many viewers gave something.
type moment struct {
	at     time.Time
	visits int
}

const (
	eveningVisits = 30 // of each day of this week and the last
	recentVisits  = 16 // of each of the recentSteps
	recentSteps   = 12 // that the last three hours are played in
	// pastVisits is how many visits with small gifts stand for one, at most: an evening
	// has more of them than the start has time for.
	pastVisits = 6
	// pastDrifts is how many stars rise from one moment to the next.
	pastDrifts = 3
	// pastSeed is the same for all: the first look at the page is worth repeating.
	pastSeed = 1
)

// pastMoments are when something was given before now: on the evenings of last week and of
// this one, today, in the last three hours, and now, in this order. Weeks and days are those
// of the demo's boards.
func pastMoments(now time.Time) ([]moment, error) {
	zone, err := time.LoadLocation(demoZone)
	if err != nil {
		return nil, err
	}
	now = now.In(zone)
	y, m, d := now.Date()
	sinceMonday := (int(now.Weekday()) + 6) % 7
	recent := now.Add(-demoWindow)
	var moments []moment
	add := func(at time.Time, visits int) {
		if at.Before(recent) {
			moments = append(moments, moment{at, visits})
		}
	}
	for day := -sinceMonday - 7; day < 0; day++ {
		add(time.Date(y, m, d+day, int(busiest), 0, 0, 0, zone), eveningVisits)
	}
	for hour := 0; hour < 24; hour += 2 {
		add(time.Date(y, m, d, hour, 0, 0, 0, zone), int(eveningVisits/2*bustle(float64(hour))))
	}
	for step := recentSteps - 1; step >= 0; step-- {
		ago := demoWindow * time.Duration(step) / recentSteps
		moments = append(moments, moment{now.Add(-ago), recentVisits})
	}
	return moments, nil
}

// playPast gives an embedded store, which nobody else uses yet, two weeks until now: boards
// that are defined, last week's winners, and scores for this week, today and the last three
// hours. It leaves the store's clock at now.
//
// It has a ranking.Store of its own, so that none is about for which time ever went another
// way than on.
func (s *serve) playPast(ctx context.Context, redis *embedded.Store, now time.Time, all definition.Set) error {
	moments, err := pastMoments(now)
	if err != nil {
		return err
	}
	rdb, err := ranking.Open(redis.URL())
	if err != nil {
		return err
	}
	defer rdb.Close()
	redis.SetClock(moments[0].at)
	store := ranking.New(rdb, ranking.Config{Prefix: s.Prefix})
	defer store.Close()
	if err := s.define(ctx, store, all); err != nil {
		return err
	}
	t := newTraffic(pastSeed)
	for i, m := range moments {
		redis.SetClock(m.at)
		gifts := t.past(m.visits)
		if i == len(moments)-1 {
			gifts = slices.Concat(gifts, t.each())
		}
		if err := sendGifts(ctx, store, gifts); err != nil {
			return err
		}
	}
	return nil
}

// past is what some visits came to, of a time that is only told of in sums.
func (t *traffic) past(visits int) []demoGift {
	gifts := make([]demoGift, visits)
	for i := range gifts {
		v := t.visit()
		if v.flowers <= smallGift {
			v.times *= 1 + t.random.IntN(pastVisits)
		}
		gifts[i] = demoGift{starID(v.star), demoUsers[v.user], v.flowers * v.times}
	}
	for range pastDrifts {
		t.drift()
	}
	return gifts
}

// each is a gift for each star, so that none has a page without fans, also when the day has
// just begun.
func (t *traffic) each() []demoGift {
	gifts := make([]demoGift, len(demoStars))
	for star := range gifts {
		gifts[star] = demoGift{starID(star), demoUsers[t.givers.Uint64()], 1 + t.random.IntN(smallGift)}
	}
	return gifts
}
