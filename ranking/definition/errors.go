package definition

import (
	"errors"
	"fmt"
)

// The errors of this package. What is returned wraps them; compare with errors.Is.
var (
	// ErrInvalid is a request that is wrong in itself; a FieldError says where.
	ErrInvalid = errors.New("invalid")
	// ErrOutOfRange is a score, given or resulting, or a change of one, beyond what
	// the board allows.
	ErrOutOfRange = errors.New("out of range")
	// ErrUnknownBoard is a board that is not defined.
	ErrUnknownBoard = errors.New("unknown board")
	// ErrUnknownPeriod is a period that is not there, not yet or not any more.
	ErrUnknownPeriod = errors.New("unknown period")
	// ErrUnknownEvent is an event that is not defined.
	ErrUnknownEvent = errors.New("unknown event")
	// ErrNotOpen is a write to what does not take any now: before a board's starts,
	// after its ends, or to a period by its name.
	ErrNotOpen = errors.New("not open")
	// ErrConflict is what cannot be done as things are: a definition that would
	// re-order data, an instance too many, a board that others need.
	ErrConflict = errors.New("conflict")
	// ErrUnknownMember is a member that is not on the board.
	ErrUnknownMember = errors.New("unknown member")
	// ErrIDMismatch is a request id that was used for another update before.
	ErrIDMismatch = errors.New("id mismatch")
	// ErrTooLarge is a request that makes too much at one time: nothing was done.
	ErrTooLarge = errors.New("too large")
	// ErrOverloaded is a queue that is full: nothing was written.
	ErrOverloaded = errors.New("overloaded")
	// ErrUnavailable is a Redis that did not answer as it should.
	ErrUnavailable = errors.New("store unavailable")
	// ErrOutcomeUnknown is a write that may have been applied or not: send it
	// again with the same id.
	ErrOutcomeUnknown = errors.New("outcome unknown")
)

// FieldError says which field of a request is wrong and why. It wraps the kind
// of error that it is.
type FieldError struct {
	Field  string // name on the wire, such as "member" or "score"
	Reason string
	Kind   error
}

func (e *FieldError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Reason) }

func (e *FieldError) Unwrap() error { return e.Kind }

// Invalid is a FieldError of kind ErrInvalid.
func Invalid(field, reason string) error {
	return &FieldError{Field: field, Reason: reason, Kind: ErrInvalid}
}
