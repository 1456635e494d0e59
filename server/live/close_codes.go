package live

// closeCode is the status code of a close frame (RFC 6455, section 7.4). The library sends further
// codes by itself: 1009 for a message larger than maxMessage, 1002 and 1007 for a client that
// breaks the protocol.
type closeCode uint16

// closeGoingAway follows a bye: the node stops, and the client reconnects to another node.
const closeGoingAway closeCode = 1001

// frame encodes a close frame with the code (RFC 6455, section 5.5.1).
func (c closeCode) frame() []byte { return []byte{0x88, 2, byte(c >> 8), byte(c)} }
