package access

// AcquireExport takes a place for an export of an address, which gets half of the places of the node. The
// caller calls release once.
func (l *Limits) AcquireExport(a Address) (release func(), err error) {
	if err := l.takePlace(l.exports, a); err != nil {
		return nil, err
	}
	return func() { l.exports.release(a) }, nil
}
