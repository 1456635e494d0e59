package definition

import (
	"errors"
	"fmt"
	"time"
)

// The errors of the store and of this package. Each returned error wraps one of them; compare
// with errors.Is.
var (
	// ErrInvalid means that the request itself is wrong; a FieldError names the field.
	ErrInvalid = errors.New("invalid")
	// ErrOutOfRange means that a given score, a resulting score, or a change of a score is
	// beyond what the board allows.
	ErrOutOfRange = errors.New("out of range")
	// ErrUnknownBoard means that the board is not defined.
	ErrUnknownBoard = errors.New("unknown board")
	// ErrUnknownPeriod means that the period does not exist, has not begun, or is no longer kept.
	ErrUnknownPeriod = errors.New("unknown period")
	// ErrUnknownEvent means that the event is not defined.
	ErrUnknownEvent = errors.New("unknown event")
	// ErrNotOpen means that the board does not take this write now: before its starts, after
	// its ends, or to a period by its name.
	ErrNotOpen = errors.New("not open")
	// ErrConflict means that the present state does not allow the request: a definition that
	// would re-order data, one instance too many, or a board that others need.
	ErrConflict = errors.New("conflict")
	// ErrForbidden means that the definition of an event does not allow the caller to send it like this.
	ErrForbidden = errors.New("forbidden")
	// ErrUnknownMember means that the member is not on the board.
	ErrUnknownMember = errors.New("unknown member")
	// ErrUnknownHistory means that no history is recorded of the period.
	ErrUnknownHistory = errors.New("unknown history")
	// ErrIDMismatch means that the request id was used for another update before.
	ErrIDMismatch = errors.New("id mismatch")
	// ErrTooManyIDs means that a board or an event holds as many request ids as it may. The update or the event has
	// counted nowhere. A FieldError tells when there is room again.
	ErrTooManyIDs = errors.New("too many ids")
	// ErrTooLarge means that the request is too large, or makes too much at one time. Nothing
	// was done.
	ErrTooLarge = errors.New("too large")
	// ErrOverloaded means that a queue is full. Nothing was written.
	ErrOverloaded = errors.New("overloaded")
	// ErrUnavailable means that Redis did not answer as it should.
	ErrUnavailable = errors.New("store unavailable")
	// ErrOutcomeUnknown means that the write may or may not have been applied. Send it again
	// with the same id.
	ErrOutcomeUnknown = errors.New("outcome unknown")
)

// MissingRightsError reports that Redis refuses a command, key or channel that the node needs, or
// all writes: as a read-only replica, or because its disk is full. The call that failed with it has
// changed nothing in Redis. It wraps ErrUnavailable.
type MissingRightsError struct {
	Reason string // what Redis refuses, and what the operator can do
	// Masters are the addresses of the masters of a cluster that refuse it. For the log: Reason is for everybody.
	Masters []string
}

// Error returns the reason.
func (e *MissingRightsError) Error() string {
	return "Redis refuses what the server needs: " + e.Reason
}

// Unwrap returns ErrUnavailable.
func (e *MissingRightsError) Unwrap() error { return ErrUnavailable }

// FieldError names the field of a request that is wrong, and the reason. It wraps the error
// that it is a kind of.
type FieldError struct {
	Field  string // name on the wire, such as "member" or "score"
	Reason string // follows the name in a sentence: "is missing", "is 0; want 1 to 9"
	Kind   error  // one of the errors above
	Hint   string // ends the sentence with names of other definitions, that a caller may not know; "" for none

	RetryAfter time.Duration // when the same request may succeed at the earliest; 0: not known
}

// Error returns the field, the reason and the hint.
func (e *FieldError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Reason)
	}
	return fmt.Sprintf("%s: %s; %s", e.Field, e.Reason, e.Hint)
}

// Unwrap returns the kind of the error.
func (e *FieldError) Unwrap() error { return e.Kind }

// forbidden returns a FieldError of kind ErrForbidden.
func forbidden(field, reason string) error {
	return &FieldError{Field: field, Reason: reason, Kind: ErrForbidden}
}

// Invalid returns a FieldError of kind ErrInvalid.
func Invalid(field, reason string) error {
	return &FieldError{Field: field, Reason: reason, Kind: ErrInvalid}
}
