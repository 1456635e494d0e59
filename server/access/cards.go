package access

import "time"

// cardRetry is the time after which a client may come back whose card has waited for its turn for too long.
const cardRetry = time.Second

// AllowCard takes a token for one card that the node draws for an address.
func (l *Limits) AllowCard(a Address) error {
	return l.takeToken(l.cards, a)
}

// RefuseCard returns the error for a card that AllowCard has admitted, and that the node does not come to draw.
func (l *Limits) RefuseCard() error {
	return l.refuse(Cards, ErrOverloaded, cardRetry, "the node has more cards to draw than it can (--card-rate)")
}
