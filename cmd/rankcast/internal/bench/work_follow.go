package bench

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"rankcast/cmd/rankcast/internal/flags"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/server/client"
)

// Follow is rankcast bench follow: updates of a board, on which each socket follows the rank of another member.
type Follow struct {
	// Up to 250,000: each takes an open file.
	Followers int       `default:"1000" range:"1..250000" placeholder:"N" help:"Sockets, each of which follows another member (default ${default})."`
	Members   int       `default:"100000" placeholder:"N" help:"Members of the board, as many as --followers or more (default ${default})."`
	Open      openFlags `embed:""`
}

// Validate checks the flags.
func (f *Follow) Validate() error {
	return flags.CheckRange("members", f.Members, f.Followers, 5_000_000) // the digits of a name hold them
}

func (f *Follow) about() about {
	return about{
		Name: "follow", What: "updates of members whose own rank sockets follow", Unit: "update",
		Settings: term.Counted(f.Followers, "follower") + ", " + term.Counted(f.Members, "member") + ", " + f.Open.settings("update"),
	}
}

const (
	// followedStep is the distance in score of two members of neighbouring ranks before the measurement.
	followedStep = 10
	// followedPoints are the points of an update: the member overtakes a few others.
	followedPoints = 25
)

func (f *Follow) prepare(ctx context.Context, t *target) (rounds, error) {
	rows := spreadScores(f.Members, followedStep)
	members := make([]string, f.Followers) // by number of the socket
	for i := range members {               // from all ranks
		members[i] = rows[i*(f.Members/f.Followers)].member
	}
	return rounds{measure: func(ctx context.Context) (*figures, error) {
		o, err := f.Open.newRound(ctx, t, onOneBoard, members, followedPoints)
		if err != nil {
			return nil, err
		}
		followers := newFollowers(o, onOneBoard)
		subscribe := func(number int) []string { return []string{followers.subscribe(number)} }
		return o.run(ctx, f.Followers, subscribe, followers.show, followers.right)
	}}, t.fillOne(ctx, rows)
}

// standing is what a follower shows. Its reader changes it, and the check of the end reads it.
type standing struct {
	rank, score atomic.Int64
}

// followers are the sockets of a round. Socket number n follows the member at place n, on the board of that member.
type followers struct {
	*openRound
	at        boardOf
	standings []standing
}

func newFollowers(o *openRound, at boardOf) *followers {
	return &followers{o, at, make([]standing, len(o.members))}
}

// subscribe is the message of a socket.
func (f *followers) subscribe(number int) string {
	return fmt.Sprintf(`{"type":"subscribe","board":"%s","top":%d,"me":"%s"}`, f.t.board(f.at(number)), shownTop, f.members[number])
}

// show takes a frame of a socket.
func (f *followers) show(number int, frame []byte, at time.Time) {
	if !bytes.HasPrefix(frame, meFrame) {
		return
	}
	rank, score, ok := readMe(frame)
	if !ok {
		f.latencies.fail("frame that does not fit")
		return
	}
	shown, member := &f.standings[number], f.members[number]
	had := 0
	if shown.rank.Load() > 0 {
		had = f.count(member, shown.score.Load())
	}
	shown.score.Store(score)
	shown.rank.Store(rank)
	var few [8]int
	f.latencies.countShown(f.schedule.appendShown(few[:0], number, had, f.count(member, score)), f.schedule, at)
}

// right is the number of sockets that show what the server holds.
func (f *followers) right(ctx context.Context) (n int, err error) {
	held, err := f.t.entries(ctx, f.at, f.members)
	for i, e := range held {
		if f.standings[i].rank.Load() == e.Rank && f.standings[i].score.Load() == e.Score {
			n++
		}
	}
	return n, err
}

// readMe reads the rank and the score of a frame about the followed member.
func readMe(frame []byte) (rank, score int64, ok bool) {
	var me client.Me
	if err := json.Unmarshal(frame, &me); err != nil || me.Rank == nil || me.Score == nil {
		return 0, 0, false
	}
	return *me.Rank, *me.Score, true
}
