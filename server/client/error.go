package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// ErrOutcomeUnknown is wrapped by the error of an update that may or may not have been applied: a
// connection or the server failed after an attempt, or ctx ended. Send the update again with the same
// id. An error without ErrOutcomeUnknown means that the server applied nothing: an *Error says why.
var ErrOutcomeUnknown = errors.New("may or may not have been applied")

// ErrNotSent means that no attempt of a call got a connection to the server: no server listens at that
// address, the host is unknown, or ctx ended before. The error of the call wraps it, and never wraps
// ErrOutcomeUnknown as well.
var ErrNotSent = errors.New("nothing was sent")

// outcome is the error of an item of a batch that the server has not taken.
func (e *Error) outcome() error {
	if e.refusal() {
		return e
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, e)
}

// changedNothing reports whether the answer to an attempt says that it has changed nothing.
func changedNothing(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Status == 0 {
		return false
	}
	return e.notCounted || e.refusal() || e.Code != "" && (e.Status == http.StatusTooManyRequests || e.Code == "overloaded")
}

// Error is a server's error answer, a problem (RFC 9457) or an error frame. Use errors.As to get it
// from a method's error.
type Error struct {
	// Status is the HTTP status. 0 for one update of a batch, and for an error frame of a
	// WebSocket.
	Status int `json:"-"`
	// Code is stable, for programs: invalid_request, unauthorized, forbidden, unknown_board,
	// unknown_member, idempotency_mismatch, out_of_range, rate_limited, unavailable and others. "" if a proxy
	// answered instead of a Rankcast server; "closed" if the server closed a WebSocket with a
	// code from 4500 to 4999.
	Code string `json:"code"`
	// Message is the problem's detail, for people.
	Message string `json:"message"`
	// Field is the invalid part of the request, such as "score" or "updates[3].score". "" if
	// the error is about no field.
	Field string `json:"field,omitempty"`

	retryAfter time.Duration // the server's Retry-After
	notCounted bool          // the server says that no update of the request has counted
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

// refusal reports whether the server did nothing, and never will for this request.
func (e *Error) refusal() bool {
	return !isTemporary(e) && (e.Status/100 == 4 || e.Status == 0 && e.Code != "internal")
}

// temporaryCodes are the codes of refusals after which a retry may succeed.
var temporaryCodes = map[string]bool{"unavailable": true, "overloaded": true, "rate_limited": true, "limit_reached": true}

// isTemporary reports whether a retry may succeed.
func isTemporary(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		switch e.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable,
			http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout, http.StatusTooEarly: // of a proxy
			return true
		case 0:
			return temporaryCodes[e.Code]
		}
		return false
	}
	// A wrong certificate does not change within minutes.
	var certificate *tls.CertificateVerificationError
	return !errors.As(err, &certificate) && !errors.Is(err, errAnswer) && !errors.Is(err, errCredentialsForm) &&
		!errors.Is(err, context.Canceled)
}

// errAnswer is an answer that no Rankcast server gives.
var errAnswer = errors.New("not an answer of a Rankcast server")

// plainToTLS is what net/http answers, with the status 400, to a request without TLS at a port with TLS.
const plainToTLS = "Client sent an HTTP request to an HTTPS server."

// problem decodes an error answer. It always returns an Error, whatever the body holds.
func problem(res *http.Response) *Error {
	e := &Error{Status: res.StatusCode, Message: http.StatusText(res.StatusCode)}
	e.retryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	const atMost = 64 << 10
	body, err := io.ReadAll(io.LimitReader(res.Body, atMost))
	var p struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
		Field  string `json:"field"`

		Counted *bool `json:"counted"`
	}
	if err == nil && res.StatusCode == http.StatusBadRequest && strings.HasPrefix(string(body), plainToTLS) {
		e.Message = "this server speaks https; write https:// in its URL"
		return e
	}
	if err != nil || json.Unmarshal(body, &p) != nil || p.Code == "" {
		return e // a proxy's page
	}
	e.Code, e.Message, e.Field = p.Code, p.Detail, p.Field
	e.notCounted = p.Counted != nil && !*p.Counted
	return e
}

// retryAfter decodes a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3). 0 without
// one.
func retryAfter(header string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
