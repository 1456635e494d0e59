package access

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/definition"
)

const (
	// maxKeys bounds the keys of an access file: each request looks at all of them.
	maxKeys = 1000
	// maxPatterns bounds a list of grants, and maxPatternBytes one of them.
	maxPatterns     = 100
	maxPatternBytes = 256
	// maxNameBytes bounds the name of a key, which the audit shows.
	maxNameBytes = 64
	// maxRate bounds a rate, in tokens a second.
	maxRate = 1_000_000
)

// policy is the content of an access file. It never changes.
type policy struct {
	keys          []*key
	anonymous     *Caller
	anonymousRate *buckets[Address] // nil: no limit
	tokens        *tokensConfig     // nil: no tokens
	tokenRate     *buckets[string]  // by sub; nil: no limit
}

// tokensConfig says which tokens are accepted.
type tokensConfig struct {
	secretFile, keyFile, jwks string // one of them
	audience, issuer          string // "": any
	rate                      tokenRate
}

// parsePolicy parses an access file, which is YAML. An error joins a FieldError for each entry that is wrong.
// It names the field by its path, such as keys[1].scopes.
func parsePolicy(file []byte) (*policy, error) {
	p := &policy{anonymous: &Caller{kind: anonymousCaller}}
	v, err := definition.ParsePrivateYAML(file)
	if err == nil {
		err = p.read(v)
	}
	for _, k := range p.keys {
		k.caller.public = &p.anonymous.own
	}
	return p, hideSecrets(definition.Rooted("file", err))
}

// hideSecrets takes long words out of FieldErrors. An operator may have put a key where its name belongs.
func hideSecrets(err error) error {
	switch err := err.(type) {
	case interface{ Unwrap() []error }:
		var all []error
		for _, one := range err.Unwrap() {
			all = append(all, hideSecrets(one))
		}
		return errors.Join(all...)
	case *definition.FieldError:
		return &definition.FieldError{Field: definition.HideLongWords(err.Field), Reason: definition.HideLongWords(err.Reason), Kind: err.Kind}
	}
	return err
}

// Warnings says what a valid access file allows, or does not, that its author may not have meant. It returns nil for a file
// that is not valid.
func Warnings(file []byte) []string {
	p, err := parsePolicy(file)
	if err != nil {
		return nil
	}
	return p.warnings()
}

// warnings says what an access file allows, or does not, that its author may not have meant.
func (p *policy) warnings() (all []string) {
	useless := func(r rights) bool {
		return r.scopes&^(ScopeMetrics|ScopeAdmin) != 0 && r.scopes&ScopeAdmin == 0 && len(r.boards)+len(r.events)+len(r.kinds) == 0
	}
	for _, k := range p.keys {
		if useless(k.caller.own) {
			all = append(all, fmt.Sprintf("the key %q has no grants: name boards, events or kinds", k.name))
		}
	}
	if useless(p.anonymous.own) {
		all = append(all, "anonymous has no grants: name boards, events or kinds")
	}
	if len(p.keys) == 0 && p.tokens == nil && p.anonymous.own.scopes == 0 {
		all = append(all, "it lets nobody do anything")
	}
	if p.tokens != nil && p.anonymous.own.scopes&ScopeWrite != 0 {
		all = append(all, "anonymous may write: anybody may send its events in the name of any viewer")
	}
	return all
}

// entry is what the access file says of a key, or of anonymous callers.
type entry struct {
	key    key // its name and hash
	rights rights
	rate   tokenRate
}

