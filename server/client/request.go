package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// firstBackoff bounds the delay before the second attempt; the bound doubles with each
	// attempt.
	firstBackoff = 250 * time.Millisecond
	// maxBackoff bounds every delay, so that the client finds a server that comes back within
	// that time.
	maxBackoff = 15 * time.Second
	// maxAnswer bounds an answer or a frame, in bytes. A top of 1,000 with names of 128 bytes
	// and profiles of 1 KiB, all escaped, has under 3 MB; the answer to 1,000 events grows with
	// their boards.
	maxAnswer = 32 << 20
)

// retry calls attempt until it returns nil or a permanent error, or until Config.RetryFor or ctx ends
// the retries. Its error always wraps the error of the last attempt. It wraps ErrNotSent if no attempt got a
// connection, or else ErrOutcomeUnknown if an attempt by method may have changed something.
func (c *Client) retry(ctx context.Context, method string, attempt func(context.Context) error) (err error) {
	sent, mayCount := false, false
	defer func() {
		switch {
		case err == nil:
		case !sent:
			err = fmt.Errorf("%w: %w", ErrNotSent, err)
		case mayCount:
			err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
		}
	}()
	started := time.Now()
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil && n == 0 {
			return err
		}
		var dial dialTrace
		one, cancel := context.WithTimeout(dial.trace(ctx), c.cfg.AttemptTimeout)
		err := attempt(one)
		cancel()
		if err == nil {
			return nil
		}
		if dial.got.Load() || !dial.wanted.Load() && !errors.Is(err, ErrCredentials) {
			sent = true
			mayCount = mayCount || method != http.MethodGet && !changedNothing(err)
		}
		if ended := ctx.Err(); ended != nil {
			return fmt.Errorf("%w (attempt %d: %w)", ended, n+1, err)
		}
		if !isTemporary(err) || c.cfg.RetryFor < 0 {
			return err
		}
		wait := c.backoff(n)
		// The client waits at least as long as the server asks for, plus jitter, so that clients do
		// not all come back at that moment.
		if e, ok := errors.AsType[*Error](err); ok {
			wait += e.retryAfter
		}
		if time.Since(started)+wait > c.cfg.RetryFor {
			return fmt.Errorf("gave up after %d attempts: %w", n+1, err)
		}
		if c.cfg.OnRetry != nil {
			c.cfg.OnRetry(err)
		}
		if ended := sleep(ctx, wait); ended != nil {
			return fmt.Errorf("%w (attempt %d: %w)", ended, n+1, err)
		}
	}
}

// do sends one request and decodes its answer, without retries. body is JSON, or nil for none. If the server
// refuses credentials that have been replaced meanwhile, do sends the request again: the server has done nothing.
func (c *Client) do(ctx context.Context, method, address string, body []byte, answer any) error {
	used, err := c.send(ctx, method, address, body, answer)
	if c.mayRenew(ctx, used, err) {
		_, err = c.send(ctx, method, address, body, answer)
	}
	return err
}

// send sends one request, and returns the credentials that it has used.
func (c *Client) send(ctx context.Context, method, address string, body []byte, answer any) (used string, err error) {
	contentType := ""
	if body != nil {
		contentType = "application/json"
	}
	req, used, err := c.newRequest(ctx, method, address, contentType, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return used, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		return used, problem(res)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return used, fmt.Errorf("read the answer: %w", err)
	case len(text) > maxAnswer:
		return used, fmt.Errorf("%w: over %d bytes", errAnswer, maxAnswer)
	}
	return used, decode(text, answer)
}

// newRequest makes a request with the present credentials, and returns these. contentType is "" for no body.
func (c *Client) newRequest(ctx context.Context, method, address, contentType string, body io.Reader) (req *http.Request, used string,
	err error) {
	if req, err = http.NewRequestWithContext(ctx, method, address, body); err != nil {
		return nil, "", fmt.Errorf("%w: %w", errAnswer, err)
	}
	maps.Copy(req.Header, c.cfg.Header)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	used, err = c.authorize(ctx, req.Header)
	return req, used, err
}

// decode decodes an answer.
func decode(text []byte, answer any) error {
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	return nil
}

// call sends a request, with retries, and returns its answer. body is JSON, or nil for none. An error begins with
// what the call was to do: a format and its arguments.
func call[T any](ctx context.Context, c *Client, method, address string, body []byte, what string, args ...any) (answer T, err error) {
	err = c.retry(ctx, method, func(ctx context.Context) error { return c.do(ctx, method, address, body, &answer) })
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), err)
	}
	return answer, nil
}

// get is call for a GET with parameters.
func get[T any](ctx context.Context, c *Client, address string, parameters url.Values, what string, args ...any) (T, error) {
	if len(parameters) > 0 {
		address += "?" + parameters.Encode()
	}
	return call[T](ctx, c, http.MethodGet, address, nil, what, args...)
}
