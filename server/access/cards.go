package access

import "time"

// cardRetry is the time after which a client may come back whose card has waited for its turn for too long.
const cardRetry = time.Second

// AllowCard takes a token for one card that the node draws for an address.
func (l *Limits) AllowCard(a Address) error {
	switch ofAddress, ofNode := l.cards.take(a); {
	case ofAddress > 0:
		return l.refuse(AddressCards, ErrRateLimited, ofAddress,
			"the node draws more than %d cards a second for %s, half of --card-rate", half(l.cfg.Cards), a)
	case ofNode > 0:
		return l.refuse(Cards, ErrOverloaded, ofNode, "the node draws more than %d cards a second (--card-rate)", l.cfg.Cards)
	}
	return nil
}

// RefuseCard returns the error for a card that AllowCard has admitted, and that the node does not come to draw.
func (l *Limits) RefuseCard() error {
	return l.refuse(Cards, ErrOverloaded, cardRetry, "the node has more cards to draw than it can (--card-rate)")
}