var (
	policyReaders = []definition.FieldReader[policy]{
		{Name: "keys", Read: (*policy).readKeys},
		{Name: "anonymous", Read: (*policy).readAnonymous},
		{Name: "tokens", Read: (*policy).readTokens},
	}
	keyReaders = append([]definition.FieldReader[entry]{
		{Name: "name", Read: func(e *entry, v definition.Value) error { return e.key.readName(v) }},
		{Name: "hash", Read: func(e *entry, v definition.Value) error { return e.key.readHash(v) }},
		{Name: "scopes", Read: func(e *entry, v definition.Value) error { return e.rights.readScopes(v) }},
	}, grantReaders...)
	anonymousReaders = append([]definition.FieldReader[entry]{
		{Name: "scopes", Read: func(e *entry, v definition.Value) error { return e.rights.readAnonymousScopes(v) }},
	}, grantReaders...)
	grantReaders = []definition.FieldReader[entry]{
		{Name: "boards", Read: func(e *entry, v definition.Value) error { return e.rights.boards.read(v) }},
		{Name: "events", Read: func(e *entry, v definition.Value) error { return e.rights.events.read(v) }},
		{Name: "kinds", Read: func(e *entry, v definition.Value) error { return e.rights.kinds.read(v) }},
		{Name: "rate", Read: func(e *entry, v definition.Value) error { return e.rate.read(v) }},
	}
	tokensReaders = []definition.FieldReader[tokensConfig]{
		{Name: "secret_file", Read: func(t *tokensConfig, v definition.Value) error { return definition.ReadText(v, &t.secretFile) }},
		{Name: "key_file", Read: func(t *tokensConfig, v definition.Value) error { return definition.ReadText(v, &t.keyFile) }},
		{Name: "jwks", Read: (*tokensConfig).readJWKS},
		{Name: "audience", Read: func(t *tokensConfig, v definition.Value) error { return definition.ReadText(v, &t.audience) }},
		{Name: "issuer", Read: func(t *tokensConfig, v definition.Value) error { return definition.ReadText(v, &t.issuer) }},
		{Name: "rate", Read: func(t *tokensConfig, v definition.Value) error { return t.rate.read(v) }},
	}
)

func (p *policy) read(v definition.Value) error {
	if v.Kind != '{' {
		return v.Want("an object with keys, anonymous or tokens")
	}
	var errs []error
	for i := range v.Fields { // each by itself: an error names all that is wrong
		section := definition.Value{Path: v.Path, Kind: v.Kind, Fields: v.Fields[i : i+1]}
		errs = append(errs, definition.ReadFields(section, p, "", "an access file", policyReaders))
	}
	return errors.Join(errs...)
}

func (p *policy) readKeys(v definition.Value) error {
	if v.Kind == 'n' { // a file that gets its keys later
		return nil
	}
	if v.Kind != '[' {
		return v.Want("a list of keys, as rankcast key new prints them")
	}
	if len(v.Items) > maxKeys {
		return v.Refuse("has %d keys; want at most %d", len(v.Items), maxKeys)
	}
	var errs []error
	byName, byHash := make(map[string]string), make(map[string]string)
	for _, item := range v.Items {
		k, err := readKey(item)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		hash := string(k.hash[:])
		if other := byName[k.name]; other != "" {
			errs = append(errs, definition.Invalid(item.Path+".name", fmt.Sprintf("is %q, as in %s; the audit needs different names",
				k.name, other)))
		}
		if other := byHash[hash]; other != "" {
			errs = append(errs, definition.Invalid(item.Path+".hash", "is the same as in "+other))
		}
		byName[k.name], byHash[hash] = item.Path, item.Path
		p.keys = append(p.keys, k)
	}
	return errors.Join(errs...)
}

func readKey(v definition.Value) (*key, error) {
	var e entry
	err := definition.ReadFields(v, &e, "an object with name, hash and scopes", "a key", keyReaders)
	k, r := &key{name: e.key.name, hash: e.key.hash, rate: e.rate}, e.rights
	missing := ""
	switch {
	case err != nil:
		return nil, err
	case k.name == "":
		missing = "name"
	case k.hash == [len(k.hash)]byte{}:
		missing = "hash"
	case r.scopes == 0:
		missing = "scopes"
	}
	if missing != "" {
		return nil, definition.Invalid(v.Path+"."+missing, "is missing")
	}
	for _, f := range v.Fields {
		if r.scopes&ScopeAdmin != 0 && slices.Contains([]string{"boards", "events", "kinds"}, f.Name) {
			return nil, f.Refuse("has no effect beside the scope admin, which grants everything; omit it")
		}
	}
	k.caller = &Caller{kind: keyCaller, own: r, key: k}
	if k.rate.perSecond > 0 {
		k.bucket = k.rate.bucket()
	}
	return k, nil
}

// readName reads the name of a key, which the audit shows as "by".
func (k *key) readName(v definition.Value) error {
	if err := definition.ReadText(v, &k.name); err != nil {
		return err
	}
	if reason := definition.TextFault(k.name, maxNameBytes); reason != "" {
		return v.Refuse("%s", reason)
	}
	if IsKey(k.name) {
		return v.Refuse("is a key; want a name, which logs and the audit may show")
	}
	return nil
}

func (k *key) readHash(v definition.Value) (err error) {
	var ok bool
	if k.hash, ok = parseHash(v.Text); !ok {
		err = v.Refuse("is not the hash of a key; want sha256: and 64 hexadecimal digits, as rankcast key new prints them")
	}
	return err
}

