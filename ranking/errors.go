package ranking

import "rankcast/ranking/definition"

// The errors of this package. Each returned error wraps one of them; compare with errors.Is.
var (
	// ErrInvalid is a request that is wrong in itself; a FieldError says where.
	ErrInvalid = definition.ErrInvalid
	// ErrOutOfRange is a score, given or resulting, or a change of one, beyond what
	// the board allows.
	ErrOutOfRange = definition.ErrOutOfRange
	// ErrUnknownBoard is a board that is not defined.
	ErrUnknownBoard = definition.ErrUnknownBoard
	// ErrUnknownPeriod is a period that is not there, not yet or not any more.
	ErrUnknownPeriod = definition.ErrUnknownPeriod
	// ErrUnknownEvent is an event that is not defined.
	ErrUnknownEvent = definition.ErrUnknownEvent
	// ErrNotOpen is a write to what does not take any now: before a board's starts,
	// after its ends, or to a period by its name.
	ErrNotOpen = definition.ErrNotOpen
	// ErrConflict is what cannot be done as things are: a definition that would
	// re-order data, an instance too many, a board that others need.
	ErrConflict = definition.ErrConflict
	// ErrUnknownMember is a member that is not on the board.
	ErrUnknownMember = definition.ErrUnknownMember
	// ErrIDMismatch is a request id that was used for another update before.
	ErrIDMismatch = definition.ErrIDMismatch
	// ErrTooLarge is a request that makes too much at one time: nothing was done.
	ErrTooLarge = definition.ErrTooLarge
	// ErrOverloaded is a queue that is full: nothing was written.
	ErrOverloaded = definition.ErrOverloaded
	// ErrUnavailable is a Redis that did not answer as it should.
	ErrUnavailable = definition.ErrUnavailable
	// ErrOutcomeUnknown is a write that may have been applied or not: send it
	// again with the same id.
	ErrOutcomeUnknown = definition.ErrOutcomeUnknown
)

// FieldError names the field of a request that is wrong, and the reason. It wraps the error
// that it is a kind of.
type FieldError = definition.FieldError

// Invalid returns a FieldError of kind ErrInvalid.
func Invalid(field, reason string) error { return definition.Invalid(field, reason) }
