package access

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/server/internal/filewatch"
)

// GuardConfig configures a Guard. File or Text is required.
type GuardConfig struct {
	// File is the path of the access file, of 1 MiB at most, as each other file that it names. The Guard reads them
	// again when they change: a change comes into force within two seconds. Paths in the file are relative to its
	// folder.
	File string
	// Text is the access file itself, in place of File. Paths in it are relative to the working directory.
	Text string
	// HTTP fetches the keys of tokens (jwks), and follows no redirects there. Default: http.DefaultTransport.
	HTTP *http.Client
	// Log gets messages for operators. Default slog.Default.
	Log *slog.Logger
}

// Guard finds the caller of a request, with its rights. NewGuard or NewOpenGuard makes it, Run keeps it up to
// date. All methods may be called concurrently.
type Guard struct {
	cfg     GuardConfig
	open    *loaded // anybody may do anything; nil: there is an access file
	files   *filewatch.Watch[loaded]
	version atomic.Uint64
}

// loaded is an access file in force, with what its other files hold.
type loaded struct {
	policy   *policy
	verifier *verifier // nil: no tokens
	access   []byte    // content of the access file
	material []byte    // content of secret_file or key_file
}

// NewOpenGuard makes the Guard of a server without an access file: anybody may do anything.
func NewOpenGuard() *Guard {
	return &Guard{open: &loaded{policy: &policy{anonymous: &Caller{kind: openCaller}}}}
}

// NewGuard makes a Guard of an access file. It returns an error for a file that is not valid, which names each
// field that is wrong. It fetches nothing.
func NewGuard(cfg GuardConfig) (*Guard, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	g := &Guard{cfg: cfg}
	var err error
	if g.files, err = filewatch.New(filewatch.Config[loaded]{Name: "access file", Load: g.load, Log: cfg.Log}); err != nil {
		return nil, err
	}
	g.warn(g.current().policy)
	return g, nil
}

// warn logs what the author of an access file may not have meant.
func (g *Guard) warn(p *policy) {
	for _, warning := range p.warnings() {
		g.cfg.Log.Warn("the access file is valid, but may not say what you want", "warning", warning)
	}
}

// Open reports whether there is no access file.
func (g *Guard) Open() bool { return g.open != nil }

// Version changes whenever the rights of any caller may have changed. Renew tells whether they have.
func (g *Guard) Version() uint64 { return g.version.Load() }

// Status is the state of the access file, or of the key set that verifies tokens, for an operator.
// Its Since is zero for a key set that was never fetched.
type Status = filewatch.Status

// Status returns the state of the access file; zero for an open Guard.
func (g *Guard) Status() Status {
	if g.Open() {
		return Status{}
	}
	return g.files.Status()
}

// KeySetStatus returns the state of the key set, and whether the access file in force names one.
func (g *Guard) KeySetStatus() (of Status, there bool) {
	v := g.current().verifier
	if v == nil || v.set == nil {
		return of, false
	}
	return v.set.status(), true
}

// Reload makes Run read the files now, and put them into force at once.
func (g *Guard) Reload() {
	if !g.Open() {
		g.files.Reload()
	}
}

// Run reads the files again when they change, and fetches the keys of tokens, until ctx ends. A file that is
// not valid leaves the last good one in force.
func (g *Guard) Run(ctx context.Context) {
	if g.Open() {
		return
	}
	var fetching sync.WaitGroup
	defer fetching.Wait()
	fetch := func(v *verifier) (stop func()) {
		ctx, cancel := context.WithCancel(ctx)
		fetching.Go(func() { v.run(ctx) })
		return cancel
	}
	running := g.current().verifier
	stop := fetch(running)
	g.files.Run(ctx, func(l *loaded) {
		g.version.Add(1)
		g.cfg.Log.Info("a new access file is in force", "keys", len(l.policy.keys))
		g.warn(l.policy)
		if l.verifier != running {
			stop()
			running = l.verifier
			stop = fetch(running)
		}
	})
	stop()
}

