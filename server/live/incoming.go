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
	mask   [4]byte // of the present frame
	at     int     // of the present frame: bytes that are unmasked
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

// next waits for the next frame, and returns its opcode. Of a message it reads the head of the frame: Read reads the message. It handles
// a control frame as a whole. An error ends the socket: the client has closed it (closedByClient), the connection has failed, or the node
// has sent a close frame.
func (in *incoming) next() (opcode byte, err error) {
	opcode, final, length, err := in.head()
	switch {
	case err != nil:
		return 0, err
	case opcode >= opClose:
		return opcode, in.control(opcode, int(length))
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
	n, err = in.r.Read(b[:min(len(b), in.left)])
	in.unmask(b[:n])
	in.left -= n
	return n, noEOF(err)
}

// unmask unmasks the next bytes of the present frame.
func (in *incoming) unmask(b []byte) {
	for i := range b {
		b[i] ^= in.mask[(in.at+i)%len(in.mask)]
	}
	in.at += len(b)
}

// head reads the head of a frame. A control frame has at most maxControl bytes.
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
	in.at = 0
	in.r.Discard(size)
	return opcode, final, length, nil
}

// control handles a control frame of a length. It counts a ping or a pong as a message of the client, and holds the client back as for
// messages. It answers a close frame, and returns closedByClient for it.
func (in *incoming) control(opcode byte, length int) error {
	reply := make([]byte, 2+length) // a pong, or a close frame
	data := reply[2:]
	if _, err := io.ReadFull(in.r, data); err != nil {
		return noEOF(err)
	}
	in.unmask(data)
	reply[1] = byte(length)
	if opcode == opClose {
		reply[0] = finalBit | opClose
		return in.answerClose(reply, data)
	}
	refused, err := in.ss.allow()
	switch wait := holdOf(refused); {
	case err != nil:
		return err
	case wait > 0:
		in.ss.socket.hold(wait)
	case refused == nil && opcode == opPing:
		reply[0] = finalBit | opPong
		in.ss.socket.writeControl(reply)
	}
	return nil
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
