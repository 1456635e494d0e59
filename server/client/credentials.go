package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
)

// ErrCredentials means that Config.Credentials failed, so that nothing was sent in that attempt.
var ErrCredentials = errors.New("no credentials")

// Key returns a function for Config.Credentials that always returns this key or token.
func Key(key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return key, nil }
}

// credentialsForm is the form of a key or a token (RFC 6750, section 2.1).
var credentialsForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// errCredentialsForm says nothing of the credentials.
var errCredentialsForm = fmt.Errorf("%w: they are neither a key nor a token: want letters, digits and -._~+/= alone", ErrCredentials)

// CheckCredentials returns an error for text that is neither a key nor a token. The error does not show the text.
func CheckCredentials(text string) error {
	if !credentialsForm.MatchString(text) {
		return errCredentialsForm
	}
	return nil
}

// authorize adds the present credentials to a header. It returns them; "" for none.
func (c *Client) authorize(ctx context.Context, h http.Header) (credentials string, err error) {
	if c.cfg.Credentials == nil {
		return "", nil
	}
	credentials, err = c.cfg.Credentials(ctx)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrCredentials, err)
	case credentials == "":
		return "", nil
	}
	if err := CheckCredentials(credentials); err != nil {
		return "", err
	}
	h.Set("Authorization", "Bearer "+credentials)
	return credentials, nil
}

// mayRenew reports whether a server has refused credentials that have been replaced meanwhile: another attempt
// sends others.
func (c *Client) mayRenew(ctx context.Context, used string, err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized && c.haveChanged(ctx, used)
}

// haveChanged reports whether the present credentials are others than those of an attempt.
func (c *Client) haveChanged(ctx context.Context, used string) bool {
	if c.cfg.Credentials == nil {
		return false
	}
	now, err := c.cfg.Credentials(ctx)
	return err == nil && now != "" && now != used
}

// keepCredentials removes the credentials from a request that a redirect sends to another server: net/http keeps
// them for other ports, for names below that of the host, and without TLS.
func keepCredentials(base *url.URL, check func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if req.URL.Scheme != base.Scheme || req.URL.Host != base.Host {
			req.Header.Del("Authorization")
		}
		switch {
		case check != nil:
			return check(req, via)
		case len(via) >= maxRedirects:
			return fmt.Errorf("stopped after %d redirects", maxRedirects)
		}
		return nil
	}
}

// maxRedirects is the limit of net/http, which holds without a CheckRedirect only.
const maxRedirects = 10