// current returns the keys, tokens and rights that are in force. An open Guard has one value for all time.
func (g *Guard) current() *loaded {
	if g.Open() {
		return g.open
	}
	return g.files.Current()
}

// load reads the files. It returns before if nothing has changed. Otherwise it takes over the buckets and the
// fetched keys of before.
func (g *Guard) load(read filewatch.ReadFile, before *loaded) (*loaded, error) {
	l := &loaded{access: []byte(g.cfg.Text)}
	var err error
	if g.cfg.File != "" {
		if l.access, err = read(g.cfg.File); err != nil {
			return nil, fmt.Errorf("read the access file: %w", err)
		}
	}
	same := before != nil && bytes.Equal(before.access, l.access)
	if same {
		l.policy = before.policy
	} else if l.policy, err = parsePolicy(l.access); err != nil {
		return nil, err
	}
	t := l.policy.tokens
	if t != nil {
		if l.material, err = g.readMaterial(read, t); err != nil {
			return nil, err
		}
		var replaced *verifier
		if before != nil {
			replaced = before.verifier
		}
		if replaced != nil && *before.policy.tokens == *t && bytes.Equal(before.material, l.material) {
			l.verifier = replaced
		} else if l.verifier, err = newVerifier(*t, l.material, g.cfg, func() { g.version.Add(1) }, replaced); err != nil {
			return nil, err
		}
	}
	if same && l.verifier == before.verifier {
		return before, nil
	}
	if before != nil && !same {
		l.policy.keepBuckets(before.policy)
	}
	return l, nil
}

