package cards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/cards/internal/card"
)

// fakeBoards are boards whose cards a test draws: their first names, by board.
type fakeBoards struct {
	mu     sync.Mutex
	first  map[string]string
	away   error
	reads  atomic.Int64
	draws  atomic.Int64
	atOnce atomic.Int64
	most   atomic.Int64
	takes  time.Duration
	size   int
}

func (f *fakeBoards) set(board, first string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first[board] = first
}

func (f *fakeBoards) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = err
}

func (f *fakeBoards) read(_ context.Context, board string) (cardContent, error) {
	f.reads.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	first, known := f.first[board]
	switch {
	case f.away != nil:
		return cardContent{}, f.away
	case !known:
		return cardContent{}, definition.ErrUnknownBoard
	case first == "":
		return cardContent{cardKey{"fans:{star}", true}, card.Card{Title: "fans"}}, nil
	}
	return cardContent{cardKey{board: board}, card.Card{Title: board, Rows: []card.Row{{Name: first}}}}, nil
}

func (f *fakeBoards) draw(c card.Card) ([]byte, error) {
	f.draws.Add(1)
	n := f.atOnce.Add(1)
	defer f.atOnce.Add(-1)
	for most := f.most.Load(); n > most && !f.most.CompareAndSwap(most, n); most = f.most.Load() {
	}
	time.Sleep(f.takes)
	return []byte(fmt.Sprint(c) + strings.Repeat("x", f.size)), nil
}

// withCards runs a test beside others, on simulated time, with cards of fake boards. One card is drawn at a time.
func withCards(t *testing.T, limits access.Config, test func(t *testing.T, c *Cards, f *fakeBoards)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeBoards{first: make(map[string]string), takes: 10 * time.Millisecond}
		c := New(nil, nil, access.New(limits))
		c.content, c.draw, c.slots = f.read, f.draw, semaphore.NewWeighted(1)
		test(t, c, f)
	})
}

// fromAddress is the address of a client.
func fromAddress(ip string) access.Address {
	return access.NewAddresses(nil, nil).Of(&http.Request{RemoteAddr: ip + ":80"})
}

// anybody is the address of a client where it does not matter.
var anybody access.Address

// requireCard requires the card of a board with a first name.
func requireCard(t *testing.T, c *Cards, board string, from access.Address, first string) {
	t.Helper()
	drawn, err := c.Get(t.Context(), board, from)
	require.NoError(t, err)
	require.Contains(t, string(drawn.PNG), first)
}

// requireNoCard requires an error in place of a card.
func requireNoCard(t *testing.T, c *Cards, board string, from access.Address, want error) {
	t.Helper()
	_, err := c.Get(t.Context(), board, from)
	require.ErrorIs(t, err, want)
}

// All who ask for a card at about the same time get one that is drawn once.
func TestCardIsShared(t *testing.T) {
	withCards(t, access.Config{}, func(t *testing.T, c *Cards, f *fakeBoards) {
		f.set("stars", "ana")
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { requireCard(t, c, "stars", anybody, "ana") })
		}
		wg.Wait()
		require.EqualValues(t, 1, f.draws.Load())
		f.set("stars", "ben")
		time.Sleep(MaxAge - time.Second)
		requireCard(t, c, "stars", anybody, "ana")
		time.Sleep(time.Second)
		requireCard(t, c, "stars", anybody, "ben")
		require.EqualValues(t, 2, f.draws.Load())
		for range 10 { // a board that does not change costs a read, and no drawing
			time.Sleep(MaxAge)
			requireCard(t, c, "stars", anybody, "ben")
		}
		require.EqualValues(t, 2, f.draws.Load())
		require.EqualValues(t, 12, f.reads.Load())
	})
}

// The node draws no more cards at a time than it may.
func TestCardsAreDrawnOneByOne(t *testing.T) {
	withCards(t, access.Config{}, func(t *testing.T, c *Cards, f *fakeBoards) {
		c.slots = semaphore.NewWeighted(2)
		var wg sync.WaitGroup
		for i := range 20 {
			board := fmt.Sprint("b", i)
			f.set(board, "ana")
			wg.Go(func() { requireCard(t, c, board, anybody, "ana") })
		}
		wg.Wait()
		require.EqualValues(t, 20, f.draws.Load())
		require.EqualValues(t, 2, f.most.Load())
		f.takes = time.Hour // a card that hangs keeps nobody waiting for long
		f.set("slow", "ana")
		f.set("slower", "ana")
		for _, board := range []string{"slow", "slower"} {
			wg.Go(func() { requireCard(t, c, board, anybody, "ana") })
		}
		synctest.Wait()
		f.set("late", "ana")
		requireNoCard(t, c, "late", anybody, access.ErrOverloaded)
		wg.Wait()
	})
}

// While Redis is away, the last card stands for a minute.
func TestCardInAnOutage(t *testing.T) {
	withCards(t, access.Config{}, func(t *testing.T, c *Cards, f *fakeBoards) {
		f.set("stars", "ana")
		requireCard(t, c, "stars", anybody, "ana")
		f.fail(fmt.Errorf("read: %w", definition.ErrUnavailable))
		time.Sleep(cardStale - time.Second)
		requireCard(t, c, "stars", anybody, "ana")
		requireNoCard(t, c, "other", anybody, definition.ErrUnavailable)
		time.Sleep(time.Second)
		requireNoCard(t, c, "stars", anybody, definition.ErrUnavailable)
		f.fail(nil)
		requireCard(t, c, "stars", anybody, "ana")
		f.fail(definition.ErrUnknownBoard) // it is deleted: nothing of it is left
		time.Sleep(MaxAge)
		requireNoCard(t, c, "stars", anybody, definition.ErrUnknownBoard)
		f.fail(definition.ErrUnavailable)
		requireNoCard(t, c, "stars", anybody, definition.ErrUnavailable)
	})
}

