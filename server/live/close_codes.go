package live

// closeCode is the status of a close frame (RFC 6455, section 7.4). Besides those named here
// the library closes by itself: with 1009 what is larger than maxMessage, and with 1002 and
// 1007 what breaks the protocol.
type closeCode uint16

// closeGoingAway follows a bye: the node stops, and the client is to come back elsewhere.
const closeGoingAway closeCode = 1001

// frame is a close frame with the code (RFC 6455, section 5.5.1).
func (c closeCode) frame() []byte { return []byte{0x88, 2, byte(c >> 8), byte(c)} }
