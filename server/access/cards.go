package access

// AllowCard takes a token for one card that the node draws for an address. It takes a token of the address first:
// one address alone must not use up those of the node.
func (l *Limits) AllowCard(a Address) error {
	if l.cards == nil {
		return nil
	}
	if wait := l.addressCards.take(a); wait > 0 {
		return l.refuse(AddressCards, ErrRateLimited, wait, "the node draws more than %.0f cards a second for %s, half of --card-rate", l.addressCards.rate.perSecond, a)
	}
	if wait := l.cards.take(); wait > 0 {
		return l.refuse(Cards, ErrOverloaded, wait, "the node draws more than %d cards a second (--card-rate)", l.cfg.Cards)
	}
	return nil
}