// Beyond the rate the last card stands, and an address beyond its own does not keep others from a card. Names
// without scores use up nothing.
func TestLimitOfCards(t *testing.T) {
	withCards(t, access.Config{Cards: 2}, func(t *testing.T, c *Cards, f *fakeBoards) {
		a, b := fromAddress("198.51.100.1"), fromAddress("198.51.100.2")
		for i := range 1000 {
			requireNoCard(t, c, fmt.Sprint("unknown", i), a, definition.ErrUnknownBoard)
			f.set(fmt.Sprint("fans:", i), "")
			requireCard(t, c, fmt.Sprint("fans:", i), a, "fans")
		}
		require.EqualValues(t, 1, f.draws.Load(), "all empty boards have one card")
		require.Equal(t, 1, c.kept.Len())
		requireNoCard(t, c, "fans:{star}", a, definition.ErrUnknownBoard) // a definition is no board
		boards := 0
		drawAll := func(from access.Address) (drawn int, err error) {
			for ; err == nil; drawn++ {
				boards++
				board := fmt.Sprint("b", boards)
				f.set(board, "ana")
				_, err = c.Get(t.Context(), board, from)
			}
			return drawn - 1, err
		}
		f.takes = 0
		drawn, err := drawAll(a)
		var refused *access.Refusal
		require.ErrorAs(t, err, &refused)
		require.Equal(t, access.AddressCards, refused.Limit)
		require.Equal(t, 4, drawn, "five seconds of half of the rate, less one")
		f.set("b1", "ben")
		time.Sleep(MaxAge)
		requireCard(t, c, "b1", a, "ben")
		drawn, err = drawAll(b)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 5, drawn)
		_, err = drawAll(fromAddress("198.51.100.3"))
		require.ErrorAs(t, err, &refused)
		require.Equal(t, access.Cards, refused.Limit)
		require.Positive(t, refused.RetryAfter)
		time.Sleep(MaxAge)
		for _, from := range []access.Address{a, b} {
			_, err = drawAll(from)
			require.Error(t, err)
		}
		before := f.draws.Load()
		f.set("b1", "cleo")
		requireCard(t, c, "b1", a, "ben") // the last card, where a new one is refused
		require.Equal(t, before, f.draws.Load())
	})
}

// A caller that shares a read with an address beyond its limit is not refused with it.
func TestLimitOfCardsIsOfTheAddress(t *testing.T) {
	withCards(t, access.Config{Cards: 2}, func(t *testing.T, c *Cards, f *fakeBoards) {
		a, b := fromAddress("198.51.100.1"), fromAddress("198.51.100.2")
		for i := range 5 {
			f.set(fmt.Sprint(i), "ana")
			requireCard(t, c, fmt.Sprint(i), a, "ana")
		}
		held := make(chan struct{})
		read := c.content
		c.content = func(ctx context.Context, board string) (cardContent, error) {
			<-held
			return read(ctx, board)
		}
		f.set("stars", "ana")
		var ofA, ofB error
		var wg sync.WaitGroup
		wg.Go(func() { _, ofA = c.Get(t.Context(), "stars", a) })
		synctest.Wait()
		wg.Go(func() { _, ofB = c.Get(t.Context(), "stars", b) })
		synctest.Wait()
		close(held)
		wg.Wait()
		require.ErrorIs(t, ofA, access.ErrRateLimited)
		require.NoError(t, ofB)
	})
}

// The node keeps cards of a bounded size together: those that were used last.
func TestCardsAreBounded(t *testing.T) {
	withCards(t, access.Config{Cards: access.Unlimited}, func(t *testing.T, c *Cards, f *fakeBoards) {
		f.takes = 0
		f.set("used", "ana")
		const most = maxCardBytes / cardOverhead
		for i := range most + 1 {
			board := fmt.Sprint("b", i)
			f.set(board, "ana")
			requireCard(t, c, board, anybody, "ana")
			requireCard(t, c, "used", anybody, "ana")
		}
		require.Less(t, c.kept.Len(), most)
		require.NotNil(t, c.last(cardKey{board: "used"}, 0))
		require.Nil(t, c.last(cardKey{board: "b0"}, 0))
		f.size = maxCardBytes / 4
		for i := range 10 {
			f.set(fmt.Sprint("large", i), "ana")
			requireCard(t, c, fmt.Sprint("large", i), anybody, "ana")
		}
		require.Equal(t, 3, c.kept.Len())
	})
}

// An error of the drawing reaches the caller, and nothing is kept.
func TestCardThatCannotBeDrawn(t *testing.T) {
	withCards(t, access.Config{}, func(t *testing.T, c *Cards, f *fakeBoards) {
		f.set("stars", "ana")
		broken := errors.New("broken")
		c.draw = func(card.Card) ([]byte, error) { return nil, broken }
		requireNoCard(t, c, "stars", anybody, broken)
		require.Zero(t, c.kept.Len())
		require.True(t, c.slots.TryAcquire(1))
	})
}

// A card tells times by the clock of its board, as the period above them goes by it.
func TestCardTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 18, 7, 0, 0, time.UTC)
	require.Equal(t, "2026-11-28 02:07 Asia/Shanghai", cardTime(definition.Board{Timezone: "Asia/Shanghai"}, at))
	require.Equal(t, "2026-11-27 18:07 UTC", cardTime(definition.Board{}, at.In(time.FixedZone("", 3600))))
	require.Equal(t, "2026-11-27 18:07 UTC", cardTime(definition.Board{Timezone: "None/None"}, at))
}
