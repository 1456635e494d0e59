package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/coder/websocket"
)

// The close codes of a server: 1001 after a bye (websocket.StatusGoingAway), 1008 when the client sends
// more than it may (websocket.StatusPolicyViolation), 1013 when the server is overloaded
// (websocket.StatusTryAgainLater), 4000 to 4499 for a client that shall reconnect, 4401 among them when its
// credentials have expired, and firstFinal to lastFinal for a client that shall not.
const firstFinal, lastFinal = 4500, 4999

// closeForbidden is the close code for a client without rights. It is final for its credentials.
const closeForbidden = 4503

// closeReason translates the end of a connection into an error: a permanentError if the client shall
// not reconnect.
func (s *session) closeReason(ctx context.Context, err error) error {
	var frame websocket.CloseError
	switch {
	case !errors.As(err, &frame):
		return fmt.Errorf("the connection failed: %w", err)
	case frame.Code == websocket.StatusGoingAway:
		return errors.New("the server is stopping")
	}
	s.overloaded = frame.Code == websocket.StatusTryAgainLater || frame.Code == websocket.StatusPolicyViolation
	if frame.Code == closeForbidden && s.client.haveChanged(ctx, s.credentials) {
		return err
	}
	if frame.Code >= firstFinal && frame.Code <= lastFinal {
		message := frame.Reason
		if message == "" {
			message = fmt.Sprintf("the server closed the connection for good (%d)", frame.Code)
		}
		return &permanentError{&Error{Code: "closed", Message: message}}
	}
	return err
}
