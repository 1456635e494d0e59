//go:build !race

package contract

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// seen holds what tests have seen: schemas with a property, such as "Entry.avatar", and codes.
var seen sync.Map

// see notes the properties of a valid value, and those of the values within it.
func (s schema) see(value any) {
	for _, branch := range slices.Concat(s.list("oneOf"), s.list("anyOf")) {
		if branch.fits(value) {
			branch.see(value)
			break
		}
	}
	switch value := value.(type) {
	case object:
		properties := s.properties()
		for name, inner := range value {
			if property, documented := properties[name]; documented {
				seen.Store(s.name+"."+name, true)
				property.see(inner)
			} else if others, ok := s.object["additionalProperties"].(object); ok {
				below(others).see(inner)
			}
		}
		for _, part := range s.list("allOf") {
			part.see(value)
		}
	case []any:
		tuple := s.list("items")
		for i, inner := range value {
			switch {
			case i < len(tuple):
				tuple[i].see(inner)
			case s.object["items"] != nil:
				below(s.object["items"]).see(inner)
			}
		}
	case string:
		if s.object["enum"] != nil {
			seen.Store(s.name+" "+value, true)
		}
	}
}

// fits reports whether a valid value is of s, and not of another schema of the same choice.
func (s schema) fits(value any) bool {
	if choices := slices.Concat(s.list("oneOf"), s.list("anyOf")); len(choices) > 0 {
		return slices.ContainsFunc(choices, func(branch schema) bool { return branch.fits(value) })
	}
	switch value := value.(type) {
	case object:
		return s.fitsObject(value)
	case []any:
		items, alike := s.object["items"].(object)
		return s.object["type"] == "array" && (!alike || !slices.ContainsFunc(value, func(inner any) bool { return !below(items).fits(inner) }))
	case nil:
		return fmt.Sprint(s.object["type"]) != "object"
	}
	return s.object["allOf"] == nil && s.object["type"] != "object" && s.object["type"] != "array"
}

// fitsObject is fits for an object, which has no property that a closed s lacks.
func (s schema) fitsObject(value object) bool {
	for _, name := range s.required() {
		if _, there := value[name]; !there {
			return false
		}
	}
	properties, isOpen := s.properties(), s.object["additionalProperties"] != nil && s.object["additionalProperties"] != false
	for name, inner := range value {
		if property, documented := properties[name]; !documented && !isOpen || documented && !property.fits(inner) {
			return false
		}
	}
	return s.object["type"] != "array" && s.object["type"] != "string"
}

// HTTP runs all tests of a package, for its TestMain, and fails if they leave a part of the contract for HTTP unseen.
func HTTP(m *testing.M) goleak.TestingM { return wholeSuite{m, httpDocument} }

// Live is HTTP for the contract for messages.
func Live(m *testing.M) goleak.TestingM { return wholeSuite{m, liveDocument} }

// wholeSuite is the tests of a package that see all of a document.
type wholeSuite struct {
	*testing.M
	document string
}

// Run runs the tests. It fails if all of them have run, and have not seen all of the document.
func (w wholeSuite) Run() (exitCode int) {
	exitCode = w.M.Run()
	for _, chosen := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz"} {
		if flag.Lookup(chosen).Value.String() != "" {
			return exitCode
		}
	}
	if missing := unseen(w.document); exitCode == 0 && len(missing) > 0 {
		fmt.Printf("FAIL: the contract %s has what no test has seen: %s\n", w.document, strings.Join(missing, ", "))
		return 1
	}
	return exitCode
}

// unseen are the operations, properties and codes of a document that no test has seen.
func unseen(document string) (missing []string) {
	note := func(what string) {
		if _, ok := seen.Load(what); !ok {
			missing = append(missing, what)
		}
	}
	for _, name := range components(document) {
		s := component(document, name)
		for property := range s.ownProperties() {
			note(s.name + "." + property)
		}
		values, _ := s.object["enum"].([]any)
		for _, value := range values {
			note(s.name + " " + value.(string))
		}
	}
	paths, _ := documents()[document]["paths"].(object)
	for _, item := range paths {
		for method, operation := range item.(object) {
			if method != "parameters" {
				noteOperation(operation.(object), item.(object)["parameters"], note)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// noteOperation calls note for the parameters in the query of an operation, and for its answers that not each operation
// may give, with each code.
func noteOperation(operation object, shared any, note func(string)) {
	name := operation["operationId"].(string)
	own, _ := operation["parameters"].([]any)
	others, _ := shared.([]any)
	for _, parameter := range slices.Concat(own, others) {
		if parameter := componentOf(parameter.(object)); parameter["in"] == "query" {
			note(name + "?" + parameter["name"].(string))
		}
	}
	for status, response := range operation["responses"].(object) {
		if strings.HasSuffix(status, "XX") {
			continue
		}
		note(name + " " + status)
		content, _ := componentOf(response.(object))["content"].(object)
		problem, _ := content["application/problem+json"].(object)
		for _, part := range below(problem["schema"]).list("allOf") {
			codes, _ := part.properties()["code"].object["enum"].([]any)
			for _, code := range codes {
				if part.name == "" { // the component has all codes
					note(fmt.Sprint(name, " ", status, " ", code))
				}
			}
		}
	}
}
