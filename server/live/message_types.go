package live

import (
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/server/access"
	"rankcast/server/internal/request"
)

// MessageNeed is what a type of message needs of its caller. Without a Scope it needs nothing.
type MessageNeed struct {
	// Type is the field "type" of the message.
	Type string
	// Field names what the message is about. The messages of one Type differ in it; "" if there is one alone.
	Field string
	// Scope is what the caller must be allowed to do with the resource that Field names.
	Scope    access.Scope
	Resource access.ResourceType
}

// messageType is a type of message that a client may send.
type messageType struct {
	MessageNeed
	fields []string // that it may have
	act    func(*session, *message) error
}

// messageTypes are all types of messages, and what decides on the rights for each.
var messageTypes = []messageType{
	{MessageNeed{"subscribe", "board", access.ScopeRead, access.BoardResource},
		[]string{"type", "id", "board", "top", "me", "around", "resume", "info"}, (*session).subscribe},
	{MessageNeed{"subscribe", "feed", access.ScopeRead, access.EventResource}, []string{"type", "id", "feed"}, (*session).subscribeFeed},
	{MessageNeed{"update", "board", access.ScopeWrite, access.BoardResource}, []string{"type", "id", "board", "update"}, (*session).update},
	{MessageNeed{"event", "event", access.ScopeWrite, access.EventResource}, []string{"type", "id", "event", "data"}, (*session).event},
	{MessageNeed{Type: "unsubscribe", Field: "board"}, []string{"type", "id", "board"}, (*session).unsubscribe},
	{MessageNeed{Type: "unsubscribe", Field: "feed"}, []string{"type", "id", "feed"}, (*session).unsubscribeFeed},
	{MessageNeed{Type: "ping"}, []string{"type", "id"}, (*session).ping},
	{MessageNeed{Type: "auth"}, []string{"type", "id", "token"}, (*session).auth},
}

// messageTypeOf is the type of a message; nil for an unknown one. Of the types of one name it is the one whose
// field the message has, or else the first.
func messageTypeOf(name string, o request.Object) (found *messageType) {
	for i := range messageTypes {
		m := &messageTypes[i]
		if m.Type != name {
			continue
		}
		if _, there := o[m.Field]; there || found == nil {
			found = m
		}
	}
	return found
}

// message is a message of a client, and its sender. The caller stays the same until the message is answered,
// although the session may get another one meanwhile.
type message struct {
	id      jsontext.Value // absent: nil
	fields  *request.Fields
	size    int // in bytes
	caller  *access.Caller
	version uint64          // of the access file at which caller had its rights
	about   access.Resource // what the caller may do it with; zero without a scope
}
