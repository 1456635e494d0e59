package server

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"reflect"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"rankcast/ranking"
	"rankcast/server/access"
	"rankcast/server/internal/card"
)

const (
	// cardMaxAge is how long the node answers from one card.
	cardMaxAge = 5 * time.Second
	// cardStale is how old a card may be that answers while Redis is away, or while too many cards are drawn.
	cardStale = time.Minute
	// cardTimeout bounds the read of a board for a card, and the wait for the turn to draw it. A caller that
	// disconnects does not end them: others wait for the card.
	cardTimeout = 3 * time.Second
	// maxCards and maxCardBytes bound the cards that the node keeps: those of 30 KB fill 16 MiB.
	maxCards     = 512
	maxCardBytes = 16 << 20
)

// cardKey is the key of a card that the node keeps.
type cardKey struct {
	board string // its name, as requests write it; of an empty board that of its definition
	empty bool
}

// drawnCard is the picture of a card. It does not change.
type drawnCard struct {
	png  []byte
	etag string
	card card.Card // what it shows
}

// cards draws cards, shares each one for cardMaxAge among all requests, and keeps the cards that were used last.
// newCards makes it. get may be called concurrently.
type cards struct {
	read   func(ctx context.Context, board string) (cardContent, error)
	draw   func(card.Card) ([]byte, error)
	limits *access.Limits

	turns   chan struct{} // as many as cards may be drawn at one time
	drawing singleflight.Group

	mu    sync.Mutex
	kept  map[cardKey]*list.Element
	order list.List // of *keptCard, the one used last first
	bytes int
}

// keptCard is a card that the node keeps. The board showed it at the time at.
type keptCard struct {
	key cardKey
	*drawnCard
	at time.Time
}

// newCards makes cards of boards that read reads. The node draws one card at a time for each two processors.
func newCards(read func(ctx context.Context, board string) (cardContent, error), limits *access.Limits) *cards {
	return &cards{
		read: read, draw: card.Draw, limits: limits, kept: make(map[cardKey]*list.Element), turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
}

// get returns the card of a board for an address. While Redis is away, or the address or the node draws too many
// cards, it returns the last card if that is younger than cardStale, and else the error.
func (c *cards) get(ctx context.Context, board string, from access.Address) (*drawnCard, error) {
	if drawn := c.last(cardKey{board: board}, cardMaxAge); drawn != nil {
		return drawn, nil
	}
	type outcome struct {
		drawn *drawnCard
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
		case refused != nil, errors.Is(err, ranking.ErrUnavailable):
			if drawn := c.last(cardKey{board: board}, cardStale); drawn != nil {
				return drawn, nil
			}
		}
		return nil, err
	}
}

// make reads a board and draws its card, unless the node has a card that shows the same.
func (c *cards) make(ctx context.Context, board string, from access.Address) (*drawnCard, error) {
	if drawn := c.last(cardKey{board: board}, cardMaxAge); drawn != nil { // another request has drawn it since
		return drawn, nil
	}
	began := time.Now()
	content, err := c.read(ctx, board)
	if err != nil {
		if !errors.Is(err, ranking.ErrUnavailable) {
			c.drop(cardKey{board: board})
		}
		return nil, err
	}
	if content.key.empty {
		c.drop(cardKey{board: board}) // it had scores a moment ago
	}
	if drawn := c.last(content.key, 0); drawn != nil && reflect.DeepEqual(drawn.card, content.card) {
		c.keep(content.key, drawn, began)
		return drawn, nil
	}
	if err := c.limits.AllowCard(from); err != nil {
		return nil, err
	}
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return nil, c.limits.RefuseCard()
	}
	png, err := c.draw(content.card)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(png)
	drawn := &drawnCard{png, `"` + hex.EncodeToString(sum[:8]) + `"`, content.card}
	c.keep(content.key, drawn, began)
	return drawn, nil
}

// last returns the card that the node keeps under a key if it is younger than maxAge, or of any age for 0; nil
// for none.
func (c *cards) last(key cardKey, maxAge time.Duration) *drawnCard {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[key]
	if e == nil {
		return nil
	}
	k := e.Value.(*keptCard)
	if maxAge > 0 && time.Since(k.at) >= maxAge {
		return nil
	}
	c.order.MoveToFront(e)
	return k.drawnCard
}

// keep keeps a card that is right as of a time, and drops those that were not used for the longest time.
func (c *cards) keep(key cardKey, drawn *drawnCard, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	c.kept[key] = c.order.PushFront(&keptCard{key, drawn, at})
	c.bytes += len(drawn.png)
	for c.order.Len() > 1 && (c.order.Len() > maxCards || c.bytes > maxCardBytes) {
		c.remove(c.order.Back().Value.(*keptCard).key)
	}
}

// drop drops the card under a key.
func (c *cards) drop(key cardKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// remove is drop for a caller that holds c.mu.
func (c *cards) remove(key cardKey) {
	if e := c.kept[key]; e != nil {
		c.order.Remove(e)
		delete(c.kept, key)
		c.bytes -= len(e.Value.(*keptCard).png)
	}
}
