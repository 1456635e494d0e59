package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"rankcast/ranking/definition"
)

const (
	// keyRefresh is the time after which a key set is fetched again.
	keyRefresh = 10 * time.Minute
	// keyRetry is the least time between two fetches, also when tokens name keys that are not in the set.
	keyRetry = time.Minute
	// keyTimeout bounds a fetch.
	keyTimeout = 10 * time.Second
	// maxKeyWait bounds the time that a token waits for a fetch.
	maxKeyWait = 3 * time.Second
	// keyRecent is the age up to which a key set decides that the key of a token is unknown. A signer publishes a
	// key longer before its first token.
	keyRecent = 5 * time.Second
	// maxSetBytes bounds a key set.
	maxSetBytes = 256 << 10
)

// keySet holds the keys of a key set at an address (JWKS, RFC 7517), and keeps them up to date. All methods may
// be called concurrently, but run only once.
type keySet struct {
	address string
	client  http.Client
	log     *slog.Logger
	changed func()

	current atomic.Pointer[fetchedKeys] // nil: none was fetched yet
	last    atomic.Pointer[keyFetch]    // never nil: before the first fetch, its started is zero
	asks    chan chan<- struct{}        // run fetches if it may, and closes the channel that came
	ended   chan struct{}               // closed when run has ended, so that nobody fetches

	// Of run alone.
	due     time.Time // of the next fetch
	ignored []string  // keys that the last fetch left out
}

// keyFetch is the state of the last fetch. It never changes.
type keyFetch struct {
	started  time.Time
	underWay bool
	cause    string // of its failure; "" for none. While it is under way, it is that of the fetch before
}

// fetchedKeys are the keys of one answer. They never change.
type fetchedKeys struct {
	asked        time.Time // start of the fetch
	keys         map[keyRef]*tokenKey
	fingerprints map[string]bool // of keys
}

// jwksFault says what is wrong with the address of a key set; "" for nothing.
func jwksFault(address string) string {
	switch u, err := url.Parse(address); {
	case err != nil || u.Scheme != "https" || u.Host == "":
		return "want an https URL"
	case u.User != nil:
		return "has a user name; want an https URL without one, because a key set is public"
	}
	return ""
}

func newKeySet(address string, client *http.Client, log *slog.Logger, changed func()) *keySet {
	s := &keySet{address: address, client: *cmp.Or(client, &http.Client{}), log: log, changed: changed,
		asks: make(chan chan<- struct{}), ended: make(chan struct{})}
	// A redirect could lead to an address without TLS, or to one that the operator does not trust.
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.last.Store(new(keyFetch))
	return s
}

// adopt takes over the keys of another keySet of the same address. Call it before run.
func (s *keySet) adopt(before *keySet) {
	if keys, last := before.current.Load(), before.last.Load(); keys != nil {
		s.current.Store(keys)
		s.last.Store(&keyFetch{started: last.started, cause: last.cause})
		s.due = last.started.Add(keyRetry)
	}
}

// has reports whether a key is in the set.
func (s *keySet) has(fingerprint string) bool {
	keys := s.current.Load()
	return keys != nil && keys.fingerprints[fingerprint]
}

// find finds the key of a token. For a key that is not in the set it asks for a fetch, at most one in keyRetry,
// and waits for it. The error is an ErrUnauthorized, or a KeysUnavailableError while the key may be one that is
// newer than the set.
func (s *keySet) find(ctx context.Context, h tokenHeader) (*tokenKey, error) {
	arrived := time.Now()
	set := s.current.Load()
	key, err := set.find(h)
	if key == nil && err == nil {
		s.await(ctx)
		set = s.current.Load()
		key, err = set.find(h)
	}
	switch {
	case key != nil || err != nil:
		return key, err
	case set == nil:
		return nil, &KeysUnavailableError{s.retryAfter(), ErrKeysUnavailable.Error()}
	case arrived.Sub(set.asked) > keyRecent:
		return nil, &KeysUnavailableError{s.retryAfter(),
			"the token " + h.unknownKey() + ", which may be newer than the server's key set; try again later"}
	}
	return nil, tokenFault("%s", h.unknownKey())
}

// unknownKey says that a key set lacks the key of a token.
func (h tokenHeader) unknownKey() string {
	if h.KeyID == "" {
		return fmt.Sprintf("has no kid, and the key set has no key of the algorithm %s", h.Algorithm)
	}
	return fmt.Sprintf("has the unknown kid %q for the algorithm %s", definition.Clip(h.KeyID), h.Algorithm)
}

// retryAfter is the time until the fetch that is under way ends at the latest, or else until the next one is
// allowed: 1 s at least, and keyRetry at most.
func (s *keySet) retryAfter() time.Duration {
	last := s.last.Load()
	next := last.started.Add(keyRetry)
	if last.underWay {
		next = last.started.Add(keyTimeout)
	}
	return max(time.Second, time.Until(next))
}

