package access

import "strings"

// Scope is a set of rights that a caller may have. Scopes combine with |.
type Scope uint8

const (
	// ScopeRead is for reading and watching boards, for feeds, and for all that no other scope lists.
	ScopeRead Scope = 1 << iota
	// ScopeWrite is for scores, events and profiles. Anonymous callers and viewers may send events only.
	ScopeWrite
	// ScopeModerate is for hiding, setting, taking back and erasing, and for the audit.
	ScopeModerate
	// ScopeMetrics is for the metrics.
	ScopeMetrics
	// ScopeAdmin is for definitions, imports, exports and nodes. It includes all other scopes.
	ScopeAdmin
)

// scopeNames are the names of scopes in the access file, in order.
var scopeNames = []struct {
	scope Scope
	name  string
}{
	{ScopeRead, "read"}, {ScopeWrite, "write"}, {ScopeModerate, "moderate"}, {ScopeMetrics, "metrics"}, {ScopeAdmin, "admin"},
}

// ScopeNames are the names of all scopes.
func ScopeNames() []string {
	names := make([]string, len(scopeNames))
	for i, s := range scopeNames {
		names[i] = s.name
	}
	return names
}

// scopeOf is the scope of a name.
func scopeOf(name string) (s Scope, ok bool) {
	for _, known := range scopeNames {
		if known.name == name {
			return known.scope, true
		}
	}
	return 0, false
}

// String lists the names of the scopes: "read, write".
func (s Scope) String() string {
	var names []string
	for _, known := range scopeNames {
		if s&known.scope != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, ", ")
}
