package definition

import (
	"errors"
	"fmt"
	"time"
)

// The errors of this package and of the packages that use it: each error that they return wraps one of these.
// Compare with errors.Is.
var (
	// ErrInvalid reports a request that is wrong in itself. A FieldError names the field.
	ErrInvalid = errors.New("invalid")
	// ErrOutOfRange reports a given score, a resulting score, or a change of a score,
	// beyond the limits of the board.
	ErrOutOfRange = errors.New("out of range")
	// ErrUnknownBoard reports a board that is not defined.
	ErrUnknownBoard = errors.New("unknown board")
	// ErrUnknownPeriod reports a period that does not exist yet, or no longer exists.
	ErrUnknownPeriod = errors.New("unknown period")
	// ErrUnknownEvent reports an event that is not defined.
	ErrUnknownEvent = errors.New("unknown event")
	// ErrNotOpen reports a write that comes before a board's starts or after its ends, or
	// that names a period.
	ErrNotOpen = errors.New("not open")
	// ErrConflict reports a request that the present state does not allow. Examples are a
	// definition that would re-order data, one instance too many, and the deletion of a
	// board that another definition needs.
	ErrConflict = errors.New("conflict")
	// ErrForbidden reports an event that a caller with a Sender may not send, by the
	// definition of the event. A FieldError names the field.
	ErrForbidden = errors.New("forbidden")
	// ErrUnknownMember reports a member that is not on the board.
	ErrUnknownMember = errors.New("unknown member")
	// ErrUnknownHistory reports a board, or a period, that has no history.
	ErrUnknownHistory = errors.New("unknown history")
	// ErrIDMismatch reports a request id that was used before for another update.
	ErrIDMismatch = errors.New("id mismatch")
	// ErrTooManyIDs reports a request id beyond those that a board or an event may hold. The update or the event has
	// counted nowhere. The RetryAfter of a FieldError tells when there is room again.
	ErrTooManyIDs = errors.New("too many ids")
	// ErrTooLarge reports a request that makes too much work at one time. The store did
	// nothing.
	ErrTooLarge = errors.New("too large")
	// ErrOverloaded reports a full queue. The store did nothing.
	ErrOverloaded = errors.New("overloaded")
	// ErrUnavailable reports that Redis did not answer as expected.
	ErrUnavailable = errors.New("store unavailable")
	// ErrNotBuilt reports a board whose result has yet to be built. A build that has begun goes
	// on. One that waits for its turn keeps it for three seconds after its last reader. It is a
	// kind of ErrUnavailable.
	ErrNotBuilt = fmt.Errorf("%w: its result is not built yet", ErrUnavailable)
	// ErrOutcomeUnknown reports a write that Redis may or may not have applied. Send it
	// again with the same id.
	ErrOutcomeUnknown = errors.New("outcome unknown")
)

// IsTimeout reports whether an error says that Redis was silent for as long as a call waits.
func IsTimeout(err error) bool {
	var silent interface{ Timeout() bool }
	return errors.As(err, &silent) && silent.Timeout()
}

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