// find returns nil for a key that is not in the set. A token without kid must leave no choice.
func (f *fetchedKeys) find(h tokenHeader) (only *tokenKey, err error) {
	if f == nil {
		return nil, nil
	}
	if h.KeyID != "" {
		return f.keys[keyRef{h.KeyID, h.Algorithm}], nil
	}
	for ref, key := range f.keys {
		if ref.algorithm != h.Algorithm {
			continue
		}
		if only != nil && only.fingerprint != key.fingerprint {
			return nil, tokenFault("has no kid, and the key set has several keys of the algorithm %s", h.Algorithm)
		}
		only = key
	}
	return only, nil
}

// await waits for the end of a fetch, for maxKeyWait and until ctx ends at most. It returns at once while no fetch
// is under way and none may begin.
func (s *keySet) await(ctx context.Context) {
	if !s.mayFetch() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxKeyWait)
	defer cancel()
	done := make(chan struct{})
	asks := s.asks
	for {
		select {
		case asks <- done: // once a fetch that is under way has ended
			asks = nil
		case <-done:
			return
		case <-s.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// mayFetch reports whether a fetch is under way, or may begin: the last one was keyRetry ago.
func (s *keySet) mayFetch() bool {
	last := s.last.Load()
	return last.underWay || time.Since(last.started) >= keyRetry
}

// run fetches the keys whenever they are due, or asked for, until ctx ends.
func (s *keySet) run(ctx context.Context) {
	defer close(s.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case done := <-s.asks:
			if s.mayFetch() {
				s.refresh(ctx)
			}
			close(done)
		case <-time.After(time.Until(s.due)):
			s.refresh(ctx)
		}
	}
}

// status is the state of the key set, for an operator.
func (s *keySet) status() (of Status) {
	if keys := s.current.Load(); keys != nil {
		of.Since = keys.asked
	}
	if cause := s.last.Load().cause; cause != "" {
		of.Fault = errors.New(cause)
	}
	return of
}

// refresh fetches the keys. A failure leaves the former ones in force: a key server that is away for a while
// must not turn viewers away.
func (s *keySet) refresh(ctx context.Context) {
	before := s.last.Load()
	ended := keyFetch{started: time.Now(), cause: before.cause}
	s.last.Store(&keyFetch{ended.started, true, before.cause})
	defer func() { s.last.Store(&ended) }() // once the keys are in force: until then, tokens wait
	s.due = ended.started.Add(keyRetry)
	keys, ignored, err := s.fetch(ctx)
	if ctx.Err() != nil {
		return
	}
	if answered := err == nil || errors.Is(err, errWithoutKeys); answered && !slices.Equal(ignored, s.ignored) {
		s.ignored = ignored
		for _, reason := range ignored {
			s.log.Warn("a key of the key set that verifies tokens is left out", "key", reason)
		}
	}
	ended.cause = failureCause(err)
	isNew := ended.cause != before.cause
	switch {
	case isNew && err != nil:
		s.log.Error("the key set that verifies tokens could not be fetched; the node tries again each minute", "host", s.host(), "error",
			ended.cause)
	case isNew:
		s.log.Info("the key set that verifies tokens was fetched again", "host", s.host())
	}
	if err != nil {
		return
	}
	s.due = time.Now().Add(keyRefresh)
	if old := s.current.Swap(keys); old == nil || !maps.Equal(old.fingerprints, keys.fingerprints) {
		s.changed()
	}
}

// host is the host of the address. The rest of the address may have a secret, so no log shows it.
func (s *keySet) host() string {
	u, _ := url.Parse(s.address) // checked by jwksFault
	return u.Host
}

// failureCause is the text of an error, without what differs each time, and without the address; "" for none.
func failureCause(err error) string {
	if err == nil {
		return ""
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if wrapped, ok := errors.AsType[*net.OpError](err); ok { // has the port of the connection
		return fmt.Sprintf("%s: %v", wrapped.Op, wrapped.Err)
	}
	return err.Error()
}

func (s *keySet) fetch(ctx context.Context) (_ *fetchedKeys, ignored []string, err error) {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if to := answer.Header.Get("Location"); answer.StatusCode/100 == 3 && to != "" {
		return nil, nil, errors.New("the answer is a redirect, which the node does not follow; want the address of the key set itself")
	}
	if answer.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the answer has the status %d", answer.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxSetBytes+1))
	switch {
	case err != nil:
		return nil, nil, err
	case len(body) > maxSetBytes:
		return nil, nil, fmt.Errorf("the answer has more than %d bytes", maxSetBytes)
	}
	keys, ignored, err := parseKeySet(body)
	if err != nil {
		return nil, ignored, err
	}
	fetched := &fetchedKeys{asked, keys, make(map[string]bool)}
	for _, key := range keys {
		fetched.fingerprints[key.fingerprint] = true
	}
	return fetched, ignored, nil
}
