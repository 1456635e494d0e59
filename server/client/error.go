package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// ErrOutcomeUnknown is in the error of an update that may or may not have been
// applied: the server, or the way to it, was down for as long as it was tried, or
// ctx ended. Send it again with the same id. An error of an update without it is
// a refusal: nothing was applied.
var ErrOutcomeUnknown = errors.New("may or may not have been applied")

// outcome marks the error of an update where it is no refusal.
func outcome(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) && e.refusal() {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}

// Error is what the server answered in place of a result, by its problem (RFC
// 9457). Get it from what a method returns with errors.As.
type Error struct {
	// Status is the HTTP status. 0 for one update of a batch and for what came
	// over a WebSocket, which have none.
	Status int
	// Code is stable and made for programs: invalid_request, forbidden,
	// unknown_board, unknown_member, idempotency_mismatch, out_of_range,
	// rate_limited, unavailable and others. "" where no Rankcast server
	// answered, but something on the way to it; "closed" where a server closed
	// a WebSocket for good.
	Code string
	// Message is for people.
	Message string
	// Field is the part of the request that is wrong, such as "score" or
	// "updates[3].score". "" where it is none in particular.
	Field string

	retryAfter time.Duration // how long the server asks to be left alone
}

func (e *Error) Error() string {
	switch {
	case e.Code == "":
		return fmt.Sprintf("the server answered %d: %s", e.Status, e.Message)
	case e.Status == 0:
		return fmt.Sprintf("%s (%s)", e.Message, e.Code)
	}
	return fmt.Sprintf("%s (%s, status %d)", e.Message, e.Code, e.Status)
}

// refusal reports whether nothing was done, nor ever will be for this request.
func (e *Error) refusal() bool {
	return !temporary(e) && (e.Status/100 == 4 || e.Status == 0 && e.Code != "internal")
}

// temporaryCodes are refusals that time heals.
var temporaryCodes = map[string]bool{"unavailable": true, "rate_limited": true}

// temporary reports whether the same request may succeed later.
func temporary(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		switch e.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return true
		case http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout, http.StatusTooEarly: // a proxy before the server
			return true
		case 0:
			return temporaryCodes[e.Code]
		}
		return false
	}
	// A server that is not who it should be will not be in a minute.
	var stranger *tls.CertificateVerificationError
	return !errors.As(err, &stranger) && !errors.Is(err, errAnswer) && !errors.Is(err, context.Canceled)
}

// errAnswer is an answer that is none of a Rankcast server's.
var errAnswer = errors.New("not an answer of a Rankcast server")

// problem reads the refusal in an answer. Whatever it holds, an Error comes back.
func problem(res *http.Response) *Error {
	e := &Error{Status: res.StatusCode, Message: http.StatusText(res.StatusCode)}
	e.retryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	const atMost = 64 << 10
	body, err := io.ReadAll(io.LimitReader(res.Body, atMost))
	var p struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
		Field  string `json:"field"`
	}
	if err != nil || json.Unmarshal(body, &p) != nil || p.Code == "" {
		return e // a proxy's page
	}
	e.Code, e.Message, e.Field = p.Code, p.Detail, p.Field
	return e
}

// retryAfter reads a Retry-After header: seconds, or a date (RFC 9110, section
// 10.2.3). 0 for none.
func retryAfter(header string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
