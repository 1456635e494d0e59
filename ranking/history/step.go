package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"rankcast/ranking/definition"
)

const (
	// MaxEntries is the most entries of a State.
	MaxEntries = 10
	// MaxNumber is the greatest number of a member. A board needs fewer than ten for each step.
	MaxNumber = 1<<40 - 1
	// maxGap is the greatest gap in ms: longer than the times that definitions may have.
	maxGap = 1 << 47
)

// Entry is one member of a State.
type Entry struct {
	Number int64 // of the member, 0 to MaxNumber
	Score  int64 // within ±definition.MaxScore
}

// State is the first entries of a board, best first: at most MaxEntries, each of another member.
type State []Entry

// Step is a decoded step.
type Step struct {
	State State
	Gap   int64 // ms before the step in which no node looked at the board; 0: none
}

// ErrMalformed reports bytes that are no step.
var ErrMalformed = errors.New("malformed step of a history")

// ErrNoBase reports a delta without the step before it.
var ErrNoBase = errors.New("delta without the step before it")

// The flags of a step.
const (
	isKeyframe = 1 << iota
	hasGap
	allFlags = isKeyframe | hasGap
)

// The operations of a delta, in the high half of a byte.
const (
	opCopy = iota << 4
	opScore
	opMove
	opJump
	opEnter

	opMask, argMask = 0xf0, 0x0f
)

// Keyframe encodes a step that needs no other one.
func Keyframe(s Step) []byte {
	b := appendHead(make([]byte, 0, 64), isKeyframe, s.Gap)
	above := int64(0)
	for _, e := range s.State {
		b = binary.AppendUvarint(b, uint64(e.Number))
		b = binary.AppendVarint(b, e.Score-above)
		above = e.Score
	}
	return b
}

// Delta encodes a step by its difference to the state before.
func Delta(before State, s Step) []byte {
	b := appendHead(make([]byte, 0, 64), 0, s.Gap)
	var used uses
	for i := 0; i < len(s.State); {
		e, next := s.State[i], used.next(before)
		j := slices.IndexFunc(before, func(old Entry) bool { return old.Number == e.Number })
		switch {
		case j < 0:
			b = binary.AppendVarint(binary.AppendUvarint(append(b, opEnter), uint64(e.Number)), e.Score)
			i++
		case j != next:
			used[j] = true
			i++
			if change := e.Score - before[j].Score; change == 0 {
				b = append(b, opMove|byte(j))
			} else {
				b = binary.AppendVarint(append(b, opJump|byte(j)), change)
			}
		default:
			n := 0
			same := e.Score == before[j].Score
			var changes []byte
			for ; i < len(s.State); i, n = i+1, n+1 {
				j = used.next(before)
				if j == len(before) || before[j].Number != s.State[i].Number || (before[j].Score == s.State[i].Score) != same {
					break
				}
				used[j] = true
				changes = binary.AppendVarint(changes, s.State[i].Score-before[j].Score)
			}
			if same {
				b = append(b, opCopy|byte(n))
			} else {
				b = append(append(b, opScore|byte(n)), changes...)
			}
		}
	}
	return b
}

func appendHead(b []byte, flags byte, gap int64) []byte {
	if gap == 0 {
		return append(b, flags)
	}
	return binary.AppendUvarint(append(b, flags|hasGap), uint64(gap))
}

// uses tells which entries of an old state are used.
type uses [MaxEntries]bool

// next is the index of the first old entry that is not used; the length of the state if there is none.
func (u *uses) next(before State) int {
	for i := range before {
		if !u[i] {
			return i
		}
	}
	return len(before)
}

// Decode decodes a step. before is the state of the step before, nil where it is not known: then
// Decode returns ErrNoBase for a delta. An empty state is not nil. Decode returns ErrMalformed for any
// bytes that Keyframe and Delta cannot have made, and takes little memory for any bytes.
func Decode(before State, b []byte) (Step, error) {
	r := reader{rest: b}
	flags, s := r.byte(), Step{State: make(State, 0, MaxEntries)}
	if flags&^allFlags != 0 {
		r.fail("flags %#x", flags)
	}
	if flags&hasGap != 0 {
		if s.Gap = r.number(maxGap); s.Gap == 0 {
			r.fail("an empty gap")
		}
	}
	switch {
	case r.err != nil:
	case flags&isKeyframe != 0:
		r.keyframe(&s)
	case before == nil:
		return Step{}, ErrNoBase
	default:
		r.delta(before, &s)
	}
	if r.err != nil {
		return Step{}, r.err
	}
	return s, nil
}

// reader takes the bytes of a step apart. The first fault sets err, and ends the bytes.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(why string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(why, args...))
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail("it ends too early")
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// number takes a number from 0 to most.
func (r *reader) number(most int64) int64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(most) {
		r.fail("no number up to %d", most)
		return 0
	}
	r.rest = r.rest[size:]
	return int64(n)
}

// score takes a difference to a score, and returns the new score.
func (r *reader) score(to int64) int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 || n < -2*definition.MaxScore || n > 2*definition.MaxScore {
		r.fail("no difference of scores")
		return 0
	}
	r.rest = r.rest[size:]
	if n += to; n < -definition.MaxScore || n > definition.MaxScore {
		r.fail("the score %d", n)
	}
	return n
}

// add adds an entry to a state.
func (r *reader) add(s *Step, e Entry) {
	switch {
	case r.err != nil:
	case len(s.State) == MaxEntries:
		r.fail("more than %d entries", MaxEntries)
	case slices.ContainsFunc(s.State, func(other Entry) bool { return other.Number == e.Number }):
		r.fail("member %d twice", e.Number)
	default:
		s.State = append(s.State, e)
	}
}

func (r *reader) keyframe(s *Step) {
	above := int64(0)
	for len(r.rest) > 0 {
		e := Entry{Number: r.number(MaxNumber)}
		e.Score = r.score(above)
		above = e.Score
		r.add(s, e)
	}
}

func (r *reader) delta(before State, s *Step) {
	if len(before) > MaxEntries {
		r.fail("it follows a state of %d entries", len(before))
		return
	}
	var used uses
	reuse := func(j int, newScore bool) {
		used[j] = true
		e := before[j]
		if newScore {
			e.Score = r.score(e.Score)
		}
		r.add(s, e)
	}
	for len(r.rest) > 0 {
		op := r.byte()
		arg := int(op & argMask)
		switch op & opMask {
		case opCopy, opScore:
			if arg == 0 {
				r.fail("a run of no entries")
			}
			for ; arg > 0 && r.err == nil; arg-- {
				j := used.next(before)
				if j == len(before) {
					r.fail("more old entries than there are")
					return
				}
				reuse(j, op&opMask == opScore)
			}
		case opMove, opJump:
			if arg >= len(before) || used[arg] {
				r.fail("old entry %d", arg)
				return
			}
			reuse(arg, op&opMask == opJump)
		case opEnter:
			if arg != 0 {
				r.fail("operation %#x", op)
			}
			e := Entry{Number: r.number(MaxNumber)}
			e.Score = r.score(0)
			r.add(s, e)
		default:
			r.fail("operation %#x", op)
		}
	}
}
