package live

// MessageNeeds are the needs of all messages that a client may send over a socket.
func MessageNeeds() []MessageNeed {
	needs := make([]MessageNeed, len(messageTypes))
	for i, m := range messageTypes {
		needs[i] = m.MessageNeed
	}
	return needs
}
