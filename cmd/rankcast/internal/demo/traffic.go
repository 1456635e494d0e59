package demo

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// gift is flowers that a viewer sends to a star.
type gift struct {
	star, user string
	flowers    int
}

// traffic makes up what the viewers of a live page send, and when. Few stars take most of
// it and few viewers give most; a viewer sends one gift, or a run of equal small ones; a
// large one, or something that happened, brings a crowd to a star; nights are calm; and who
// is in favour changes by and by. All follows from the seed. It is for one caller at a time.
type traffic struct {
	random     *rand.Rand
	popularity *rand.Zipf // in favour
	generosity *rand.Zipf // viewerIDs
	popular    []int      // starNames, the one that is most in favour first
	favourites []int      // of each of viewerIDs, the star that it came for

	now     time.Duration // when the last gift was sent, since the first midnight
	arrives time.Duration // when the next viewer decides to give
	queue   []timedGift   // decided on, by their time
}

type timedGift struct {
	gift
	at time.Duration
}

const (
	// dayLength is how long a day of the demo takes: who watches for a while sees an evening
	// come, and a night that does not last long enough to look like the end.
	dayLength = 8 * time.Minute
	// firstHour is the hour at which the demo begins: the evening is coming.
	firstHour = 18

	// visitsAtPeak is how many viewers a second decide to give in the evening; each gives
	// about three gifts, which is as much as one can watch.
	visitsAtPeak = 1.1
	// giftGap is the least time between two gifts, so that there are never more than ten
	// in a second.
	giftGap = 100 * time.Millisecond

	favouriteOdds = 0.5  // odds that a viewer gives to its idol, and not to whoever is in favour
	runOdds       = 0.35 // that a small gift is the first of a run
	crowdOdds     = 0.02 // that a crowd comes, whatever was given
	shiftOdds     = 0.1  // that some star rises in favour

	smallGift     = 10  // flowers; no run is of more at a time
	largeGift     = 520 // flowers; who gives so many brings a crowd
	shortestRun   = 3   // gifts
	longestRun    = 15
	smallestCrowd = 8 // viewers
	largestCrowd  = 16
)

// amounts are the flowers of a gift, and their odds.
var amounts = []struct {
	flowers int
	odds    float64
}{{1, 0.62}, {5, 0.19}, {10, 0.12}, {66, 0.045}, {99, 0.018}, {520, 0.005}, {999, 0.002}}

// popularitySeed is what favour and idols begin with, so that those who were loved last week are
// not strangers today.
const popularitySeed = 17

// newTraffic begins as the demo opens.
func newTraffic(seed uint64) *traffic {
	t := &traffic{random: rand.New(rand.NewPCG(popularitySeed, popularitySeed)), now: dayLength * firstHour / 24}
	t.useRandom()
	t.popular = t.random.Perm(len(starNames))
	t.favourites = make([]int, len(viewerIDs))
	for user := range t.favourites {
		t.favourites[user] = t.popular[t.popularity.Uint64()]
	}
	t.random = rand.New(rand.NewPCG(seed, 0))
	t.useRandom()
	t.arrives = t.now
	return t
}

// useRandom has the odds of stars and viewers go by the random source.
func (t *traffic) useRandom() {
	t.popularity = rand.NewZipf(t.random, 4, 14, uint64(len(starNames)-1))
	t.generosity = rand.NewZipf(t.random, 1.4, 4, uint64(len(viewerIDs)-1))
}

// next is the next gift, and how long after the one before it is sent.
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

// arrive has a viewer decide what to give.
func (t *traffic) arrive() {
	v := t.visit()
	t.send(t.arrives, v)
	if v.flowers >= largeGift || t.random.Float64() < crowdOdds {
		t.sendCrowd(v.star)
	}
	if t.random.Float64() < shiftOdds {
		t.shiftPopularity()
	}
	rate := visitsAtPeak * activity(hourOf(t.arrives)) // a second
	t.arrives += time.Duration(t.random.ExpFloat64() / rate * float64(time.Second))
}

// visit is what a viewer gives to a star at a time: some gifts of so many flowers each.
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

// send puts the gifts of a visit among those that are due: one after the other, as quick as
// a finger is.
func (t *traffic) send(at time.Duration, v visit) {
	for range v.times {
		one := timedGift{gift{starID(v.star), viewerIDs[v.user], v.flowers}, at}
		i, _ := slices.BinarySearchFunc(t.queue, at+1, func(s timedGift, at time.Duration) int { return cmp.Compare(s.at, at) })
		t.queue = slices.Insert(t.queue, i, one)
		at += 150*time.Millisecond + t.randomDuration(300*time.Millisecond)
	}
}

// sendCrowd has many come to a star, whoever they are, a moment after they have seen why.
func (t *traffic) sendCrowd(star int) {
	for _, user := range t.random.Perm(len(viewerIDs))[:smallestCrowd+t.random.IntN(largestCrowd-smallestCrowd+1)] {
		v := visit{star: star, user: user, flowers: amounts[t.random.IntN(2)].flowers, times: 1 + t.random.IntN(2)}
		t.send(t.arrives+2*time.Second+t.randomDuration(5*time.Second), v)
	}
}

// shiftPopularity has a star rise by a few places in favour.
func (t *traffic) shiftPopularity() {
	from := 1 + t.random.IntN(len(t.popular)-1)
	to := max(0, from-1-t.random.IntN(3))
	star := t.popular[from]
	t.popular = slices.Insert(slices.Delete(t.popular, from, from+1), to, star)
}

func (t *traffic) randomDuration(d time.Duration) time.Duration {
	return time.Duration(t.random.Int64N(int64(d)))
}

// hourOf is the hour that it is in the demo, 0 to 24.
func hourOf(at time.Duration) float64 { return 24 * float64(at%dayLength) / float64(dayLength) }

const (
	calmest, busiest = 5.0, 21.0 // hours
	calmShare        = 0.1       // of what there is at the busiest
)

// activity is how much is going on at an hour, up to 1: it rises from early morning to the
// evening, and falls again, without a bend.
func activity(hour float64) float64 {
	rise := busiest - calmest
	since := math.Mod(hour-calmest+24, 24)
	phase := since / rise // 0 to 1 while it rises, 1 to 2 while it falls
	if since > rise {
		phase = 1 + (since-rise)/(24-rise)
	}
	return calmShare + (1-calmShare)*(1-math.Cos(math.Pi*phase))/2
}
