package access

import "time"

// exportRetry is the time after which a client may come back that found no place for an export.
const exportRetry = 5 * time.Second

// ExportSlot is the place of an export among those under way.
type ExportSlot struct {
	limits  *Limits
	address Address
}

// AcquireExport takes a place for an export of an address, which gets half of the places of the node. The
// caller releases the place once.
func (l *Limits) AcquireExport(a Address) (ExportSlot, error) {
	switch l.exports.take(a) {
	case addressIsFull:
		return ExportSlot{}, l.refuse(AddressExports, ErrLimitReached, exportRetry,
			"%s has %d exports under way, the most that it may have: half of --max-exports", a, l.exports.addressMost)
	case nodeIsFull:
		return ExportSlot{}, l.refuse(Exports, ErrOverloaded, exportRetry,
			"the node has %d exports under way, the most that it takes (--max-exports)", l.exports.most)
	}
	return ExportSlot{l, a}, nil
}

// Release ends the export.
func (s ExportSlot) Release() { s.limits.exports.release(s.address) }
