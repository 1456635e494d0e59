//go:build !race

package contract

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// messageSchemas are the compiled schemas of the messages of each action: receive for those of clients, send for those
// of the server.
var messageSchemas = sync.OnceValue(func() map[string]map[string]*jsonschema.Schema {
	compiled := map[string]map[string]*jsonschema.Schema{"receive": {}, "send": {}}
	for name, message := range componentsOf(liveDocument, "messages") {
		payload := message.(object)["payload"].(object)["$ref"].(string)
		compiled[actionOf(name)][strings.TrimPrefix(payload, liveDocument+"#/components/schemas/")] = compile(payload)
	}
	return compiled
})

// compile compiles the closed schema at a place of a document. Callers take turns.
func compile(place string) *jsonschema.Schema {
	compiling.Lock()
	defer compiling.Unlock()
	return compiler().MustCompile(place)
}

var compiling sync.Mutex

var compiler = sync.OnceValue(func() *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft7) // of AsyncAPI; the contract uses nothing of OpenAPI's draft that this one lacks
	compiler.AssertFormat()
	for name, document := range documents() {
		if err := compiler.AddResource(name, closed(document)); err != nil {
			panic(err)
		}
	}
	return compiler
})

// actionOf tells who sends a message: a client, if an operation receives it.
func actionOf(message string) string {
	for _, operation := range documents()[liveDocument]["operations"].(object) {
		operation := operation.(object)
		for _, one := range operation["messages"].([]any) {
			if operation["action"] == "receive" && strings.HasSuffix(one.(object)["$ref"].(string), "/"+message) {
				return "receive"
			}
		}
	}
	return "send"
}

// CheckFromServer fails a test that gets a message which is not by the contract.
func CheckFromServer(t testing.TB, message []byte) {
	t.Helper()
	require.NoError(t, checkMessage("send", message))
}

// CheckFromClient fails a test whose message the server has accepted, although it is not by the contract.
func CheckFromClient(t testing.TB, message []byte) {
	t.Helper()
	require.NoError(t, checkMessage("receive", message))
}

// checkMessage checks a message of an action by the schemas that have its type.
func checkMessage(action string, message []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(message))
	if err != nil {
		return fmt.Errorf("decode %s: %w", message, err)
	}
	var faults []string
	for name, s := range messageSchemas()[action] {
		if err := s.Validate(value); err == nil {
			component(liveDocument, name).see(value)
			return nil
		} else if fields, _ := value.(object); fields["type"] == component(liveDocument, name).properties()["type"].object["const"] {
			faults = append(faults, err.Error())
		}
	}
	return fmt.Errorf("%s is not a message by the contract: %s", message, strings.Join(faults, "\n"))
}
