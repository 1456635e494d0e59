package access

// AllowCard takes a token for one card that the node draws for an address.
func (l *Limits) AllowCard(a Address) error {
	switch ofAddress, ofNode := l.cards.take(a); {
	case ofAddress > 0:
		return l.refuse(AddressCards, ErrRateLimited, ofAddress, "the node draws more than %d cards a second for %s, half of --card-rate", half(l.cfg.Cards), a)
	case ofNode > 0:
		return l.refuse(Cards, ErrOverloaded, ofNode, "the node draws more than %d cards a second (--card-rate)", l.cfg.Cards)
	}
	return nil
}
