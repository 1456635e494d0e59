package cards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"reflect"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/lru"
	"rankcast/server/access"
	"rankcast/server/cards/internal/card"
	"rankcast/server/internal/entry"
)

const (
	// MaxAge is how long the node answers from one card.
	MaxAge = 5 * time.Second
	// cardStale is how old a card may be that answers while Redis is away, or while too many cards are drawn.
	cardStale = time.Minute
	// cardTimeout bounds the read of a board for a card, and the wait until it may be drawn. A caller that
	// disconnects does not end them: others wait for the card.
	cardTimeout = 3 * time.Second
	// maxCardBytes bounds the cards that the node keeps: 500 of 30 KB, or more of smaller ones. cardOverhead is what one takes
	// beside its picture, in bytes.
	maxCardBytes = 16 << 20
	cardOverhead = 2 << 10
)

// cardKey is the key of a card that the node keeps.
type cardKey struct {
	board string // its name, as requests write it; of an empty board that of its definition
	empty bool
}

// Card is the picture of a card. It does not change.
type Card struct {
	PNG   []byte
	ETag  string
	shows card.Card // what it shows
}

// Cards draws cards, shares each one for MaxAge among all requests, and keeps the cards that were used last. New makes
// it. All methods may be called concurrently.
type Cards struct {
	store   *ranking.Store
	entries *entry.Reader
	content func(ctx context.Context, board string) (cardContent, error)
	draw    func(card.Card) ([]byte, error)
	limits  *access.Limits

	slots   *semaphore.Weighted // as many as cards may be drawn at one time
	drawing singleflight.Group
	kept    *lru.Cache[cardKey, keptCard]
}

// keptCard is a card that the node keeps. The board showed it at the time at.
type keptCard struct {
	*Card
	at time.Time
}

// New makes Cards of the boards of a store. The node draws one card at a time for each two processors.
func New(store *ranking.Store, entries *entry.Reader, limits *access.Limits) *Cards {
	c := &Cards{
		store: store, entries: entries, draw: card.Draw, limits: limits,
		slots: semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2))), kept: lru.New[cardKey, keptCard](maxCardBytes),
	}
	c.content = c.read
	return c
}

// Get returns the card of a board for an address. While Redis is away, or the address or the node draws too many
// cards, it returns the last card if that is younger than cardStale, and else the error.
func (c *Cards) Get(ctx context.Context, board string, from access.Address) (*Card, error) {
	if drawn := c.last(cardKey{board: board}, MaxAge); drawn != nil {
		return drawn, nil
	}
	type outcome struct {
		drawn *Card
		from  access.Address
	}
	for {
		made, err, _ := c.drawing.Do(board, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cardTimeout)
			defer cancel()
			drawn, err := c.make(ctx, board, from)
			return outcome{drawn, from}, err
		})
		o := made.(outcome)
		var refused *access.Refusal
		switch {
		case err == nil:
			return o.drawn, nil
		case errors.As(err, &refused) && refused.Limit == access.AddressCards && o.from != from:
			continue // the limit of another address is none of this one
		case refused != nil, errors.Is(err, definition.ErrUnavailable):
			if drawn := c.last(cardKey{board: board}, cardStale); drawn != nil {
				return drawn, nil
			}
		}
		return nil, err
	}
}

// make reads a board and draws its card, unless the node has a card that shows the same.
func (c *Cards) make(ctx context.Context, board string, from access.Address) (*Card, error) {
	if drawn := c.last(cardKey{board: board}, MaxAge); drawn != nil { // another request has drawn it since
		return drawn, nil
	}
	began := time.Now()
	content, err := c.content(ctx, board)
	if err != nil {
		if !errors.Is(err, definition.ErrUnavailable) {
			c.kept.Drop(cardKey{board: board})
		}
		return nil, err
	}
	if content.key.empty {
		c.kept.Drop(cardKey{board: board}) // it had scores a moment ago
	}
	if drawn := c.last(content.key, 0); drawn != nil && reflect.DeepEqual(drawn.shows, content.card) {
		c.keep(content.key, drawn, began)
		return drawn, nil
	}
	if err := c.limits.AllowCard(from); err != nil {
		return nil, err
	}
	if c.slots.Acquire(ctx, 1) != nil {
		return nil, c.limits.RefuseCard()
	}
	defer c.slots.Release(1)
	png, err := c.draw(content.card)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(png)
	drawn := &Card{png, `"` + hex.EncodeToString(sum[:8]) + `"`, content.card}
	c.keep(content.key, drawn, began)
	return drawn, nil
}

// last returns the card that the node keeps under a key if it is younger than maxAge, or of any age for 0; nil
// for none.
func (c *Cards) last(key cardKey, maxAge time.Duration) *Card {
	kept, ok := c.kept.Get(key)
	if !ok || maxAge > 0 && time.Since(kept.at) >= maxAge {
		return nil
	}
	return kept.Card
}

// keep keeps a card that is right as of a time.
func (c *Cards) keep(key cardKey, drawn *Card, at time.Time) {
	c.kept.Put(key, keptCard{drawn, at}, len(drawn.PNG)+cardOverhead)
}