func (p *policy) readAnonymous(v definition.Value) error {
	e := entry{rights: rights{onlyEvents: true}}
	err := definition.ReadFields(v, &e, "an object, such as {scopes: [read], boards: [stars]}", "anonymous", anonymousReaders)
	r, limit := e.rights, e.rate
	if err != nil {
		return err
	}
	switch {
	case r.scopes == 0:
		return definition.Invalid(v.Path+".scopes", "is missing")
	case r.scopes&ScopeWrite != 0 && len(r.events) == 0:
		return definition.Invalid(v.Path+".events", "is missing; write lets anonymous callers send events, and nothing else")
	}
	p.anonymous = &Caller{kind: anonymousCaller, own: r}
	if limit.perSecond > 0 {
		p.anonymousRate = newBuckets[Address](limit)
	}
	return nil
}

func (p *policy) readTokens(v definition.Value) error {
	t := new(tokensConfig)
	if err := definition.ReadFields(v, t, "an object, such as {secret_file: token.secret}", "tokens", tokensReaders); err != nil {
		return err
	}
	sources := 0
	for _, source := range []string{t.secretFile, t.keyFile, t.jwks} {
		if source != "" {
			sources++
		}
	}
	switch {
	case sources != 1:
		return v.Refuse("has %d of secret_file, key_file and jwks; want one", sources)
	case t.jwks != "" && t.audience == "":
		return definition.Invalid(v.Path+".audience", "is missing; with jwks it keeps out tokens that the same keys sign for other services")
	}
	p.tokens = t
	if t.rate.perSecond > 0 {
		p.tokenRate = newBuckets[string](t.rate)
	}
	return nil
}

func (t *tokensConfig) readJWKS(v definition.Value) error {
	err := definition.ReadText(v, &t.jwks)
	if reason := jwksFault(t.jwks); err == nil && reason != "" {
		err = v.Refuse("%s", reason)
	}
	return err
}

// readAnonymousScopes reads the scopes of callers without a key.
func (r *rights) readAnonymousScopes(v definition.Value) error {
	err := r.readScopes(v)
	if keys := r.scopes & (ScopeModerate | ScopeAdmin); err == nil && keys != 0 {
		err = v.Refuse("has %s, which needs a key", keys)
	}
	return err
}

func (r *rights) readScopes(v definition.Value) error {
	if v.Kind != '[' || len(v.Items) == 0 {
		return v.Want("a list of scopes, such as [read, write]")
	}
	for _, item := range v.Items {
		one, ok := scopeOf(item.Text)
		if item.Kind != '"' || !ok {
			return item.Refuse("is not a scope; want %s", strings.Join(ScopeNames(), ", "))
		}
		r.scopes |= one
	}
	return nil
}

func (p *patterns) read(v definition.Value) error {
	if v.Kind != '[' {
		return v.Want("a list of patterns, such as [stars, \"fans:*\"]")
	}
	if len(v.Items) > maxPatterns {
		return v.Refuse("has %d patterns; want at most %d", len(v.Items), maxPatterns)
	}
	for _, item := range v.Items {
		var pattern string
		if err := definition.ReadText(item, &pattern); err != nil {
			return err
		}
		if reason := patternFault(pattern); reason != "" {
			return item.Refuse("%s", reason)
		}
		*p = append(*p, pattern)
	}
	return nil
}

// patternFault says what is wrong with a pattern; "" for nothing.
func patternFault(pattern string) string {
	if strings.Contains(pattern, "@") {
		return "has a period, but a grant covers all periods of a board; omit the @ and what follows it"
	}
	return definition.TextFault(pattern, maxPatternBytes)
}

var rateForm = regexp.MustCompile(`^([0-9]{1,9})/(s|m)$`)

// read reads a rate: 20/s, or 30/m.
func (r *tokenRate) read(v definition.Value) error {
	return definition.ReadParsed(v, r, aRate, "want "+aRate, parseRate)
}

var aRate = fmt.Sprintf("a rate, such as 20/s or 30/m, of more than 0 and at most %d/s", maxRate)

// parseRate parses a rate.
func parseRate(text string) (r tokenRate, ok bool) {
	parts := rateForm.FindStringSubmatch(text)
	if parts == nil {
		return r, false
	}
	n, _ := strconv.Atoi(parts[1])
	r = tokenRate{perSecond: float64(n), saved: rateSaved}
	if parts[2] == "m" {
		r = tokenRate{perSecond: float64(n) / time.Minute.Seconds(), saved: time.Minute}
	}
	return r, 0 < r.perSecond && r.perSecond <= maxRate
}
