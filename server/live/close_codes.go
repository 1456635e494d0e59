package live

// closeCode is the status code of a close frame (RFC 6455, section 7.4).
type closeCode uint16

const (
	// closeProtocol ends a socket whose client breaks the protocol.
	closeProtocol closeCode = 1002
	// closeTooLarge ends a socket whose client sends a message larger than maxMessage.
	closeTooLarge closeCode = 1009
	// closePayload ends a socket whose client sent a text message that is not UTF-8.
	closePayload closeCode = 1007
	// closeGoingAway follows a bye: the node stops, and the client reconnects to another node.
	closeGoingAway closeCode = 1001
	// closePolicy ends a socket that goes on sending more messages than it may.
	closePolicy closeCode = 1008
	// closeUnauthorized ends a socket whose token has expired, or whose ticket is not valid. The client
	// reconnects with another one.
	closeUnauthorized closeCode = 4401
	// closeForbidden refuses the client for good: its page belongs to a site that the server does
	// not allow, or the socket has had no rights for too long. The reason says what would allow it.
	// Clients do not reconnect after 4500 to 4999.
	closeForbidden closeCode = 4503
)

// maxReason is the greatest length of the reason in a close frame, in bytes (RFC 6455, section 5.5).
const maxReason = 123

// frame encodes a close frame with the code (RFC 6455, section 5.5.1) and a reason of at most maxReason
// bytes of UTF-8; "" is none.
func (c closeCode) frame(reason string) []byte {
	return append([]byte{finalBit | opClose, byte(2 + len(reason)), byte(c >> 8), byte(c)}, reason...)
}

// codeOf is the code of a close frame that is not masked; 0 if it has none.
func codeOf(frame []byte) closeCode {
	if len(frame) < 4 {
		return 0
	}
	return closeCode(frame[2])<<8 | closeCode(frame[3])
}
