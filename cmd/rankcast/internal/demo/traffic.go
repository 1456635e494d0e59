package demo

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// gift is a number of flowers that a viewer sends to a star.
type gift struct {
	star, user string
	flowers    int
}

// traffic invents what the viewers of a live page send, and when. A few stars get most of the
// flowers and a few viewers give most. A viewer sends one gift, or a run of equal small ones.
// A large gift, or a random occasion, draws a crowd to a star, and popularity shifts over time.
//
// All of it follows from the seed. One goroutine may use a traffic at a time.
type traffic struct {
	random     *rand.Rand
	popularity *rand.Zipf // of positions in popular
	generosity *rand.Zipf // of positions in viewerIDs
	popular    []int      // positions in starNames, the most popular first
	favourites []int      // the favourite star of each of viewerIDs

	now     time.Duration // time of the last gift, since the start
	arrives time.Duration // time at which the next viewer arrives
	queue   []timedGift   // gifts to come, in order of time
}

type timedGift struct {
	gift
	at time.Duration
}

const (
	// visitRate is the number of visits a second. A visit has about three gifts, and an observer can follow no more.
	visitRate = 1.1
	// giftGap is the least time between two gifts: at most ten in a second.
	giftGap = 100 * time.Millisecond

	favouriteOdds = 0.5  // that a viewer gives to its favourite, and not to a popular star
	runOdds       = 0.35 // that a small gift is the first of a run
	crowdOdds     = 0.02 // that a visit draws a crowd, whatever the gift
	shiftOdds     = 0.1  // that a star becomes more popular

	smallGift     = 10  // flowers; a run has no larger gifts
	largeGift     = 520 // flowers; a gift of this size draws a crowd
	shortestRun   = 3   // gifts
	longestRun    = 15
	smallestCrowd = 8 // viewers
	largestCrowd  = 16
)

// amounts are the sizes of gifts in flowers, and their odds.
var amounts = []struct {
	flowers int
	odds    float64
}{{1, 0.62}, {5, 0.19}, {10, 0.12}, {66, 0.045}, {99, 0.018}, {520, 0.005}, {999, 0.002}}

// popularitySeed is the seed of popularity and favourites, so that the stars of last week are
// popular today.
const popularitySeed = 17

func newTraffic(seed uint64) *traffic {
	t := &traffic{random: rand.New(rand.NewPCG(popularitySeed, popularitySeed))}
	t.useRandom()
	t.popular = t.random.Perm(len(starNames))
	t.favourites = make([]int, len(viewerIDs))
	for user := range t.favourites {
		t.favourites[user] = t.popular[t.popularity.Uint64()]
	}
	t.random = rand.New(rand.NewPCG(seed, 0))
	t.useRandom()
	return t
}

// useRandom makes the odds of stars and viewers follow the current random source.
func (t *traffic) useRandom() {
	t.popularity = rand.NewZipf(t.random, 4, 14, uint64(len(starNames)-1))
	t.generosity = rand.NewZipf(t.random, 1.4, 4, uint64(len(viewerIDs)-1))
}

// next returns the next gift and the time between it and the one before.
func (t *traffic) next() (gift, time.Duration) {
	for len(t.queue) == 0 || t.queue[0].at >= t.arrives {
		t.arrive()
	}
	first := t.queue[0]
	t.queue = t.queue[1:]
	gap := max(first.at-t.now, giftGap)
	t.now += gap
	return first.gift, gap
}

// arrive queues the visit of the next viewer, and what it leads to.
func (t *traffic) arrive() {
	v := t.visit()
	t.send(t.arrives, v)
	if v.flowers >= largeGift || t.random.Float64() < crowdOdds {
		t.sendCrowd(v.star)
	}
	if t.random.Float64() < shiftOdds {
		t.shiftPopularity()
	}
	t.arrives += time.Duration(t.random.ExpFloat64() / visitRate * float64(time.Second))
}

// visit is a number of gifts of the same size from one viewer to one star.
type visit struct{ star, user, flowers, times int }

func (t *traffic) visit() visit {
	v := visit{user: int(t.generosity.Uint64()), times: 1}
	if v.star = t.favourites[v.user]; t.random.Float64() >= favouriteOdds {
		v.star = t.popular[t.popularity.Uint64()]
	}
	odds := t.random.Float64()
	for _, a := range amounts {
		v.flowers = a.flowers
		if odds -= a.odds; odds < 0 {
			break
		}
	}
	if v.flowers <= smallGift && t.random.Float64() < runOdds {
		longer := longestRun - shortestRun + 1
		v.times = shortestRun + min(t.random.IntN(longer), t.random.IntN(longer)) // most runs are short
	}
	return v
}

// send queues the gifts of a visit, one after the other at the speed of a tapping finger.
func (t *traffic) send(at time.Duration, v visit) {
	for range v.times {
		one := timedGift{gift{starID(v.star), viewerIDs[v.user], v.flowers}, at}
		i, _ := slices.BinarySearchFunc(t.queue, at+1, func(s timedGift, at time.Duration) int { return cmp.Compare(s.at, at) })
		t.queue = slices.Insert(t.queue, i, one)
		at += 150*time.Millisecond + t.randomDuration(300*time.Millisecond)
	}
}

// sendCrowd queues the visits of many random viewers to a star, some seconds after the
// occasion.
func (t *traffic) sendCrowd(star int) {
	for _, user := range t.random.Perm(len(viewerIDs))[:smallestCrowd+t.random.IntN(largestCrowd-smallestCrowd+1)] {
		v := visit{star: star, user: user, flowers: amounts[t.random.IntN(2)].flowers, times: 1 + t.random.IntN(2)}
		t.send(t.arrives+2*time.Second+t.randomDuration(5*time.Second), v)
	}
}

// shiftPopularity moves a random star up by a few places in popular.
func (t *traffic) shiftPopularity() {
	from := 1 + t.random.IntN(len(t.popular)-1)
	to := max(0, from-1-t.random.IntN(3))
	star := t.popular[from]
	t.popular = slices.Insert(slices.Delete(t.popular, from, from+1), to, star)
}

func (t *traffic) randomDuration(d time.Duration) time.Duration {
	return time.Duration(t.random.Int64N(int64(d)))
}
