package ranking

import (
	"fmt"

	"rankcast/ranking/definition"
)

// The errors of this package. Each returned error wraps one of them; compare with
// errors.Is.
var (
	// ErrInvalid reports a request that is wrong in itself. A FieldError names the field.
	ErrInvalid = definition.ErrInvalid
	// ErrOutOfRange reports a given score, a resulting score, or a change of a score,
	// beyond the limits of the board.
	ErrOutOfRange = definition.ErrOutOfRange
	// ErrUnknownBoard reports a board that is not defined.
	ErrUnknownBoard = definition.ErrUnknownBoard
	// ErrUnknownPeriod reports a period that does not exist yet, or no longer exists.
	ErrUnknownPeriod = definition.ErrUnknownPeriod
	// ErrUnknownEvent reports an event that is not defined.
	ErrUnknownEvent = definition.ErrUnknownEvent
	// ErrNotOpen reports a write that comes before a board's starts or after its ends, or
	// that names a period.
	ErrNotOpen = definition.ErrNotOpen
	// ErrConflict reports a request that the present state does not allow. Examples are a
	// definition that would re-order data, one instance too many, and the deletion of a
	// board that another definition needs.
	ErrConflict = definition.ErrConflict
	// ErrForbidden reports an event that a caller with a Sender may not send, by the
	// definition of the event. A FieldError names the field.
	ErrForbidden = definition.ErrForbidden
	// ErrUnknownMember reports a member that is not on the board.
	ErrUnknownMember = definition.ErrUnknownMember
	// ErrUnknownHistory reports a board, or a period, that has no history.
	ErrUnknownHistory = definition.ErrUnknownHistory
	// ErrIDMismatch reports a request id that was used before for another update.
	ErrIDMismatch = definition.ErrIDMismatch
	// ErrTooManyIDs reports a request id beyond those that a board or an event may hold. The update or the event has
	// counted nowhere. The RetryAfter of a FieldError tells when there is room again.
	ErrTooManyIDs = definition.ErrTooManyIDs
	// ErrTooLarge reports a request that makes too much work at one time. The store did
	// nothing.
	ErrTooLarge = definition.ErrTooLarge
	// ErrOverloaded reports a full queue. The store wrote nothing.
	ErrOverloaded = definition.ErrOverloaded
	// ErrUnavailable reports that Redis did not answer as expected.
	ErrUnavailable = definition.ErrUnavailable
	// ErrNotBuilt reports a board whose result has yet to be built. A build that has begun goes
	// on. One that waits for its turn keeps it for three seconds after its last reader. It is a
	// kind of ErrUnavailable.
	ErrNotBuilt = fmt.Errorf("%w: its result is not built yet", ErrUnavailable)
	// ErrOutcomeUnknown reports a write that Redis may or may not have applied. Send it
	// again with the same id.
	ErrOutcomeUnknown = definition.ErrOutcomeUnknown
)

// MissingRightsError reports that Redis refuses a command, key or channel that the node needs, or
// all writes: as a read-only replica, or because its disk is full. The call that failed with it has
// changed nothing in Redis. It wraps ErrUnavailable.
type MissingRightsError = definition.MissingRightsError

// FieldError names the wrong field of a request and gives the reason. It wraps the error of
// its kind.
type FieldError = definition.FieldError

// Invalid returns a FieldError of kind ErrInvalid.
func Invalid(field, reason string) error { return definition.Invalid(field, reason) }
