package live

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// Opcodes of frames (RFC 6455, section 5.2). Those from opClose on are control frames.
const (
	opContinuation, opText, opBinary = 0, 1, 2
	opClose, opPing, opPong          = 8, 9, 10
)

// The bits of the first two bytes of a frame.
const (
	finalBit, reservedBits, opcodeBits = 0x80, 0x70, 0x0f
	maskedBit, lengthBits              = 0x80, 0x7f
)

const (
	// maxControl is the most bytes of data of a control frame (RFC 6455, section 5.5).
	maxControl = 125
	// incomingBuffer is the size in bytes of the buffer while a client sends. The head of a frame has 14 bytes at most.
	incomingBuffer = 512
)

// incoming reads the frames of a client (RFC 6455, section 5), and makes messages of them. It handles control frames, which may come
// between the frames of a message. A socket has one while its client sends, and all the time where await does not wait.
type incoming struct {
	ss     *session
	r      *bufio.Reader
	open   bool    // a message has begun, and the head of its last frame has not come
	length int     // of the message, up to the end of the present frame
	left   int     // of the present frame: bytes that have not been read
	mask   [4]byte // of the present frame; mask[0] is for the next byte
}

var incomingBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, incomingBuffer) }}

func newIncoming(ss *session) *incoming {
	in := &incoming{ss: ss, r: incomingBuffers.Get().(*bufio.Reader)}
	in.r.Reset(ss.socket)
	return in
}

// release gives the buffer back.
func (in *incoming) release() {
	in.r.Reset(nil)
	incomingBuffers.Put(in.r)
}

// next waits for the next frame, and returns its opcode. Between two messages, Read then reads the message that opText or opBinary begins;
// a control frame has been handled. An error ends the socket: the client has closed it (closedByClient), the connection has failed, or the
// client has been sent a close frame.
func (in *incoming) next() (opcode byte, err error) {
	opcode, final, length, err := in.head()
	switch {
	case err != nil:
		return 0, err
	case opcode >= opClose:
		return opcode, in.control(opcode)
	case in.open && opcode != opContinuation:
		return 0, in.refuse(closeProtocol, "a message has begun within a message")
	case !in.open && opcode == opContinuation:
		return 0, in.refuse(closeProtocol, "no message has begun that could be continued")
	case !in.open:
		in.length = 0
	}
	if length > uint64(maxMessage-in.length) {
		return 0, in.refuse(closeTooLarge, fmt.Sprintf("a message may have at most %d bytes", maxMessage))
	}
	in.open, in.left = !final, int(length)
	in.length += in.left
	return opcode, nil
}

// Read reads from the message. It returns io.EOF at the end of the message, and otherwise the errors of next.
func (in *incoming) Read(b []byte) (n int, err error) {
	for in.left == 0 {
		if !in.open {
			return 0, io.EOF
		}
		if _, err := in.next(); err != nil {
			return 0, noEOF(err)
		}
	}
	return in.data(b)
}

// data reads from the present frame.
func (in *incoming) data(b []byte) (int, error) {
	n, err := in.r.Read(b[:min(len(b), in.left)])
	for i := range b[:n] {
		b[i] ^= in.mask[i%len(in.mask)]
	}
	in.left -= n
	m, at := in.mask, n%len(in.mask)
	copy(in.mask[copy(in.mask[:], m[at:]):], m[:at])
	return n, noEOF(err)
}

// head reads the head of a frame. It sets left for a control frame alone: other ones may be too long.
func (in *incoming) head() (opcode byte, final bool, length uint64, err error) {
	b, err := in.r.Peek(2)
	if err != nil {
		return 0, false, 0, err
	}
	first, second := b[0], b[1]
	opcode, final, length = first&opcodeBits, first&finalBit != 0, uint64(second&lengthBits)
	size := 2 + len(in.mask)
	switch control := opcode >= opClose; {
	case first&reservedBits != 0:
		return 0, false, 0, in.refuse(closeProtocol, "a frame has a reserved bit")
	case second&maskedBit == 0:
		return 0, false, 0, in.refuse(closeProtocol, "a frame is not masked")
	case opcode > opBinary && !control || opcode > opPong:
		return 0, false, 0, in.refuse(closeProtocol, fmt.Sprintf("a frame has opcode %d", opcode))
	case control && (!final || length > maxControl):
		return 0, false, 0, in.refuse(closeProtocol, fmt.Sprintf("a control frame is not final, or has more than %d bytes", maxControl))
	case control:
		in.left = int(length)
	case length == 126:
		size += 2
	case length == 127:
		size += 8
	}
	if b, err = in.r.Peek(size); err != nil {
		return 0, false, 0, noEOF(err)
	}
	switch length {
	case 126:
		length = uint64(binary.BigEndian.Uint16(b[2:]))
	case 127:
		length = binary.BigEndian.Uint64(b[2:])
	}
	copy(in.mask[:], b[size-len(in.mask):])
	in.r.Discard(size)
	return opcode, final, length, nil
}

// control handles a control frame. A ping or a pong counts as a message of the client. A close frame has been answered; its error is
// closedByClient.
func (in *incoming) control(opcode byte) error {
	reply := make([]byte, 2+in.left) // a pong, or a close frame
	for at := 2; in.left > 0; {
		n, err := in.data(reply[at:])
		if err != nil {
			return err
		}
		at += n
	}
	data := reply[2:]
	reply[1] = byte(len(data))
	if opcode == opClose {
		reply[0] = finalBit | opClose
		return in.answerClose(reply, data)
	}
	answer, err := in.ss.allowControl()
	if answer && opcode == opPing {
		reply[0] = finalBit | opPong
		in.ss.socket.writeControl(reply)
	}
	return err
}

// answerClose answers a close frame with one of the same data.
func (in *incoming) answerClose(reply, data []byte) error {
	code := closeNone
	if len(data) > 0 {
		code = codeOf(reply)
		if !code.maySend() || !utf8.Valid(data[2:]) {
			return in.refuse(closeProtocol, "a close frame has no valid code, or a reason that is not UTF-8")
		}
	}
	in.ss.socket.writeClose(reply)
	return closedByClient(code)
}

// maySend reports whether a close frame may have the code (RFC 6455, section 7.4): 1004 to 1006 and 1015 never stand in one.
func (c closeCode) maySend() bool {
	return c >= 1000 && c <= 1014 && (c < 1004 || c > 1006) || c >= 3000 && c <= 4999
}

// closeNone stands for a close frame without a code (RFC 6455, section 7.4.1).
const closeNone closeCode = 1005

// closedByClient is the error of a socket that its client has closed, with a code.
type closedByClient closeCode

func (c closedByClient) Error() string {
	return fmt.Sprintf("the client has closed the socket with code %d", closeCode(c))
}

// refuse sends a close frame, and returns an error with the reason.
func (in *incoming) refuse(code closeCode, reason string) error {
	return in.ss.refuse(code, errors.New(reason))
}

// noEOF makes an error of the end of the connection within a frame.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
