package demo

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// demoGift is flowers that a viewer sends to a star.
type demoGift struct {
	star, user string
	flowers    int
}

// traffic makes up what the viewers of a live page send, and when. Few stars take most of
// it and few viewers give most; a viewer sends one gift, or a run of equal small ones; a
// large one, or something that happened, brings a crowd to a star; nights are calm; and who
// is in favour changes by and by. All follows from the seed. It is for one caller at a time.
type traffic struct {
	random *rand.Rand
	places *rand.Zipf // in favour
	givers *rand.Zipf // demoUsers
	favour []int      // demoStars, the one that is most in favour first
	idols  []int      // of each of demoUsers, the star that it came for

	now     time.Duration // when the last gift was sent, since the first midnight
	arrives time.Duration // when the next viewer decides to give
	due     []sent        // decided on, by their time
}

type sent struct {
	demoGift
	at time.Duration
}

const (
	// demoDay is how long a day of the demo takes: who watches for a while sees an evening
	// come, and a night that does not last long enough to look like the end.
	demoDay = 8 * time.Minute
	// demoOpens is the hour at which the demo begins: the evening is coming.
	demoOpens = 18

	// visitsAtPeak is how many viewers a second decide to give in the evening; each gives
	// about three gifts, which is as much as one can watch.
	visitsAtPeak = 1.1
	// giftGap is the least time between two gifts, so that there are never more than ten
	// in a second.
	giftGap = 100 * time.Millisecond

	loyalty   = 0.5  // odds that a viewer gives to its idol, and not to whoever is in favour
	runOdds   = 0.35 // that a small gift is the first of a run
	crowdOdds = 0.02 // that a crowd comes, whatever was given
	driftOdds = 0.1  // that some star rises in favour

	smallGift  = 10  // flowers; no run is of more at a time
	spectacle  = 520 // flowers; who gives so many brings a crowd
	runShort   = 3   // gifts
	runLong    = 15
	crowdSmall = 8 // viewers
	crowdLarge = 16
)

// amounts are the flowers of a gift, and their odds.
var amounts = []struct {
	flowers int
	odds    float64
}{{1, 0.62}, {5, 0.19}, {10, 0.12}, {66, 0.045}, {99, 0.018}, {520, 0.005}, {999, 0.002}}

// castSeed is what favour and idols begin with, so that those who were loved last week are
// not strangers today.
const castSeed = 17

// newTraffic begins as the demo opens.
func newTraffic(seed uint64) *traffic {
	t := &traffic{random: rand.New(rand.NewPCG(castSeed, castSeed)), now: demoDay * demoOpens / 24}
	t.cast()
	t.favour = t.random.Perm(len(demoStars))
	t.idols = make([]int, len(demoUsers))
	for user := range t.idols {
		t.idols[user] = t.favour[t.places.Uint64()]
	}
	t.random = rand.New(rand.NewPCG(seed, 0))
	t.cast()
	t.arrives = t.now
	return t
}

// cast has the odds of stars and viewers go by the random source.
func (t *traffic) cast() {
	t.places = rand.NewZipf(t.random, 4, 14, uint64(len(demoStars)-1))
	t.givers = rand.NewZipf(t.random, 1.4, 4, uint64(len(demoUsers)-1))
}

// next is the next gift, and how long after the one before it is sent.
func (t *traffic) next() (demoGift, time.Duration) {
	for len(t.due) == 0 || t.due[0].at >= t.arrives {
		t.arrive()
	}
	first := t.due[0]
	t.due = t.due[1:]
	gap := max(first.at-t.now, giftGap)
	t.now += gap
	return first.demoGift, gap
}

// arrive has a viewer decide what to give.
func (t *traffic) arrive() {
	v := t.visit()
	t.send(t.arrives, v)
	if v.flowers >= spectacle || t.random.Float64() < crowdOdds {
		t.crowd(v.star)
	}
	if t.random.Float64() < driftOdds {
		t.drift()
	}
	rate := visitsAtPeak * bustle(hourOf(t.arrives)) // a second
	t.arrives += time.Duration(t.random.ExpFloat64() / rate * float64(time.Second))
}

// visit is what a viewer gives to a star at a time: some gifts of so many flowers each.
type visit struct{ star, user, flowers, times int }

func (t *traffic) visit() visit {
	v := visit{user: int(t.givers.Uint64()), times: 1}
	if v.star = t.idols[v.user]; t.random.Float64() >= loyalty {
		v.star = t.favour[t.places.Uint64()]
	}
	odds := t.random.Float64()
	for _, a := range amounts {
		v.flowers = a.flowers
		if odds -= a.odds; odds < 0 {
			break
		}
	}
	if v.flowers <= smallGift && t.random.Float64() < runOdds {
		longer := runLong - runShort + 1
		v.times = runShort + min(t.random.IntN(longer), t.random.IntN(longer)) // most runs are short
	}
	return v
}

// send puts the gifts of a visit among those that are due: one after the other, as quick as
// a finger is.
func (t *traffic) send(at time.Duration, v visit) {
	for range v.times {
		one := sent{demoGift{starID(v.star), demoUsers[v.user], v.flowers}, at}
		i, _ := slices.BinarySearchFunc(t.due, at+1, func(s sent, at time.Duration) int { return cmp.Compare(s.at, at) })
		t.due = slices.Insert(t.due, i, one)
		at += 150*time.Millisecond + t.upTo(300*time.Millisecond)
	}
}

// crowd has many come to a star, whoever they are, a moment after they have seen why.
func (t *traffic) crowd(star int) {
	for _, user := range t.random.Perm(len(demoUsers))[:crowdSmall+t.random.IntN(crowdLarge-crowdSmall+1)] {
		v := visit{star: star, user: user, flowers: amounts[t.random.IntN(2)].flowers, times: 1 + t.random.IntN(2)}
		t.send(t.arrives+2*time.Second+t.upTo(5*time.Second), v)
	}
}

// drift has a star rise by a few places in favour.
func (t *traffic) drift() {
	from := 1 + t.random.IntN(len(t.favour)-1)
	to := max(0, from-1-t.random.IntN(3))
	star := t.favour[from]
	t.favour = slices.Insert(slices.Delete(t.favour, from, from+1), to, star)
}

func (t *traffic) upTo(d time.Duration) time.Duration {
	return time.Duration(t.random.Int64N(int64(d)))
}

// hourOf is the hour that it is in the demo, 0 to 24.
func hourOf(at time.Duration) float64 { return 24 * float64(at%demoDay) / float64(demoDay) }

const (
	calmest, busiest = 5.0, 21.0 // hours
	calm             = 0.1       // of what there is at the busiest
)

// bustle is how much is going on at an hour, up to 1: it rises from early morning to the
// evening, and falls again, without a bend.
func bustle(hour float64) float64 {
	rise := busiest - calmest
	since := math.Mod(hour-calmest+24, 24)
	phase := since / rise // 0 to 1 while it rises, 1 to 2 while it falls
	if since > rise {
		phase = 1 + (since-rise)/(24-rise)
	}
	return calm + (1-calm)*(1-math.Cos(math.Pi*phase))/2
}
