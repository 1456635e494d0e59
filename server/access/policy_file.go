package access

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking"
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
	case *ranking.FieldError:
		return &ranking.FieldError{Field: definition.HideLongWords(err.Field), Reason: definition.HideLongWords(err.Reason), Kind: err.Kind}
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

func (p *policy) read(v definition.Value) error {
	sections := []string{"keys", "anonymous", "tokens"}
	if v.Kind != '{' {
		return v.Want("an object with keys, anonymous or tokens")
	}
	var errs []error
	for _, f := range v.Fields {
		switch f.Name {
		case "keys":
			errs = append(errs, p.readKeys(f.Value))
		case "anonymous":
			errs = append(errs, p.readAnonymous(f.Value))
		case "tokens":
			errs = append(errs, p.readTokens(f.Value))
		default:
			errs = append(errs, f.Unknown(v.Path, "an access file", sections))
		}
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
			errs = append(errs, ranking.Invalid(item.Path+".name", fmt.Sprintf("is %q, as in %s; the audit needs different names", k.name, other)))
		}
		if other := byHash[hash]; other != "" {
			errs = append(errs, ranking.Invalid(item.Path+".hash", "is the same as in "+other))
		}
		byName[k.name], byHash[hash] = item.Path, item.Path
		p.keys = append(p.keys, k)
	}
	return errors.Join(errs...)
}

var keyFields = []string{"name", "hash", "scopes", "boards", "events", "kinds", "rate"}

func readKey(v definition.Value) (*key, error) {
	k := new(key)
	r := rights{}
	var given []definition.FieldValue // grants
	err := v.ReadObject("an object with name, hash and scopes", keyFields, func(f definition.FieldValue) (err error) {
		switch f.Name {
		case "name":
			return readKeyName(f.Value, &k.name)
		case "hash":
			var ok bool
			if k.hash, ok = parseHash(f.Text); !ok {
				return f.Refuse("is not the hash of a key; want sha256: and 64 hexadecimal digits, as rankcast key new prints them")
			}
			return nil
		case "scopes":
			r.scopes, err = readScopes(f.Value)
			return err
		case "rate":
			k.rate, err = readRate(f.Value)
			return err
		case "boards", "events", "kinds":
			given = append(given, f)
			return r.readGrants(f)
		}
		return f.Unknown(v.Path, "a key", keyFields)
	})
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
		return nil, ranking.Invalid(v.Path+"."+missing, "is missing")
	}
	if r.scopes&ScopeAdmin != 0 && len(given) > 0 {
		return nil, given[0].Refuse("has no effect beside the scope admin, which grants everything; omit it")
	}
	k.caller = &Caller{kind: keyCaller, own: r, key: k}
	if k.rate.perSecond > 0 {
		k.bucket = k.rate.bucket()
	}
	return k, nil
}

// readKeyName reads the name of a key, which the audit shows as "by".
func readKeyName(v definition.Value, name *string) error {
	if err := definition.ReadText(v, name); err != nil {
		return err
	}
	if reason := definition.NewTextFault(*name, maxNameBytes); reason != "" {
		return v.Refuse("%s", reason)
	}
	if IsKey(*name) {
		return v.Refuse("is a key; want a name, which logs and the audit may show")
	}
	return nil
}

func (p *policy) readAnonymous(v definition.Value) error {
	fields := []string{"scopes", "boards", "events", "kinds", "rate"}
	r, limit := rights{onlyEvents: true}, tokenRate{}
	err := v.ReadObject("an object, such as {scopes: [read], boards: [stars]}", fields, func(f definition.FieldValue) (err error) {
		switch f.Name {
		case "scopes":
			if r.scopes, err = readScopes(f.Value); err == nil && r.scopes&(ScopeModerate|ScopeAdmin) != 0 {
				err = f.Refuse("has %s, which needs a key", r.scopes&(ScopeModerate|ScopeAdmin))
			}
			return err
		case "rate":
			limit, err = readRate(f.Value)
			return err
		case "boards", "events", "kinds":
			return r.readGrants(f)
		}
		return f.Unknown(v.Path, "anonymous", fields)
	})
	if err != nil {
		return err
	}
	switch {
	case r.scopes == 0:
		return ranking.Invalid(v.Path+".scopes", "is missing")
	case r.scopes&ScopeWrite != 0 && len(r.events) == 0:
		return ranking.Invalid(v.Path+".events", "is missing; write lets anonymous callers send events, and nothing else")
	}
	p.anonymous = &Caller{kind: anonymousCaller, own: r}
	if limit.perSecond > 0 {
		p.anonymousRate = newBuckets[Address](limit)
	}
	return nil
}

