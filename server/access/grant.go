package access

import (
	"fmt"
	"slices"
	"strings"

	"rankcast/ranking/definition"
)

// ResourceType is a type of what a request is about, for which the access file has grants.
type ResourceType int

const (
	NoResource ResourceType = iota // the request needs no grant
	BoardResource
	EventResource // an event and its feed
	KindResource  // the members of a kind, on all boards
)

func (t ResourceType) String() string {
	return [...]string{"", "board", "event", "kind"}[t]
}

// Resource is the subject of a request: a board, an event or a kind. The zero Resource needs no grant.
type Resource struct {
	Type ResourceType
	Name string // of a board also with a period
}

func (r Resource) String() string {
	return fmt.Sprintf("%s %q", r.Type, definition.Clip(r.Name))
}

// Board is the resource of a board, a period of it, or a family.
func Board(name string) Resource { return Resource{BoardResource, name} }

// Event is the resource of an event and its feed.
func Event(name string) Resource { return Resource{EventResource, name} }

// Kind is the resource of all members of a kind.
func Kind(name string) Resource { return Resource{KindResource, name} }

// patterns grant the names that one of them matches. * matches any run of characters; all others match
// themselves.
type patterns []string

func (p patterns) match(name string) bool {
	return slices.ContainsFunc(p, func(one string) bool { return matchPattern(one, name) })
}

// matchPattern takes time proportional to the product of the lengths at most.
func matchPattern(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name, rest = name[at+len(part):], after
	}
}

// rights are the scopes and the grants of a caller. The zero rights allow nothing.
type rights struct {
	scopes                Scope
	boards, events, kinds patterns
	// onlyEvents makes ScopeWrite hold for events alone. Otherwise an operator who lets everybody send gifts,
	// and read boards, would let everybody write those boards too.
	onlyEvents bool
}

// has reports whether the rights include a scope, for some resource at least.
func (r *rights) has(s Scope) bool { return r.scopes&(s|ScopeAdmin) != 0 }

// grants reports whether the rights include a resource. A board covers its periods.
func (r *rights) grants(res Resource) bool {
	if r.scopes&ScopeAdmin != 0 {
		return true
	}
	switch res.Type {
	case BoardResource:
		board, _, _ := strings.Cut(res.Name, "@")
		return r.boards.match(board)
	case EventResource:
		return r.events.match(res.Name)
	case KindResource:
		return r.kinds.match(res.Name)
	}
	return true
}

// includeSocket reports whether the rights include anything that a socket does. A scope without a grant allows
// nothing there: a socket shows no lists.
func (r *rights) includeSocket() bool {
	granted := func(s Scope) bool {
		return r.has(s) && (len(r.events) > 0 || len(r.boards) > 0 && !(s == ScopeWrite && r.onlyEvents))
	}
	return r.has(ScopeAdmin) || granted(ScopeRead) || granted(ScopeWrite)
}

func (r *rights) allow(s Scope, res Resource) bool {
	if s == ScopeWrite && r.onlyEvents && res.Type != EventResource {
		return false
	}
	return r.has(s) && r.grants(res)
}

// spans are the names that the patterns may match: those with the text before the first *. The names of a pattern
// without * are exact.
func (p patterns) spans() []definition.NameSpan {
	spans := make([]definition.NameSpan, len(p))
	for i, one := range p {
		prefix, _, wild := strings.Cut(one, "*")
		if wild {
			spans[i] = definition.SpanOfPrefix(prefix)
		} else {
			spans[i] = definition.SpanOfName(one)
		}
	}
	return spans
}