// readMaterial reads the file with the secret or the key of tokens; nil if there is none.
func (g *Guard) readMaterial(read filewatch.ReadFile, t *tokensConfig) ([]byte, error) {
	name, field := t.secretFile, secretFileField
	if t.keyFile != "" {
		name, field = t.keyFile, keyFileField
	}
	if name == "" {
		return nil, nil
	}
	b, err := read(besideFile(g.cfg.File, name))
	if path, ok := errors.AsType[*fs.PathError](err); ok { // without the path: it may be the secret itself
		err = fmt.Errorf("%w; want a path, relative to the folder of the access file", path.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return b, nil
}

// besideFile resolves a path that an access file names: it is relative to the folder of that file.
func besideFile(file, name string) string {
	if filepath.IsAbs(name) || file == "" {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// keepBuckets takes over the buckets of callers whose rate stays the same: a reload must not give tokens away.
func (p *policy) keepBuckets(before *policy) {
	for _, k := range p.keys {
		if old := find(before.keys, k.hash); old != nil && old.rate == k.rate {
			k.bucket = old.bucket
		}
	}
	p.anonymousRate = sameRate(p.anonymousRate, before.anonymousRate)
	p.tokenRate = sameRate(p.tokenRate, before.tokenRate)
}

// sameRate returns the buckets before if those now have the same rate, or else those now; nil is no rate.
func sameRate[K comparable](now, before *buckets[K]) *buckets[K] {
	if now != nil && before != nil && now.rate == before.rate {
		return before
	}
	return now
}

// Anonymous is the caller of a request without credentials.
func (g *Guard) Anonymous() *Caller { return g.current().policy.anonymous }

// errUnknownKey says nothing of the key.
var errUnknownKey = fmt.Errorf("%w: there is no such key", ErrUnauthorized)

// Authenticate returns the caller of credentials, which are a key or a token. The error is an ErrUnauthorized, or
// a KeysUnavailableError for a token whose key the server may fetch later. It may wait for a fetch of keys, for 3 s
// or until ctx ends. An open Guard ignores the credentials.
func (g *Guard) Authenticate(ctx context.Context, credentials string) (*Caller, error) {
	l := g.current()
	if g.Open() {
		return l.policy.anonymous, nil
	}
	if IsKey(credentials) {
		if k := find(l.policy.keys, sha256.Sum256([]byte(credentials))); k != nil {
			return k.caller, nil
		}
		return nil, errUnknownKey
	}
	if l.verifier == nil {
		return nil, fmt.Errorf("%w: the credentials are no key, and the server accepts no tokens", ErrUnauthorized)
	}
	v, err := l.verifier.verify(ctx, credentials)
	if err != nil {
		return nil, err
	}
	return newViewer(v, &l.policy.anonymous.own), nil
}

// Renew returns a caller with its present rights. A key that has left the access file gets the rights of
// anonymous. The error is an ErrExpired for a token that has expired, or that no present key verifies: its
// viewer has to come with another one. It is ErrSession for a session that has expired.
func (g *Guard) Renew(c *Caller) (*Caller, error) {
	l := g.current()
	switch c.kind {
	case keyCaller:
		if k := find(l.policy.keys, c.key.hash); k != nil {
			if c.HasExpired(time.Now()) {
				return nil, ErrSession
			}
			return l.policy.keyCaller(k, c.session), nil
		}
	case viewerCaller:
		return l.viewerCaller(c.viewer)
	}
	return l.policy.anonymous, nil
}

// Reverify is Renew for a caller who has waited since an earlier version, to do what its credentials allowed then.
// It costs next to nothing while Version is the same. For a key that has left the access file the error is an
// ErrUnauthorized, because the request must not go on with the rights of anonymous.
func (g *Guard) Reverify(c *Caller, version uint64) (*Caller, error) {
	if g.Version() == version && !c.HasExpired(time.Now()) {
		return c, nil
	}
	now, err := g.Renew(c)
	switch {
	case err != nil:
		return c, err
	case c.Authenticated() && !now.Authenticated():
		return c, errUnknownKey
	}
	return now, nil
}

// viewerCaller returns the caller of a token that was verified before.
func (l *loaded) viewerCaller(v *Viewer) (*Caller, error) {
	switch {
	case !time.Now().Before(v.Expires):
		return nil, fmt.Errorf("%w: the token has expired", ErrExpired)
	case l.verifier == nil || !l.verifier.trusts(v.KeyID):
		return nil, fmt.Errorf("%w: the key that signed the token is not accepted any more", ErrExpired)
	}
	return newViewer(v, &l.policy.anonymous.own), nil
}

// Take takes n tokens of the rate of a caller: of its key, of its sub or, for anonymous, of its address. taken
// are those that the same request has taken before. The error is a Refusal of the kind ErrRateLimited.
func (g *Guard) Take(c *Caller, from Address, n, taken int) (Quota, error) {
	if n == 0 {
		return Quota{}, nil
	}
	p := g.current().policy
	var q Quota
	var wait time.Duration
	switch {
	case c.kind == keyCaller && c.key.bucket != nil:
		q, wait = c.key.rate.take(c.key.bucket, "key", n, taken)
	case c.kind == viewerCaller && p.tokenRate != nil:
		q, wait = p.tokenRate.rate.take(p.tokenRate.bucket(c.viewer.Sub), "viewer", n, taken)
	case c.kind == anonymousCaller && p.anonymousRate != nil:
		q, wait = p.anonymousRate.rate.take(p.anonymousRate.bucket(from), "anonymous", n, taken)
	}
	if wait > 0 {
		return q, &Refusal{Limit: CallerRate, RetryAfter: wait, kind: ErrRateLimited,
			reason: fmt.Sprintf("%s sends more than its rate allows, which the access file sets", c)}
	}
	return q, nil
}

// ErrKeysUnavailable means that the server does not have the key that verifies a token, and may have it later.
var ErrKeysUnavailable = errors.New("the keys that verify tokens are not available")

// KeysUnavailableError is an ErrKeysUnavailable about one token.
type KeysUnavailableError struct {
	RetryAfter time.Duration // when the same token may be valid at the earliest: 1 s to 60 s

	reason string
}

func (e *KeysUnavailableError) Error() string { return e.reason }

func (e *KeysUnavailableError) Unwrap() error { return ErrKeysUnavailable }