func (p *policy) readTokens(v definition.Value) error {
	fields := []string{"secret_file", "key_file", "jwks", "audience", "issuer", "rate"}
	t := new(tokensConfig)
	err := v.ReadObject("an object, such as {secret_file: token.secret}", fields, func(f definition.FieldValue) (err error) {
		switch f.Name {
		case "secret_file":
			return definition.ReadText(f.Value, &t.secretFile)
		case "key_file":
			return definition.ReadText(f.Value, &t.keyFile)
		case "jwks":
			if err = definition.ReadText(f.Value, &t.jwks); err == nil {
				if reason := jwksFault(t.jwks); reason != "" {
					err = f.Refuse("%s", reason)
				}
			}
			return err
		case "audience":
			return definition.ReadText(f.Value, &t.audience)
		case "issuer":
			return definition.ReadText(f.Value, &t.issuer)
		case "rate":
			t.rate, err = readRate(f.Value)
			return err
		}
		return f.Unknown(v.Path, "tokens", fields)
	})
	if err != nil {
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
		return ranking.Invalid(v.Path+".audience", "is missing; with jwks it keeps out tokens that the same keys sign for other services")
	}
	p.tokens = t
	if t.rate.perSecond > 0 {
		p.tokenRate = newBuckets[string](t.rate)
	}
	return nil
}

func readScopes(v definition.Value) (s Scope, err error) {
	if v.Kind != '[' || len(v.Items) == 0 {
		return 0, v.Want("a list of scopes, such as [read, write]")
	}
	for _, item := range v.Items {
		one, ok := scopeOf(item.Text)
		if item.Kind != '"' || !ok {
			return 0, item.Refuse("is not a scope; want %s", strings.Join(ScopeNames(), ", "))
		}
		s |= one
	}
	return s, nil
}

func (r *rights) readGrants(f definition.FieldValue) error {
	to := map[string]*patterns{"boards": &r.boards, "events": &r.events, "kinds": &r.kinds}[f.Name]
	if f.Kind != '[' {
		return f.Want("a list of patterns, such as [stars, \"fans:*\"]")
	}
	if len(f.Items) > maxPatterns {
		return f.Refuse("has %d patterns; want at most %d", len(f.Items), maxPatterns)
	}
	for _, item := range f.Items {
		var pattern string
		if err := definition.ReadText(item, &pattern); err != nil {
			return err
		}
		if reason := patternFault(pattern); reason != "" {
			return item.Refuse("%s", reason)
		}
		*to = append(*to, pattern)
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

// readRate reads a rate: 20/s, or 30/m.
func readRate(v definition.Value) (tokenRate, error) {
	r, reason := parseRate(v.Text)
	if v.Kind != '"' {
		reason = wantRate
	}
	if reason != "" {
		return tokenRate{}, v.Refuse("%s", reason)
	}
	return r, nil
}

var wantRate = fmt.Sprintf("want a rate, such as 20/s or 30/m, of more than 0 and at most %d/s", maxRate)

// parseRate parses a rate. The reason says what is wrong; "" for nothing.
func parseRate(text string) (r tokenRate, reason string) {
	reason = "is " + strconv.Quote(definition.Clip(text)) + "; " + wantRate
	parts := rateForm.FindStringSubmatch(text)
	if parts == nil {
		return r, reason
	}
	n, _ := strconv.Atoi(parts[1])
	r = tokenRate{perSecond: float64(n), saved: rateSaved}
	if parts[2] == "m" {
		r = tokenRate{perSecond: float64(n) / time.Minute.Seconds(), saved: time.Minute}
	}
	if r.perSecond == 0 || r.perSecond > maxRate {
		return r, reason
	}
	return r, ""
}
